use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::digest::reference;
use crate::history::normalise;
use crate::ledger::LedgerKind;
use crate::log::{
    AssistantMessage, Event, Payload, ReplaceReason, Replacement, Seq, SessionState, SnapshotChange,
    SnapshotEntered, StopReason, SurfaceReplaced, ToolReturned, UserMessage,
};
use crate::{
    Authority, ContentHash, CountTokens, Fragment, Kind, Lane, Message, Part, Role, Text, TokenCount, Trust,
    said,
};

/// A session that is written event by event.
#[derive(Default)]
pub(super) struct Log {
    pub(super) state: SessionState,
    kept: Vec<Text>,
    calls: u64,
}

struct Quarters;

impl CountTokens for Quarters {
    fn count(&self, text: &str) -> TokenCount {
        TokenCount::estimate(text.len().div_ceil(4) as u64)
    }

    fn name(&self) -> &'static str {
        "quarters"
    }
}

pub(super) fn tokens(message: &Message) -> u64 {
    message
        .fragments()
        .map(|one| Quarters.count(&one.text).value)
        .sum()
}

impl Log {
    pub(super) fn add(&mut self, payload: impl Into<Payload>) -> &mut Self {
        let event = Event {
            seq: self.state.next_seq(),
            at_ms: 0,
            payload: payload.into(),
        };
        self.state.apply(&event).unwrap();
        self
    }

    pub(super) fn user(&mut self, text: &str) -> &mut Self {
        let message = Message::user("message", text);
        self.add(UserMessage { message, inbox: None })
    }

    fn instructions(&mut self, key: &str, text: &str) -> &mut Self {
        let fragment = Fragment {
            lane: Lane::Context,
            trust: Trust::Project,
            ..said(key, Kind::Instructions, Authority::User, Trust::Project, text)
        };
        let message = Message::text(Role::User, vec![fragment]).meta();
        self.add(UserMessage { message, inbox: None })
    }

    fn answer(&mut self, parts: Vec<Part>, stop: StopReason) -> &mut Self {
        let message = Message {
            role: Role::Assistant,
            parts,
            is_meta: false,
        };
        self.add(AssistantMessage {
            message,
            attempt: None,
            stop,
        })
    }

    fn model(&mut self, text: &str) -> &mut Self {
        self.answer(vec![prose(text)], StopReason::EndTurn)
    }

    /// One step: thought, calls, and all results.
    pub(super) fn step(&mut self, results: &[&str]) -> &mut Self {
        let first = self.calls;
        let ids: Vec<String> = results
            .iter()
            .zip(first..)
            .map(|(_, n)| format!("c{n}"))
            .collect();
        self.calls += results.len() as u64;
        let mut parts = vec![thought()];
        parts.extend(ids.iter().map(|id| call(id)));
        self.answer(parts, StopReason::ToolUse);
        for (id, text) in ids.iter().zip(results) {
            self.result(id, text);
        }
        self
    }

    fn result(&mut self, id: &str, text: &str) -> &mut Self {
        self.add(ToolReturned {
            call: id.into(),
            content: said("result", Kind::ToolResult, Authority::Tool, Trust::External, text),
            is_error: false,
            synthetic: None,
            elapsed_ms: None,
            touched: Vec::new(),
            scan: None,
        })
    }

    fn compact(&mut self, recent: u64, record: usize) -> Result<(), NoCut> {
        let cut = cut(&self.state, recent, &tokens)?;
        let extract = extract(&cut, record);
        let summary = Summary {
            text: extract.record,
            by: "extract".into(),
        };
        let messages = replacement(&cut, self.state.ledger(), &summary);
        self.kept.extend(extract.keep);
        check(&cut, self.state.ledger(), &messages, &self.kept)
            .or_else(|lost| {
                if lost.iter().all(|one| matches!(one, Lost::Larger { .. })) {
                    Ok(())
                } else {
                    Err(lost)
                }
            })
            .unwrap();
        self.add(SurfaceReplaced {
            shadowed: cut.shadowed,
            replacement: Replacement::Messages(messages),
            reason: ReplaceReason::Compaction,
        });
        Ok(())
    }

    /// Everything that the next request says.
    pub(super) fn said(&self) -> String {
        let fragments = self.state.messages().iter().flat_map(Message::fragments);
        fragments
            .map(|one| one.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

fn prose(text: &str) -> Part {
    Part::Text(vec![said(
        "answer",
        Kind::AssistantText,
        Authority::Assistant,
        Trust::External,
        text,
    )])
}

fn thought() -> Part {
    Part::Reasoning {
        fragment: said(
            "thought",
            Kind::Reasoning,
            Authority::Assistant,
            Trust::External,
            "hm",
        ),
        signature: "signed".into(),
    }
}

fn call(id: &str) -> Part {
    Part::ToolCall {
        id: id.into(),
        name: "agent".into(),
        input: said(
            "call",
            Kind::ToolCall,
            Authority::Assistant,
            Trust::External,
            "{\"task\": \"look\"}",
        ),
    }
}

#[test]
fn a_compacted_session_as_the_model_reads_it() {
    let mut log = Log::default();
    log.instructions("context:AGENTS.md", "RULE-7 never push");
    log.user("Goal: port the parser\nNever touch `main`.");
    log.step(&[
        &format!("REPORT of the sub-agent\n{}", "found something\n".repeat(90)),
        "short",
    ]);
    log.model("The parser is ported.");
    log.user("What did today's log show?");
    log.step(&["nothing yet"]);
    log.compact(10, 4_000).unwrap();
    let said = log.said();
    assert!(said.contains("RULE-7 never push"));
    insta::assert_snapshot!(said);
}

#[test]
fn the_last_request_survives_word_for_word_and_is_marked_open() {
    let mut log = Log::default();
    log.user("implement X")
        .model("done")
        .user("what did today's log show?")
        .step(&["a"])
        .step(&["b"]);
    log.compact(1, 4_000).unwrap();
    let said = log.said();
    assert!(said.contains("The user's last request, open"), "{said}");
    assert!(said.contains("):\nwhat did today's log show?"), "{said}");
}

#[test]
fn instructions_are_never_summarised_and_the_latest_stands_alone() {
    let mut log = Log::default();
    log.instructions("context:AGENTS.md", "OLD RULE")
        .user("go")
        .model("ok");
    log.instructions("context:AGENTS.md", "RULE-7 never push")
        .user("on")
        .model("ok");
    for _ in 0..3 {
        log.user("more").model("ok").user("and more").model("ok");
        log.compact(1, 4_000).unwrap();
        let rules: Vec<&Fragment> = log
            .state
            .messages()
            .iter()
            .flat_map(Message::fragments)
            .filter(|one| one.kind == Kind::Instructions)
            .collect();
        assert_eq!(rules.len(), 1);
        assert_eq!(&*rules[0].text, "RULE-7 never push");
        // What stands need not enter again.
        assert!(log.state.standing().get("context:AGENTS.md").is_some());
    }
}

#[test]
fn a_report_that_was_paid_for_keeps_a_reference_through_ten_compactions() {
    let report = format!("REPORT\n{}", "finding\n".repeat(100));
    let mut log = Log::default();
    log.user("go").step(&[&report]).model("ok");
    let wanted = reference(&ContentHash::of(report.as_bytes()));
    for round in 0..10 {
        log.user(&format!("more {round}"))
            .step(&[&"x\n".repeat(400)])
            .model("ok");
        log.user("again").model("ok");
        log.compact(1, 400).unwrap();
        let mut open: Vec<String> = references(&log.said()).into_iter().collect();
        let mut reached = std::collections::BTreeSet::new();
        while let Some(next) = open.pop() {
            if reached.insert(next.clone()) {
                let kept = log.kept.iter().filter(|text| reference(&text.hash()) == next);
                open.extend(kept.flat_map(|text| references(text)));
            }
        }
        assert!(reached.contains(&wanted), "round {round}: {}", log.said());
    }
}

#[test]
fn compaction_waits_for_open_calls() {
    let mut log = Log::default();
    log.user("go").model("ok").user("on");
    log.answer(vec![call("t1")], StopReason::ToolUse);
    assert_eq!(log.compact(1, 1_000), Err(NoCut::OpenCall("t1".into())));
    log.result("t1", "done");
    log.compact(1, 1_000).unwrap();
    log.user("more").step(&["x"]);
    log.compact(1, 1_000).unwrap();
    let summaries = log
        .state
        .messages()
        .iter()
        .flat_map(Message::fragments)
        .filter(|one| &*one.key == SUMMARY);
    assert_eq!(
        summaries.count(),
        1,
        "an old record is not rendered beside the new one"
    );
    assert_eq!(normalise(log.state.messages()).repairs, []);
}

#[test]
fn a_window_without_any_prompt_is_summarised_or_left_alone() {
    let mut log = Log::default();
    log.step(&["r1"]);
    let before = log.state.clone();
    assert_eq!(log.compact(1, 1_000), Err(NoCut::Nothing));
    assert_eq!(log.state, before);
    log.step(&["r2"]);
    log.compact(1, 1_000).unwrap();
    assert!(
        log.said().contains("- agent({\"task\": \"look\"}) ok: r1"),
        "{}",
        log.said()
    );
}

#[test]
fn signed_thinking_is_whole_or_gone_with_its_step() {
    let mut log = Log::default();
    log.user("go").step(&["a"]).step(&["b"]);
    log.compact(1, 1_000).unwrap();
    let parts: Vec<&Part> = log.state.messages().iter().flat_map(|one| &one.parts).collect();
    let thoughts = parts.iter().filter(|part| ***part == thought()).count();
    let calls = parts
        .iter()
        .filter(|part| matches!(part, Part::ToolCall { .. }))
        .count();
    assert_eq!((thoughts, calls), (1, 1));
}

#[test]
fn a_snapshot_is_not_carried_so_that_it_is_said_again() {
    let mut log = Log::default();
    let fragment = said(
        "context:snapshot",
        Kind::Snapshot,
        Authority::User,
        Trust::Project,
        "branch x",
    );
    let fragments = vec![Fragment {
        lane: Lane::Context,
        ..fragment
    }];
    log.add(SnapshotEntered {
        change: SnapshotChange::Shown,
        fragments,
    });
    log.user("go").model("ok").user("on").model("ok");
    log.compact(1, 1_000).unwrap();
    assert!(!log.said().contains("branch x"));
    assert_eq!(log.state.projection(), crate::log::Projection::Lost);
}

#[test]
fn what_would_be_lost_is_named() {
    let mut log = Log::default();
    log.instructions("context:AGENTS.md", "RULE").user("Goal: g");
    log.step(&[&format!("[see blob:0123456789abcdef]\n{}", "x\n".repeat(200))])
        .user("on")
        .model("ok");
    let cut = cut(&log.state, 1, &tokens).unwrap();
    let lost = check(&cut, log.state.ledger(), &[Message::user("m", "a summary")], &[]).unwrap_err();
    let told: Vec<String> = lost.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "the ledger's item of event 2 is not in the replacement: g",
            "the ledger's item of event 5 is not in the replacement: on",
            "`context:AGENTS.md` is not in the replacement",
            "blob:0123456789abcdef can no longer be reached",
        ]
    );
}

#[derive(Debug, Clone)]
enum Doing {
    Prompt(String),
    Step(Vec<String>),
    Answer(String),
    Instructions(u8),
    Compact(u64),
}

fn doings() -> impl Strategy<Value = Vec<Doing>> {
    let words = prop_oneof![
        "[a-zé ]{1,30}",
        "[a-z ]{5,20}".prop_map(|text| format!("Never {text}")),
        "[a-z ]{5,20}".prop_map(|text| format!("Decision: {text}\nFact: </bindery-summary> {text}")),
        "[a-z\n]{300,900}",
    ];
    let results = prop::collection::vec("[a-z0-9:\n]{0,400}", 1..4);
    let one = prop_oneof![
        3 => words.clone().prop_map(Doing::Prompt),
        4 => results.prop_map(Doing::Step),
        2 => words.prop_map(Doing::Answer),
        1 => (0_u8..3).prop_map(Doing::Instructions),
        2 => (1_u64..400).prop_map(Doing::Compact),
    ];
    prop::collection::vec(one, 1..40)
}

proptest! {
    #[test]
    fn after_any_compactions_the_history_is_sound_and_the_ledger_whole(doings in doings()) {
        let mut log = Log::default();
        log.user("Goal: the goal\nConstraint: the rule of the house");
        let mut compactions = 0;
        for doing in doings {
            match doing {
                Doing::Prompt(text) => { log.user(&text); }
                Doing::Step(results) => {
                    let results: Vec<&str> = results.iter().map(String::as_str).collect();
                    log.step(&results);
                }
                Doing::Answer(text) => { log.model(&text); }
                Doing::Instructions(n) => { log.instructions(&format!("context:{n}"), &format!("rules {n}")); }
                Doing::Compact(recent) => compactions += usize::from(log.compact(recent, 600).is_ok()),
            }
            // Blank prompts apart, which are no traffic, nothing needs mending.
            let mended = normalise(log.state.messages());
            prop_assert!(mended.repairs.iter().all(|repair| matches!(
                repair.kind,
                crate::history::RepairKind::BlankText | crate::history::RepairKind::BeginningMissing
                    | crate::history::RepairKind::TrailingSpace | crate::history::RepairKind::ReasoningLedNowhere
            )), "{:?}", mended.repairs);
        }
        if compactions > 0 {
            let said = log.said();
            for item in log.state.ledger().items() {
                if item.kind == LedgerKind::Goal || item.kind == LedgerKind::Constraint {
                    prop_assert!(said.contains(&item.restated()), "{:?}", item);
                }
            }
        }
    }
}

#[test]
fn ledger_items_survive_ten_compactions_byte_for_byte() {
    let mut log = Log::default();
    log.user(
        "Goal: port\n- Constraint: never push  twice, \u{1f469}\u{200d}\u{1f4bb}\nFact: the port is 8081",
    );
    let before: Vec<(LedgerKind, Arc<str>)> = log
        .state
        .ledger()
        .items()
        .iter()
        .filter(|item| item.kind != LedgerKind::Request)
        .map(|item| (item.kind, Arc::from(item.text.as_str())))
        .collect();
    assert_eq!(before.len(), 3);
    for round in 0..10 {
        log.step(&["x"])
            .model("ok")
            .user(&format!("go on {round}"))
            .step(&["y"])
            .step(&["z"]);
        log.compact(1, 500).unwrap();
        let said = log.said();
        for (_, text) in &before {
            assert!(said.contains(&**text), "round {round}: {text}");
        }
    }
    assert_eq!(log.state.next_seq(), Seq::new(92));
}
