//! What events do to the state, and which are refused.

use serde_json::json;

use super::*;
use crate::{Lane, Source};

#[test]
fn results_stand_after_their_calls_in_the_order_of_the_calls() {
    let events = log([
        user("go"),
        calls(&["a", "b", "c"]),
        returned("c", "C"),
        user("meanwhile"),
        returned("a", "A"),
        returned("b", "B"),
    ]);
    let state = fold(&events).unwrap();
    insta::assert_snapshot!(shown(&state), @r"
    User: go
    Assistant: {} | {} | {}
    User: A | B | C
    User: meanwhile
    ");
    let origins: Vec<Vec<u64>> = state
        .surface()
        .entries()
        .map(|(seqs, _)| seqs.iter().map(|seq| seq.get()).collect())
        .collect();
    assert_eq!(origins, [vec![1], vec![2], vec![5, 6, 3], vec![4]]);
    assert_eq!(state.pending_calls(), []);
}

#[test]
fn calls_wait_until_they_are_answered() {
    let started = ToolCalled {
        call: "b".into(),
        tool: "tool".into(),
    };
    let state = fold(&log([calls(&["a", "b"]), started.into(), returned("a", "A")])).unwrap();
    let pending = PendingCall {
        id: "b".into(),
        tool: "tool".into(),
        asked: Seq::new(1),
        started: true,
    };
    assert_eq!(state.pending_calls(), [pending]);
}

#[test]
fn a_replacement_cites_everything_it_shadows() {
    let before = || {
        vec![
            user("1"),
            calls(&["a", "b"]),
            returned("a", "A"),
            returned("b", "B"),
            user("5"),
        ]
    };
    let with = |shadowed: &[u64], replacement| {
        let mut events = before();
        events.push(replaced(shadowed, replacement));
        fold(&log(events))
    };
    let state = with(&[1, 2, 3, 4], summary("S")).unwrap();
    insta::assert_snapshot!(shown(&state), @r"
    User: S
    User: 5
    ");
    let result = || Replacement::Result(external(Kind::ToolResult, Authority::Tool, "short"));
    insta::assert_snapshot!(shown(&with(&[4], result()).unwrap()), @r"
    User: 1
    Assistant: {} | {}
    User: A | short
    User: 5
    ");
    let lone_call = Replacement::Messages(vec![Message {
        role: Role::Assistant,
        parts: vec![Part::ToolCall {
            id: "x".into(),
            name: "t".into(),
            input: external(Kind::ToolCall, Authority::Assistant, "{}"),
        }],
        is_meta: false,
    }]);
    let refusals: Vec<String> = [
        with(&[], summary("S")),
        with(&[9], summary("S")),
        with(&[1, 1], summary("S")),
        with(&[1, 5], summary("S")),
        with(&[2, 3], summary("S")),
        with(&[1, 2], summary("S")),
        with(&[3, 4, 5], summary("S")),
        with(&[5], lone_call),
        with(&[5], result()),
        with(&[3, 4], result()),
    ]
    .into_iter()
    .map(|outcome| outcome.unwrap_err().problem.to_string())
    .collect();
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn a_replaced_stretch_can_be_replaced_again() {
    let state = fold(&log([
        user("1"),
        user("2"),
        user("3"),
        replaced(&[1, 2], summary("S")),
        replaced(&[4, 3], summary("T")),
        user("6"),
    ]));
    insta::assert_snapshot!(shown(&state.unwrap()), @r"
    User: T
    User: 6
    ");
}

#[test]
fn events_that_cannot_have_happened_are_refused() {
    let turn = |turn| Payload::from(TurnStarted { turn });
    let step = |turn, step| Payload::from(StepStarted { turn, step });
    let end = |turn| {
        Payload::from(TurnEnded {
            turn,
            outcome: TurnOutcome::Completed,
            reason: None,
        })
    };
    let end_step = |turn, step| {
        Payload::from(StepEnded {
            turn,
            step,
            outcome: StepOutcome::Completed,
        })
    };
    let Some(Payload::AttemptStarted(attempt)) = examples()
        .into_iter()
        .map(|d| d.payload)
        .find(|p| matches!(p, Payload::AttemptStarted(_)))
    else {
        panic!("an example of each")
    };
    let header = examples()
        .into_iter()
        .map(|d| d.payload)
        .find(|p| p.kind() == "header_set")
        .unwrap();
    let attempt = |number| {
        Payload::from(AttemptStarted {
            attempt: number,
            ..attempt.clone()
        })
    };
    let enqueue = |id: &str| {
        Payload::from(InboxEnqueued {
            id: id.into(),
            intake: Intake::Steer,
            message: Message::user("m", "x"),
        })
    };
    let claim = |ids: &[&str]| {
        Payload::from(InboxClaimed {
            ids: ids.iter().map(|id| (*id).into()).collect(),
        })
    };
    let late = examples().remove(0).payload;
    let assistant = Payload::from(UserMessage {
        message: Message::assistant("m", "x"),
        inbox: None,
    });
    let cases = [
        vec![turn(2)],
        vec![turn(1), turn(2)],
        vec![end(1)],
        vec![turn(1), end(2)],
        vec![step(1, 1)],
        vec![turn(1), step(1, 2)],
        vec![turn(1), step(1, 1), step(1, 2)],
        vec![turn(1), step(1, 1), end(1)],
        vec![turn(1), end_step(1, 1)],
        vec![header.clone(), attempt(1)],
        vec![turn(1), step(1, 1), attempt(1)],
        vec![header.clone(), turn(1), step(1, 1), attempt(2)],
        vec![header.clone(), turn(1), step(1, 1), attempt(1), attempt(2)],
        vec![header, calls(&["a"]), turn(1), step(1, 1), attempt(1)],
        vec![
            AttemptEnded {
                attempt: Seq::new(1),
                outcome: AttemptOutcome::Answered,
                request_id: None,
            }
            .into(),
        ],
        vec![returned("a", "A")],
        vec![calls(&["a"]), returned("a", "A"), returned("a", "A")],
        vec![calls(&["a", "a"])],
        vec![calls(&["a"]), calls(&["a"])],
        vec![
            ToolCalled {
                call: "a".into(),
                tool: "t".into(),
            }
            .into(),
        ],
        vec![calls(&["a"]), replaced(&[1], summary("S"))],
        vec![enqueue("i"), enqueue("i")],
        vec![enqueue("i"), claim(&["i"]), enqueue("i")],
        vec![enqueue("i"), claim(&["i"]), claim(&["i"])],
        vec![enqueue("i"), claim(&["i", "i"])],
        vec![user("x"), late],
        vec![assistant],
    ];
    let told: Vec<String> = cases.into_iter().map(problem).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn places_are_contiguous() {
    let mut events = log([user("1"), user("2"), user("3")]);
    events.remove(1);
    assert_eq!(
        fold(&events).unwrap_err().to_string(),
        "event 3 (`user_message`) does not fit: its place should be 2"
    );
}

#[test]
fn the_inbox_gives_what_may_enter_now() {
    let item = |id: &str, intake| {
        Payload::from(InboxEnqueued {
            id: id.into(),
            intake,
            message: Message::user("m", id),
        })
    };
    let mut events = vec![
        item("inject", Intake::Inject),
        item("turn-1", Intake::FollowUp),
        item("turn-2", Intake::FollowUp),
        item("steer", Intake::Steer),
    ];
    let claimable = |events: &[Payload], boundary| {
        let state = fold(&log(events.to_vec())).unwrap();
        let ids: Vec<String> = state
            .inbox()
            .claimable(boundary)
            .iter()
            .map(|item| item.id.to_string())
            .collect();
        ids.join(" ")
    };
    assert_eq!(claimable(&events, Boundary::Turn), "inject turn-1 steer");
    assert_eq!(claimable(&events, Boundary::Step), "inject steer");
    assert!(!fold(&log(events[..1].to_vec())).unwrap().inbox().wakes());
    assert!(fold(&log(events[..2].to_vec())).unwrap().inbox().wakes());
    let ids = ["inject", "turn-1", "steer"].map(Into::into).to_vec();
    events.push(InboxClaimed { ids }.into());
    assert_eq!(claimable(&events, Boundary::Turn), "turn-2");
    assert!(fold(&log(events)).unwrap().inbox().has_seen("turn-1"));
}

#[test]
fn settings_gates_and_usage_follow_their_events() {
    let set = |value: Option<serde_json::Value>| {
        Payload::from(SettingChanged {
            name: "effort".into(),
            value: value.as_ref().map(Json::new),
            source: Source::Setting {
                name: "--effort".into(),
            },
        })
    };
    let gate = |holds| {
        Payload::from(GateStateSet {
            state: "g".into(),
            holds,
            because: "b".into(),
        })
    };
    let used = |uncached| {
        let usage = crate::Usage {
            uncached,
            read: 1,
            ..crate::Usage::default()
        };
        let origin = UsageOrigin::Provider;
        Payload::from(UsageReported {
            attempt: Seq::FIRST,
            usage,
            origin,
        })
    };
    let end = TurnEnded {
        turn: 1,
        outcome: TurnOutcome::Completed,
        reason: None,
    };
    let events = log([
        set(Some(json!("low"))),
        gate(true),
        TurnStarted { turn: 1 }.into(),
        used(10),
        used(5),
        end.into(),
        TurnStarted { turn: 2 }.into(),
        used(1),
    ]);
    let state = fold(&events).unwrap();
    assert_eq!(state.settings()["effort"].value(), json!("low"));
    assert!(state.holds("g") && !state.holds("other"));
    let totals = state.usage();
    assert_eq!(
        (totals.session.input(), totals.turn.input(), totals.reports),
        (19, 2, 3)
    );
    let state = fold(&log([set(Some(json!(1))), set(None), gate(true), gate(false)])).unwrap();
    assert!(state.settings().is_empty() && !state.holds("g"));
}

#[test]
fn context_that_stands_is_known_by_key_and_content() {
    let instructions = |text: &str| {
        let fragment = Fragment {
            key: "context:CLAUDE.md".into(),
            lane: Lane::Context,
            ..external(Kind::Instructions, Authority::User, text)
        };
        let message = Message::text(Role::User, vec![fragment]).meta();
        Payload::from(UserMessage { message, inbox: None })
    };
    let state = fold(&log([instructions("old"), instructions("new")])).unwrap();
    assert_eq!(
        state.standing().get("context:CLAUDE.md").map(|text| &text.hash),
        Some(&Text::from("new").hash())
    );
    let gone = fold(&log([instructions("old"), replaced(&[1], summary("S"))])).unwrap();
    assert_eq!(gone.standing().get("context:CLAUDE.md"), None);
}

#[test]
fn an_empty_answer_is_recorded_and_not_shown() {
    let message = Message {
        role: Role::Assistant,
        parts: vec![],
        is_meta: false,
    };
    let answer = AssistantMessage {
        message,
        attempt: None,
        stop: StopReason::Interrupted,
    };
    let state = fold(&log([answer.into()])).unwrap();
    assert_eq!((state.messages().len(), state.last()), (0, Some(Seq::FIRST)));
}
