use proptest::prelude::*;
use serde_json::json;

use super::*;

fn exited(code: i32, stdout: &str, stderr: &str) -> Ran {
    Ran {
        ending: Ending::Exited(code),
        stdout: stdout.as_bytes().to_vec(),
        stderr: stderr.as_bytes().to_vec(),
        cut: false,
    }
}

fn claude(event: Event, ran: &Ran) -> Answer {
    read(Contract::Claude, event, OnError::Allow, ran)
}

#[test]
fn a_failure_is_a_verdict_only_where_that_is_declared() {
    let failures = [
        exited(1, "", ""),
        exited(127, "", "sh: gate: not found"),
        Ran {
            ending: Ending::TimedOut(5_000),
            ..exited(0, "", "")
        },
        Ran {
            ending: Ending::NotStarted("no such file".to_owned()),
            ..exited(0, "", "")
        },
        Ran {
            ending: Ending::Signalled(11),
            ..exited(0, "", "")
        },
        Ran {
            cut: true,
            ..exited(0, "{}", "")
        },
        exited(0, "{\"decision\":\"perhaps\"}", ""),
    ];
    for ran in &failures {
        for event in Event::ALL {
            let verdict = |on_error| read(Contract::Claude, event, on_error, ran).verdict;
            assert_eq!(verdict(OnError::Allow), Rule::None, "{event} {ran:?}");
            assert_eq!(
                verdict(OnError::Block) == Rule::Deny,
                event.can_block(),
                "{event} {ran:?}"
            );
            assert_eq!(
                verdict(OnError::Ask) == Rule::Ask,
                event == Event::PreToolUse,
                "{event} {ran:?}"
            );
        }
        let blocked = read(Contract::Own, Event::PreToolUse, OnError::Block, ran);
        assert!(
            blocked.failure.is_some()
                && blocked
                    .reason
                    .is_some_and(|reason| reason.starts_with("the hook failed"))
        );
    }
}

#[test]
fn exit_code_two_refuses_and_its_reason_is_found() {
    let asked = claude(Event::PreToolUse, &exited(2, "ignored", "not on Fridays\n"));
    assert_eq!(
        (asked.verdict, asked.reason.as_deref()),
        (Rule::Deny, Some("not on Fridays"))
    );
    assert!(asked.remarks.is_empty());
    let lost = claude(Event::PreToolUse, &exited(2, "why", ""));
    assert_eq!(lost.reason.as_deref(), Some("why"));
    assert_eq!(lost.remarks.len(), 1);
    let silent = claude(Event::Stop, &exited(2, "", ""));
    assert_eq!((silent.verdict, silent.remarks.len()), (Rule::Deny, 1));
    let nothing = claude(Event::SessionEnd, &exited(2, "", "x"));
    assert_eq!(nothing.verdict, Rule::None);
}

#[test]
fn plain_text_is_context_where_the_protocol_says_so_and_control_objects_never_are() {
    for event in Event::ALL {
        let plain = claude(event, &exited(0, " remember \n", ""));
        let expected = matches!(event, Event::SessionStart | Event::UserPromptSubmit).then_some("remember");
        assert_eq!(plain.context.as_deref(), expected, "{event}");
        let control = claude(event, &exited(0, "{\"continue\":true}", ""));
        assert_eq!(control, Answer::silent(), "{event}");
    }
    let noisy = claude(Event::UserPromptSubmit, &exited(0, "ready\n{}", ""));
    assert_eq!(noisy.context, None);
    assert_eq!(noisy.remarks, ["text stands before the JSON object: \"ready\""]);
}

#[test]
fn context_comes_from_its_field_and_for_its_event_only() {
    let output =
        |event: &str| json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "CANARY"}});
    let asked = |event: Event, named: &str| claude(event, &exited(0, &output(named).to_string(), ""));
    assert_eq!(
        asked(Event::UserPromptSubmit, "UserPromptSubmit")
            .context
            .as_deref(),
        Some("CANARY")
    );
    let wrong = asked(Event::UserPromptSubmit, "SessionStart");
    assert_eq!((wrong.context, wrong.remarks.len()), (None, 1));
    let nowhere = asked(Event::Stop, "Stop");
    assert_eq!((nowhere.context, nowhere.remarks.len()), (None, 1));
    let top = claude(
        Event::SessionStart,
        &exited(0, "{\"additionalContext\":\"x\"}", ""),
    );
    assert_eq!((top.context, top.remarks.len()), (None, 1));
}

#[test]
fn decisions_of_both_forms_are_read() {
    let deny = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
        "permissionDecisionReason": "r"}});
    let asked = claude(Event::PreToolUse, &exited(0, &deny.to_string(), ""));
    assert_eq!((asked.verdict, asked.reason.as_deref()), (Rule::Deny, Some("r")));
    let legacy = claude(
        Event::Stop,
        &exited(0, "{\"decision\":\"block\",\"reason\":\"tests fail\"}", ""),
    );
    assert_eq!(
        (legacy.verdict, legacy.reason.as_deref()),
        (Rule::Deny, Some("tests fail"))
    );
    let halt = claude(
        Event::UserPromptSubmit,
        &exited(0, "{\"continue\":false,\"stopReason\":\"enough\"}", ""),
    );
    assert_eq!(halt.halt.as_deref(), Some("enough"));
    let rewritten = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": {"command": "ls"}}});
    let asked = claude(Event::PreToolUse, &exited(0, &rewritten.to_string(), ""));
    assert_eq!((asked.verdict, asked.rewrite.is_some()), (Rule::Allow, true));
}

#[test]
fn codex_takes_no_field_but_its_own_and_states_are_ours() {
    let output = exited(0, "{\"systemMessage\":\"m\",\"set\":[\"tests.passed\"]}", "");
    let asked = |contract| read(contract, Event::PostToolUse, OnError::Allow, &output);
    assert!(matches!(
        asked(Contract::Codex).failure,
        Some(Failure::BadOutput(_))
    ));
    assert_eq!(asked(Contract::Claude).states, [""; 0]);
    assert_eq!(asked(Contract::Own).states, ["tests.passed"]);
}

#[test]
fn two_documents_are_named_with_the_place_of_the_second() {
    let asked = claude(Event::PreToolUse, &exited(0, "{\"a\":1}\n{\"b\":2}", ""));
    let told = asked.failure.map(|failure| failure.to_string());
    assert_eq!(
        told.as_deref(),
        Some("the output has two JSON documents; the second begins at byte 8")
    );
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(vec![
            "block",
            "allow",
            "deny",
            "ask",
            "PreToolUse",
            "Stop",
            "INVALID"
        ])
        .prop_map(Value::from),
        Just(json!({"x": 1})),
        Just(json!(["INVALID"])),
    ]
}

fn outputs() -> impl Strategy<Value = Vec<u8>> {
    let names = vec![
        "continue",
        "stopReason",
        "systemMessage",
        "decision",
        "reason",
        "additionalContext",
        "set",
        "replace",
        "zzz",
    ];
    let inner = vec![
        "hookEventName",
        "permissionDecision",
        "permissionDecisionReason",
        "updatedInput",
        "additionalContext",
    ];
    let object =
        |names: Vec<&'static str>| prop::collection::btree_map(prop::sample::select(names), scalar(), 0..5);
    let control = (object(names), prop::option::of(object(inner))).prop_map(|(top, inner)| {
        let mut top = json!(top);
        if let Some(inner) = inner {
            top["hookSpecificOutput"] = json!(inner);
        }
        top.to_string().into_bytes()
    });
    prop_oneof![
        3 => control,
        1 => prop::collection::vec(any::<u8>(), 0..80),
        1 => "[{}\\[\\]\":, \\na-z]{0,40}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// What fails reaches the model with nothing, and what the protocol refuses is a failure.
    #[test]
    fn no_output_crashes_and_no_invalid_answer_becomes_context(
        stdout in outputs(),
        code in prop::sample::select(vec![0, 0, 0, 1, 2, 139]),
        event in prop::sample::select(Event::ALL.to_vec()),
        contract in prop::sample::select(vec![Contract::Claude, Contract::Codex, Contract::Own]),
    ) {
        let ran = Ran { ending: Ending::Exited(code), stdout, stderr: Vec::new(), cut: false };
        let answer = read(contract, event, OnError::Allow, &ran);
        if answer.failure.is_some() {
            prop_assert!(answer.context.is_none() && answer.rewrite.is_none() && answer.verdict == Rule::None);
            prop_assert!(answer.states.is_empty() && answer.replacement.is_none());
        }
        if let Some(context) = &answer.context {
            prop_assert!(event.takes_context() && code == 0);
            let text = String::from_utf8_lossy(&ran.stdout);
            if text.trim_start().starts_with('{') {
                let whole: Value = serde_json::from_str(&text).unwrap();
                prop_assert_eq!(whole["hookSpecificOutput"]["additionalContext"].as_str(), Some(context.as_str()));
            }
        }
        prop_assert!(answer.verdict != Rule::Deny || event.can_block());
    }
}
