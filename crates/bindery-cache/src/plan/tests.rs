use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::fixtures::{READER, RULES, request, simulator_of};
use crate::{Call, Format};

const OPUS: &str = "claude-opus-4-8";

/// A request whose parts have 2,000 tokens each unless they say otherwise.
fn of(format: Format, model: &str, parts: &str) -> Measured {
    let parts = parts.split_whitespace().map(|part| match part.rsplit_once('*') {
        _ if part.contains('=') => part.to_owned(),
        Some((part, ttl)) => format!("{part}=2000*{ttl}"),
        None => format!("{part}=2000"),
    });
    request(
        format,
        &parts.collect::<Vec<_>>().join(" "),
        &json!({"model": model}),
    )
}

fn anthropic(parts: &str) -> Measured {
    of(Format::Anthropic, OPUS, parts)
}

fn rules(model: &str) -> CacheRules {
    RULES.rules(model).unwrap().unwrap()
}

fn replan() -> PlanOptions {
    PlanOptions {
        foreign: Foreign::Replan,
        ..PlanOptions::default()
    }
}

/// The plan as `segment:reason`.
fn planned(request: &Measured, previous: Option<&Measured>, options: &PlanOptions) -> String {
    let model = request.request().settings().model().to_owned();
    let plan = plan(request, previous, &rules(&model), options);
    let ttl = |mark: Mark| mark.ttl.map_or(String::new(), |ttl| format!("*{}", ttl.name()));
    let marks = plan.marks.iter().map(|p| {
        let reason = serde_json::to_value(p.reason).unwrap();
        format!("{}:{}{}", p.segment, reason.as_str().unwrap(), ttl(p.mark))
    });
    marks.collect::<Vec<_>>().join(" ")
}

fn fresh(parts: &str) -> String {
    planned(&anthropic(parts), None, &replan())
}

#[test]
fn four_marks_in_the_order_of_what_they_pay() {
    let parts = "t:a t:b s:S u:q1 a:x u:q2";
    for (most, expected) in [
        (9, "1:tools_end 2:static_end 3:previous_end 5:tail"),
        (3, "2:static_end 3:previous_end 5:tail"),
        (2, "2:static_end 5:tail"),
        (1, "5:tail"),
        (0, ""),
    ] {
        let options = PlanOptions { most, ..replan() };
        assert_eq!(planned(&anthropic(parts), None, &options), expected);
    }
}

#[test]
fn nothing_that_passes_empties_or_thinks_is_marked() {
    assert_eq!(
        fresh("s:S u:q sys:<system-reminder>¶now¶</system-reminder>"),
        "0:static_end 1:tail"
    );
    assert_eq!(fresh("s:S u:q +:=0"), "0:static_end 1:tail");
    assert_eq!(
        fresh("s:S u:q th:t c:f r:o"),
        "0:static_end 1:previous_end 4:tail"
    );
    assert_eq!(fresh("s:S u:q a:begun"), "0:static_end 1:tail");
}

#[test]
fn the_static_part_ends_before_what_changes() {
    assert_eq!(fresh("s:S s:<env>¶cwd¶</env> u:q"), "0:static_end 2:tail");
    let (old, new) = (anthropic("s:S s:T s:one u:q"), anthropic("s:S s:T s:two u:q"));
    assert_eq!(planned(&new, Some(&old), &replan()), "1:static_end 3:tail");
}

#[test]
fn short_prefixes_are_left_unmarked_and_that_is_said() {
    let request = anthropic("t:a=10 s:S=100 u:q=2000");
    let plan = plan(&request, None, &rules(OPUS), &replan());
    assert_eq!(plan.segments(), [(2, Mark { ttl: None })]);
    assert_eq!(
        plan.notes[0],
        "no breakpoint on segment 1: 110 tokens are below the minimum of 1024"
    );
}

#[test]
fn lifetimes_never_rise() {
    let options = |head_ttl, tail_ttl| PlanOptions {
        head_ttl,
        tail_ttl,
        ..replan()
    };
    let request = anthropic("t:a s:S u:q");
    let of = |head, tail| planned(&request, None, &options(head, tail));
    assert_eq!(
        of(Ttl::OneHour, Ttl::FiveMinutes),
        "0:tools_end*1h 1:static_end*1h 2:tail"
    );
    assert_eq!(
        of(Ttl::FiveMinutes, Ttl::OneHour),
        "0:tools_end 1:static_end 2:tail"
    );
}

#[test]
fn a_foreign_request_is_respected_or_planned_anew() {
    let foreign = anthropic("t:a* s:S u:q* +:r");
    assert_eq!(
        planned(&foreign, None, &PlanOptions::default()),
        "0:respected 2:respected"
    );
    assert_eq!(
        planned(&foreign, None, &replan()),
        "0:tools_end 1:static_end 3:tail"
    );
    let none = anthropic("t:a s:S u:q");
    assert_eq!(
        planned(&none, None, &PlanOptions::default()),
        "0:tools_end 1:static_end 2:tail"
    );
    // Too many: the first and the last ones stay. Rising: lowered. Unmarkable: removed.
    let many = anthropic("t:a* t:b* t:c* s:S* u:q* +:r*");
    assert_eq!(
        planned(&many, None, &PlanOptions::default()),
        "0:respected 3:respected 4:respected 5:respected"
    );
    let rising = anthropic("t:a* s:S*1h u:q*1h");
    assert_eq!(
        planned(&rising, None, &PlanOptions::default()),
        "0:respected 1:respected*5m 2:respected*5m"
    );
    let empty = anthropic("s:S* u:=0*");
    assert_eq!(planned(&empty, None, &PlanOptions::default()), "0:respected");
    let relay = PlanOptions {
        most: 3,
        ..PlanOptions::default()
    };
    assert_eq!(
        planned(&anthropic("t:a* s:S* u:q* a:x u:r*"), None, &relay),
        "0:respected 2:respected 4:respected"
    );
}

#[test]
fn a_long_turn_is_bridged_where_the_previous_request_ended() {
    let calls = " c:f=10 r:o=10".repeat(15);
    let first = anthropic("s:S=3000* u:q=10*");
    let then = anthropic(&format!("s:S=3000 u:q=10{calls}"));
    let plan = plan(&then, Some(&first), &rules(OPUS), &replan());
    let marked = then.with_request(then.request().with_marks(&plan.segments()));
    let mut simulator = simulator_of(OPUS);
    let mut send = |at_ms, request: &Measured| {
        simulator
            .respond(&Call {
                at_ms,
                began_ms: None,
                route: "",
                request,
            })
            .usage
            .read
    };
    send(0, &first);
    assert_eq!(send(1000, &marked), 3010);
}

#[test]
fn openai_is_marked_where_its_own_breakpoint_would_be_lost() {
    let sol = of(Format::OpenaiResponses, "gpt-5.6-sol", "d:S u:q1 a:x u:q2");
    assert_eq!(
        planned(&sol, None, &replan()),
        "0:static_end 1:previous_end 3:tail"
    );
    let automatic = of(Format::OpenaiResponses, "gpt-5", "d:S u:q");
    let plan = plan(&automatic, None, &rules("gpt-5"), &replan());
    assert_eq!((plan.marks.len(), plan.notes.len()), (0, 1));
}

#[test]
fn the_body_is_changed_nowhere_else() {
    let body = r#"{"model":"claude-opus-4-8","cache_control":{"type":"ephemeral"},"tools":[{"name":"a" , "cache_control" : {"type":"ephemeral"} , "input_schema":{}}],
      "system": "S\n", "messages":[{"role":"user","content":[{"cache_control":{"type":"ephemeral","ttl":"1h"}, "type":"text","text":"q"}]}]}"#;
    let request = READER.read(Format::Anthropic, body.as_bytes()).unwrap();
    let mark = |segment| PlannedMark {
        segment,
        mark: Mark { ttl: None },
        reason: Reason::Tail,
    };
    let plan = Plan {
        marks: vec![mark(1), mark(2)],
        notes: vec![],
    };
    insta::assert_snapshot!(plan.apply(&request).unwrap(), @r#"
    {"model":"claude-opus-4-8","tools":[{"name":"a"  , "input_schema":{}}],
          "system": [{"type":"text","text":"S\n","cache_control":{"type":"ephemeral"}}], "messages":[{"role":"user","content":[{"cache_control":{"type":"ephemeral"}, "type":"text","text":"q"}]}]}
    "#);
    let beyond = Plan {
        marks: vec![mark(9)],
        notes: vec![],
    };
    assert_eq!(beyond.apply(&request).unwrap_err(), ApplyError::NotThere(9));
}

proptest! {
    /// Whatever is planned is taken by the provider, and written it reads back as planned.
    #[test]
    fn a_plan_is_never_refused(
        parts in prop::collection::vec("(t:[ab]|s:[AB]|u:[qr]|[+]:[xy]|a:[mn]|th:t|c:f|r:o|sys:n)(\\*|\\*1h)?", 1..12),
        most in 0..6usize, hour in any::<bool>(), respect in any::<bool>(),
    ) {
        let rank = |part: &String| match part.as_bytes().first() {
            Some(b't') if part.starts_with("t:") => 0,
            Some(b's') if part.starts_with("s:") => 1,
            _ => 2,
        };
        let mut parts = parts;
        parts.sort_by_key(rank);
        let first = parts.iter().position(|part| rank(part) == 2).unwrap_or(parts.len());
        parts.insert(first, "u:start".to_owned());
        let request = anthropic(&parts.join(" "));
        let options = PlanOptions {
            most,
            head_ttl: if hour { Ttl::OneHour } else { Ttl::FiveMinutes },
            foreign: if respect { Foreign::Respect } else { Foreign::Replan },
            ..PlanOptions::default()
        };
        let plan = plan(&request, None, &rules(OPUS), &options);
        prop_assert!(plan.marks.len() <= most.min(4));
        let written = plan.apply(request.request()).unwrap();
        let read = READER.read(Format::Anthropic, written.as_bytes()).unwrap();
        prop_assert_eq!(read.marks().collect::<Vec<_>>(), plan.segments());
        prop_assert_eq!(read.chain(), request.request().chain());
        let again = request.with_request(read);
        let outcome = simulator_of(OPUS).respond(&Call { at_ms: 0, began_ms: None, route: "", request: &again });
        prop_assert_eq!(outcome.refusal, None);
        let _: Value = serde_json::from_str(&written).unwrap();
    }
}
