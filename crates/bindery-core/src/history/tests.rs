use proptest::prelude::*;

use super::*;
use crate::{Authority, Kind, Role, Trust, said};

fn call(id: &str) -> Part {
    Part::ToolCall {
        id: id.into(),
        name: "read".into(),
        input: said(
            format!("call:{id}"),
            Kind::ToolCall,
            Authority::Assistant,
            Trust::External,
            "{}",
        ),
    }
}

fn result(id: &str) -> Part {
    Part::ToolResult {
        id: id.into(),
        content: said(
            format!("result:{id}"),
            Kind::ToolResult,
            Authority::Tool,
            Trust::External,
            "x",
        ),
        is_error: false,
    }
}

fn text(text: &str) -> Part {
    Part::Text(vec![said(
        "text",
        Kind::AssistantText,
        Authority::Assistant,
        Trust::External,
        text,
    )])
}

fn thought(text: &str) -> Part {
    Part::Reasoning {
        fragment: said(
            "thought",
            Kind::Reasoning,
            Authority::Assistant,
            Trust::External,
            text,
        ),
        signature: "signed".into(),
    }
}

fn of(role: Role, parts: Vec<Part>) -> Message {
    Message {
        role,
        parts,
        is_meta: false,
    }
}

fn user(parts: Vec<Part>) -> Message {
    of(Role::User, parts)
}

fn model(parts: Vec<Part>) -> Message {
    of(Role::Assistant, parts)
}

/// A history on one line: roles, and what stands in each message.
fn shape(messages: &[Message]) -> String {
    let part = |part: &Part| match part {
        Part::Text(fragments) => format!(
            "{:?}",
            fragments.iter().map(|one| one.text.as_str()).collect::<String>()
        ),
        Part::Reasoning { .. } => "thought".to_owned(),
        Part::ToolCall { id, .. } => format!("call {id}"),
        Part::ToolResult { id, is_error, .. } => format!("{}result {id}", if *is_error { "no " } else { "" }),
        Part::Media { media, .. } => format!("shows {}", media.name),
    };
    let message = |message: &Message| {
        let parts: Vec<String> = message.parts.iter().map(part).collect();
        let role = if message.role == Role::User { "u" } else { "a" };
        format!("{role}[{}]", parts.join(", "))
    };
    messages.iter().map(message).collect::<Vec<_>>().join(" ")
}

fn mended(messages: &[Message]) -> (String, Vec<RepairKind>) {
    let normalised = normalise(messages);
    let kinds = normalised.repairs.iter().map(|repair| repair.kind).collect();
    (shape(&normalised.messages), kinds)
}

#[test]
fn a_sound_history_is_only_read() {
    let history = [
        user(vec![text("hi")]),
        model(vec![thought("hm"), text("both"), call("a"), call("b")]),
        user(vec![result("b")]),
        user(vec![result("a"), text("and?")]),
        model(vec![text("done")]),
    ];
    let normalised = normalise(&history);
    assert!(matches!(normalised.messages, Cow::Borrowed(_)));
    assert_eq!(normalised.repairs, []);
}

#[test]
fn a_result_between_whose_call_something_slipped_goes_back_behind_it() {
    // A record written while the tool ran stands between call and result.
    let history = [
        user(vec![text("hi")]),
        model(vec![call("t1")]),
        user(vec![text("a record")]),
        user(vec![result("t1")]),
    ];
    let (shape, kinds) = mended(&history);
    assert_eq!(shape, r#"u["hi"] a[call t1] u[result t1] u["a record"]"#);
    assert_eq!(kinds, [RepairKind::ResultMoved]);
}

#[test]
fn every_result_at_a_cut_needs_its_own_call() {
    let history = [
        user(vec![text("hi")]),
        model(vec![call("t2")]),
        user(vec![result("t1")]),
        user(vec![result("t2")]),
    ];
    let (shape, kinds) = mended(&history);
    assert_eq!(shape, r#"u["hi"] a[call t2] u[result t2]"#);
    assert_eq!(kinds, [RepairKind::OrphanResult]);
}

#[test]
fn an_interrupted_call_gets_a_result_that_says_so() {
    let history = [
        user(vec![text("hi")]),
        model(vec![call("a"), call("b")]),
        user(vec![result("a"), text("stop!")]),
    ];
    let normalised = normalise(&history);
    assert_eq!(
        shape(&normalised.messages),
        r#"u["hi"] a[call a, call b] u[result a, no result b] u["stop!"]"#
    );
    let said: Vec<&str> = normalised.messages[2].fragments().map(|one| &*one.text).collect();
    assert!(said[1].starts_with("No result"), "{said:?}");
    assert!(
        normalised
            .repairs
            .iter()
            .any(|repair| repair.kind == RepairKind::ResultMissing
                && repair.message == "the call `b` of `read` had no result")
    );
}

#[test]
fn ids_that_repeat_are_told_apart_and_results_follow_them() {
    let history = [
        user(vec![text("hi")]),
        model(vec![call("t")]),
        user(vec![result("t")]),
        model(vec![call("t"), call("")]),
        user(vec![result("t"), result("")]),
        model(vec![text("ok")]),
    ];
    let (shape, kinds) = mended(&history);
    assert_eq!(
        shape,
        r#"u["hi"] a[call t] u[result t] a[call t-2, call call-2] u[result t-2, result call-2] a["ok"]"#
    );
    assert_eq!(kinds, [RepairKind::CallRenamed, RepairKind::CallRenamed]);
}

#[test]
fn what_says_nothing_goes_and_the_user_begins() {
    let history = [
        user(vec![text(" \n")]),
        model(vec![thought("hm"), text("")]),
        model(vec![text("an answer \n\n")]),
    ];
    let (shape, kinds) = mended(&history);
    assert_eq!(
        shape,
        r#"u["[The beginning of this conversation is not here. It goes on with an answer.]"] a[thought] a["an answer"]"#
    );
    assert_eq!(
        kinds,
        [
            RepairKind::BlankText,
            RepairKind::BlankText,
            RepairKind::BeginningMissing,
            RepairKind::TrailingSpace
        ]
    );
}

#[test]
fn reasoning_that_led_to_nothing_goes_whole() {
    let history = [
        user(vec![text("hi")]),
        model(vec![text("so"), thought("hm")]),
        user(vec![text("go on")]),
    ];
    let (shape, kinds) = mended(&history);
    assert_eq!(shape, r#"u["hi"] a["so"] u["go on"]"#);
    assert_eq!(kinds, [RepairKind::ReasoningLedNowhere]);
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let ids = prop_oneof![Just("a"), Just("b"), Just("c"), Just("")];
    let results = prop_oneof![Just("a"), Just("b"), Just("c"), Just("x")];
    let texts = prop_oneof![Just(""), Just(" "), Just("hi"), Just("bye \n")];
    let part = prop_oneof![
        texts.prop_map(text),
        ids.prop_map(call),
        results.prop_map(result),
        Just(thought("hm")),
    ];
    prop::collection::vec(part, 0..4)
}

fn histories() -> impl Strategy<Value = Vec<Message>> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    prop::collection::vec((role, parts()).prop_map(|(role, parts)| of(role, parts)), 0..10)
}

proptest! {
    #[test]
    fn mending_twice_changes_nothing_more(history in histories()) {
        let once = normalise(&history);
        let twice = normalise(&once.messages);
        prop_assert_eq!(&twice.repairs, &Vec::new(), "{}", shape(&once.messages));
        prop_assert_eq!(&twice.messages, &once.messages);
    }

    #[test]
    fn nothing_changes_without_a_report(history in histories()) {
        let normalised = normalise(&history);
        prop_assert_eq!(normalised.repairs.is_empty(), *normalised.messages == *history);
    }

    #[test]
    fn following_a_history_gives_what_reading_it_gives(history in histories(), cuts in prop::collection::vec(0_usize..12, 0..6)) {
        let mut growing = Growing::default();
        let mut before = 0;
        for cut in cuts.into_iter().chain([history.len()]) {
            let now = &history[..cut.min(history.len())];
            let followed = growing.normalise(now, before.min(now.len()));
            prop_assert_eq!(followed, normalise(now));
            before = now.len();
        }
    }

    #[test]
    fn reasoning_is_whole_or_gone(history in histories()) {
        let whole = |messages: &[Message]| messages.iter().flat_map(|one| &one.parts).filter(|part| matches!(part, Part::Reasoning { .. })).cloned().collect::<Vec<_>>();
        let before = whole(&history);
        for part in whole(&normalise(&history).messages) {
            prop_assert!(before.contains(&part));
        }
    }
}
