use std::fmt::Write as _;

use serde_json::json;

use super::*;
use crate::Format;
use crate::fixtures::{READER, RULES, anthropic, request, simulator_of, simulator_with};

fn fresh() -> Box<dyn Simulator> {
    simulator_of("claude-opus-4-8")
}

/// What the second of two requests pays, a minute after the first.
fn second(first: &Measured, then: &Measured) -> String {
    let mut simulator = fresh();
    send(&mut *simulator, 0, first);
    send(&mut *simulator, MINUTE, then)
}

/// One message of `blocks` blocks of 100 tokens behind a system block of 2,000, marks at the given block numbers.
fn blocks(blocks: usize, marks: &[usize]) -> Measured {
    let mut parts = String::new();
    for number in 1..=blocks {
        let role = if number == 1 { "u" } else { "+" };
        let mark = if marks.contains(&number) { "*" } else { "" };
        let _ = write!(parts, " {role}:b{number}=100{mark}");
    }
    anthropic(&parts)
}

#[test]
fn nothing_is_cached_without_a_mark() {
    assert_eq!(second(&anthropic("s:S u:q"), &anthropic("s:S u:q")), "0/0/2000");
}

#[test]
fn a_marked_prefix_is_written_then_read() {
    let mut simulator = fresh();
    let first = anthropic("t:a=500 s:S=1500* u:q=10");
    assert_eq!(send(&mut *simulator, 0, &first), "0/2000/10");
    assert_eq!(send(&mut *simulator, MINUTE, &first), "2000/0/10");
}

/// The page's example: written at block 15, next breakpoint at block 35: 35 down to 16 are checked, and
/// miss by one. A second breakpoint at 15 finds it.
#[test]
fn the_worked_example_of_twenty_positions_comes_out() {
    assert_eq!(second(&blocks(15, &[15]), &blocks(35, &[35])), "0/3500/0");
    assert_eq!(second(&blocks(15, &[15]), &blocks(34, &[34])), "1500/1900/0");
    assert_eq!(second(&blocks(15, &[15]), &blocks(35, &[15, 35])), "1500/2000/0");
}

#[test]
fn entries_are_written_at_breakpoints_and_nowhere_else() {
    // The walk back passes block 14, where nothing was written.
    let mut changed = "s:S=2000 u:b1=100".to_owned();
    for number in 2..=14 {
        let _ = write!(changed, " +:b{number}=100");
    }
    let mut first = changed.clone();
    first.push_str(" +:b15=100*");
    changed.push_str(" +:other=100*");
    assert_eq!(second(&anthropic(&first), &anthropic(&changed)), "0/3500/0");
}

#[test]
fn the_longest_hit_counts_whichever_breakpoint_finds_it() {
    let mut simulator = fresh();
    send(&mut *simulator, 0, &anthropic("s:S=2000* u:q1=100*"));
    assert_eq!(
        send(
            &mut *simulator,
            MINUTE,
            &anthropic("s:S=2000* u:q1=100 a:a1=50 u:q2=70*")
        ),
        "2100/120/0"
    );
    assert_eq!(
        send(&mut *simulator, MINUTE, &anthropic("s:S=2000* u:other=100*")),
        "2000/100/0"
    );
}

#[test]
fn below_the_minimum_nothing_happens_and_nobody_says_so() {
    for (tokens, expected) in [(1023, "0/0/1023"), (1024, "1024/0/0")] {
        let short = anthropic(&format!("s:S={tokens}*"));
        assert_eq!(second(&short, &short), expected);
    }
    let mut simulator = fresh();
    let outcome = simulator.respond(&Call {
        at_ms: 0,
        began_ms: None,
        route: "",
        request: &anthropic("s:S=500*"),
    });
    assert_eq!((outcome.below_minimum.len(), outcome.kept.len()), (1, 0));
}

#[test]
fn an_entry_lives_five_minutes_or_an_hour_from_the_start_of_the_last_request() {
    for (parts, alive, dead) in [
        ("s:S=2000*", 5 * MINUTE - 1, 5 * MINUTE),
        ("s:S=2000*1h", 60 * MINUTE - 1, 60 * MINUTE),
    ] {
        let one = anthropic(parts);
        let mut simulator = fresh();
        send(&mut *simulator, 0, &one);
        assert_eq!(send(&mut *simulator, alive, &one), "2000/0/0");
        // The read refreshed it: it lives on from there.
        assert_eq!(send(&mut *simulator, 2 * alive, &one), "2000/0/0");
        let mut simulator = fresh();
        send(&mut *simulator, 0, &one);
        assert!(send(&mut *simulator, dead, &one).starts_with("0/"));
    }
}

#[test]
fn a_hit_by_walking_back_refreshes_what_it_found() {
    let mut simulator = fresh();
    send(&mut *simulator, 0, &anthropic("s:S=2000 u:q=10*"));
    let branch = |word: &str| anthropic(&format!("s:S=2000 u:q=10 a:{word}=5 u:{word}=5*"));
    assert_eq!(send(&mut *simulator, 4 * MINUTE, &branch("one")), "2010/10/0");
    assert_eq!(send(&mut *simulator, 8 * MINUTE, &branch("two")), "2010/10/0");
}

#[test]
fn the_clock_starts_with_the_request_and_the_entry_with_the_response() {
    let one = anthropic("s:S=2000*");
    let mut simulator = fresh();
    let slow = Call {
        at_ms: 0,
        began_ms: Some(4 * MINUTE),
        route: "",
        request: &one,
    };
    simulator.respond(&slow);
    assert_eq!(
        send(&mut *simulator, MINUTE, &one),
        "0/2000/0",
        "parallel requests all pay"
    );
    let mut simulator = fresh();
    simulator.respond(&slow);
    assert_eq!(
        send(&mut *simulator, 5 * MINUTE, &one),
        "0/2000/0",
        "the response does not prolong it"
    );
    let mut simulator = fresh();
    assert_eq!(send(&mut *simulator, 0, &one), "0/2000/0");
    assert_eq!(
        send(&mut *simulator, 0, &one),
        "0/2000/0",
        "nothing exists in the moment it is asked for"
    );
}

/// Billing with two lifetimes: A the highest hit, B the highest one-hour mark behind it, C the last mark.
#[test]
fn mixed_lifetimes_are_billed_in_three_parts() {
    let mut simulator = fresh();
    send(&mut *simulator, 0, &anthropic("t:a=1500*1h s:S=500 u:q=100"));
    assert_eq!(
        send(
            &mut *simulator,
            MINUTE,
            &anthropic("t:a=1500*1h s:S=500*1h u:q=100* +:x=7")
        ),
        "1500/100+1h:500/7"
    );
}

#[test]
fn a_longer_lifetime_must_come_first_and_four_marks_are_most() {
    for (parts, expected) in [
        (
            "s:S=2000* u:q*1h",
            "segment 1 asks for a longer lifetime than a mark before it; the longer must come first",
        ),
        (
            "t:a* t:b* s:S* u:q* +:r*",
            "a maximum of 4 blocks may carry cache_control; there are 5",
        ),
        (
            "s:S=2000 u:=0*",
            "segment 1 carries a mark, but empty text and thinking cannot be cached",
        ),
        (
            "s:S=2000 u:q th:x* a:y",
            "segment 2 carries a mark, but empty text and thinking cannot be cached",
        ),
    ] {
        assert_eq!(send(&mut *fresh(), 0, &anthropic(parts)), expected);
    }
    assert_eq!(
        send(
            &mut *fresh(),
            0,
            &anthropic("t:a=600*1h t:b=600*1h s:S=600* u:q=600*")
        ),
        "0/1200+1h:1200/0"
    );
}

#[test]
fn the_automatic_mark_goes_to_the_last_block_that_takes_one() {
    let automatic = |parts: &str, control: serde_json::Value| {
        request(
            Format::Anthropic,
            parts,
            &json!({"model": "claude-opus-4-8", "cache_control": control}),
        )
    };
    let plain = json!({"type": "ephemeral"});
    let one =
        |parts: &str, control: &serde_json::Value| send(&mut *fresh(), 0, &automatic(parts, control.clone()));
    assert_eq!(one("s:S=2000 u:q=100", &plain), "0/2100/0");
    assert_eq!(
        one("s:S=2000 u:q=100 u:=0", &plain),
        "0/2100/0",
        "it walks back over what takes none"
    );
    assert_eq!(
        one("t:a=1000* t:b=1000* s:S=1000* u:q=1000* u:r=9", &plain),
        "a maximum of 4 blocks may carry cache_control; there are 5"
    );
    assert_eq!(
        one("s:S=2000 u:q=100*1h", &plain),
        "the automatic mark and the mark of the last block ask for different lifetimes"
    );
    assert_eq!(
        one("s:S=2000 u:q=100*", &plain),
        "0/2100/0",
        "the same mark twice is one"
    );
}

#[test]
fn a_change_loses_its_region_and_what_follows() {
    let base = "t:a=2000* s:S=2000* u:q=2000*";
    for (then, expected) in [
        (base, "6000/0/0"),
        ("t:b=2000* s:S=2000* u:q=2000*", "0/6000/0"),
        ("t:a=2000* s:T=2000* u:q=2000*", "2000/4000/0"),
        ("t:a=2000* s:S=2000* u:r=2000*", "4000/2000/0"),
    ] {
        assert_eq!(second(&anthropic(base), &anthropic(then)), expected, "{then}");
    }
    let reordered = second(
        &anthropic("t:a=1000 t:b=1000* u:q=9"),
        &anthropic("t:b=1000 t:a=1000* u:q=9"),
    );
    assert_eq!(reordered, "0/2000/9");
}

#[test]
fn each_setting_loses_what_the_table_says() {
    let parts = "t:a=2000* s:S=2000* u:q=2000*";
    let base = request(Format::Anthropic, parts, &json!({"model": "claude-opus-4-8"}));
    for (setting, expected) in [
        (json!({"model": "claude-opus-4-1"}), "0/6000/0"),
        (json!({"speed": "fast"}), "2000/4000/0"),
        (json!({"tool_choice": {"type": "any"}}), "4000/2000/0"),
        (
            json!({"tool_choice": {"type": "auto", "disable_parallel_tool_use": true}}),
            "4000/2000/0",
        ),
        (json!({"thinking": {"type": "adaptive"}}), "4000/2000/0"),
        (json!({"output_config": {"effort": "low"}}), "4000/2000/0"),
        (json!({"output_config": {"effort": "high"}}), "6000/0/0"),
        (json!({"max_tokens": 1, "metadata": {"user_id": "u"}}), "6000/0/0"),
    ] {
        let mut settings = json!({"model": "claude-opus-4-8"});
        settings
            .as_object_mut()
            .unwrap()
            .extend(setting.as_object().unwrap().clone());
        assert_eq!(
            second(&base, &request(Format::Anthropic, parts, &settings)),
            expected,
            "{setting}"
        );
    }
    let rules = RULES.rules("claude-opus-4-8").unwrap().unwrap();
    assert_eq!(rules.loses("parallel_tool_calls"), Some(Region::Messages));
}

#[test]
fn features_that_are_seen_in_the_body_lose_what_the_table_says() {
    let base = "t:a=2000* s:S=2000* u:q=2000*";
    for (then, expected) in [
        ("t:a=2000* ws:x=0 s:S=2000* u:q=2000*", "2000/4000/0"),
        ("t:a=2000* s:S=2000* u:q=2000* img:i=50", "4000/2000/50"),
        ("t:a=2000* td:later=500 s:S=2000* u:q=2000*", "6000/0/0"),
    ] {
        assert_eq!(second(&anthropic(base), &anthropic(then)), expected, "{then}");
    }
    let cites = |citations: bool| {
        let mut document = json!({"type": "document", "source": {}, "cache_control": {"type": "ephemeral"}});
        if citations {
            document["citations"] = json!({"enabled": true});
        }
        let body = json!({"model": "claude-opus-4-8", "tools": [{"name": "a", "cache_control": {"type": "ephemeral"}}],
            "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": [document]}]});
        let read = READER
            .read(Format::Anthropic, body.to_string().as_bytes())
            .unwrap();
        Measured::with_tokens(&std::sync::Arc::new(read), &[2000, 2000, 2000])
    };
    assert_eq!(second(&cites(false), &cites(true)), "2000/4000/0");
}

#[test]
fn old_models_strip_old_thinking_once_the_user_speaks() {
    let during = "s:S=2000 u:q=100 th:t=500 c:x=50 r:y=50*";
    let after = "s:S=2000 u:q=100 th:t=500 c:x=50 r:y=50 u:next=10*";
    for (model, expected) in [
        ("claude-opus-4-8", "2700/10/0"),
        ("claude-opus-4-1", "0/2210/0"),
        ("claude-haiku-4-5", "0/0/2210"),
    ] {
        let of = |parts: &str| request(Format::Anthropic, parts, &json!({"model": model}));
        let mut simulator = simulator_of(model);
        send(&mut *simulator, 0, &of(during));
        assert_eq!(send(&mut *simulator, MINUTE, &of(after)), expected, "{model}");
    }
    // While only tools answer, nothing is stripped.
    let on = request(
        Format::Anthropic,
        "s:S=2000 u:q=100 th:t=500 c:x=50 r:y=50 c:z=50 r:w=50*",
        &json!({"model": "claude-opus-4-1"}),
    );
    let mut simulator = simulator_of("claude-opus-4-1");
    send(
        &mut *simulator,
        0,
        &request(Format::Anthropic, during, &json!({"model": "claude-opus-4-1"})),
    );
    assert_eq!(send(&mut *simulator, MINUTE, &on), "2700/100/0");
}

#[test]
fn results_of_the_provider_s_own_tools_are_marked_in_requests_that_cache() {
    let with = |mark: &str| {
        send(
            &mut *fresh(),
            0,
            &anthropic(&format!("s:S=2000{mark} u:q=100 web:x=300 u:n=10")),
        )
    };
    assert_eq!(with("*"), "0/2400/10");
    assert_eq!(with(""), "0/0/2410");
}

#[test]
fn a_five_minute_entry_does_not_serve_a_one_hour_mark_unless_assumed() {
    let (five, hour) = (anthropic("s:S=2000*"), anthropic("s:S=2000*1h"));
    let paid = |separate: u64, first: &Measured, then: &Measured| {
        let mut simulator = simulator_with(crate::Family::Anthropic, &[("ttl_separates", separate)]);
        send(&mut *simulator, 0, first);
        send(&mut *simulator, MINUTE, then)
    };
    assert_eq!(paid(1, &five, &hour), "0/1h:2000/0");
    assert_eq!(paid(0, &five, &hour), "2000/0/0");
    assert_eq!(paid(1, &hour, &five), "2000/0/0");
}

#[test]
fn routes_are_kept_apart() {
    let one = anthropic("s:S=2000*");
    let mut simulator = fresh();
    send_by(&mut *simulator, 0, "workspace a", &one);
    assert_eq!(send_by(&mut *simulator, MINUTE, "workspace b", &one), "0/2000/0");
    assert_eq!(send_by(&mut *simulator, MINUTE, "workspace a", &one), "2000/0/0");
}

#[test]
fn text_is_the_same_however_it_is_written() {
    let read = |content: &str| {
        let body = format!(
            r#"{{"model":"claude-opus-4-8","messages":[{{"role":"user","content":{content}}},{{"role":"user","content":[{{"type":"text","text":"x","cache_control":{{"type":"ephemeral"}}}}]}}]}}"#
        );
        let read = READER.read(Format::Anthropic, body.as_bytes()).unwrap();
        Measured::with_tokens(&std::sync::Arc::new(read), &[2000, 10])
    };
    let forms = [
        r#""é\n""#,
        r#""\u00e9\n""#,
        r#"[{"type":"text","text":"é\n"}]"#,
        r#"[ {"cache_control":{"type":"ephemeral"}, "text":"é\n","type":"text"} ]"#,
        r#"[{"type":"text","text":"é\n","citations":null}]"#,
    ];
    for form in forms {
        assert_eq!(second(&read(forms[0]), &read(form)), "2010/0/0", "{form}");
    }
}
