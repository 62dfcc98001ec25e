//! A session that was interrupted, steered and compacted in any order is one that every provider takes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bindery_core::compaction::{Lost, Summary, check, cut, extract, references, replacement};
use bindery_core::digest::reference;
use bindery_core::history::normalise;
use bindery_core::ledger::LedgerKind;
use bindery_core::log::{
    AssistantMessage, Event, Payload, ReplaceReason, Replacement, SessionState, StopReason, SurfaceReplaced,
    ToolReturned, UserMessage,
};
use bindery_core::{
    Authority, ContentHash, CountTokens, Fragment, Kind, Media, Message, Part, Role, SystemPrompt, Text,
    TokenCount, Trust, said,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::{Params, Provider, ReasoningForm, Request, shape_problems};

#[derive(Debug, Clone)]
enum Doing {
    Asks(&'static str),
    /// Thought, text, that many calls; so many of them answered.
    Answers(Option<ReasoningForm>, &'static str, usize, usize),
    Shows(Vec<Part>),
    /// What broke off is given results.
    Settles,
    Compacts(u64),
}

fn doings() -> impl Strategy<Value = Vec<Doing>> {
    let form = prop_oneof![
        Just(None),
        Just(Some(ReasoningForm::Thinking)),
        Just(Some(ReasoningForm::ResponsesItem)),
        Just(Some(ReasoningForm::ReasoningContent)),
    ];
    let text = prop_oneof![Just(""), Just("done \n"), Just("Never push. Decision: keep it.")];
    let one = prop_oneof![
        2 => prop_oneof![Just("go on"), Just(" "), Just("Goal: port\nNever push.")].prop_map(Doing::Asks),
        5 => (form, text, 0_usize..4, 0_usize..4).prop_map(|(form, text, calls, of)| Doing::Answers(form, text, calls, of)),
        2 => prop::collection::vec(super::laws::media(), 1..4).prop_map(Doing::Shows),
        2 => Just(Doing::Settles),
        2 => (0_u64..60).prop_map(Doing::Compacts),
    ];
    prop::collection::vec(one, 1..25)
}

#[derive(Default)]
struct Log {
    state: SessionState,
    calls: usize,
    kept: Vec<Text>,
    shown: Vec<Arc<Media>>,
}

impl Log {
    fn add(&mut self, payload: impl Into<Payload>) {
        let event = Event {
            seq: self.state.next_seq(),
            at_ms: 0,
            payload: payload.into(),
        };
        self.state.apply(&event).unwrap();
    }

    fn does(&mut self, doing: &Doing) {
        match doing {
            Doing::Asks(text) => {
                let message = Message::user("m", *text);
                self.add(UserMessage { message, inbox: None });
            }
            Doing::Shows(parts) => {
                let message = Message {
                    role: Role::User,
                    parts: parts.clone(),
                    is_meta: false,
                };
                self.shown.extend(message.media().cloned());
                self.add(UserMessage { message, inbox: None });
            }
            Doing::Answers(form, text, calls, answered) => self.answers(*form, text, *calls, *answered),
            Doing::Settles => self.settles(),
            Doing::Compacts(recent) => drop(self.compacts(*recent)),
        }
    }

    fn answers(&mut self, form: Option<ReasoningForm>, text: &str, calls: usize, answered: usize) {
        let by_model = |kind, text: &str| said("m", kind, Authority::Assistant, Trust::External, text);
        let mut parts: Vec<Part> = form
            .into_iter()
            .map(|form| thought(form, by_model(Kind::Reasoning, "hm")))
            .collect();
        parts.push(Part::Text(vec![by_model(Kind::AssistantText, text)]));
        let ids: Vec<String> = (0..calls).map(|n| format!("c{}", self.calls + n)).collect();
        self.calls += calls;
        parts.extend(ids.iter().map(|id| Part::ToolCall {
            id: id.as_str().into(),
            name: "read".into(),
            input: by_model(Kind::ToolCall, "{}"),
        }));
        let stop = if calls > 0 {
            StopReason::ToolUse
        } else {
            StopReason::Interrupted
        };
        let message = Message {
            role: Role::Assistant,
            parts,
            is_meta: false,
        };
        self.add(AssistantMessage {
            message,
            attempt: None,
            stop,
        });
        // Results come in any order; the rest never comes.
        for id in ids.iter().rev().take(answered) {
            self.returns(id, &"a result of some length\n".repeat(60), None);
        }
    }

    /// What runs no more has no results; the harness says so in their place.
    fn settles(&mut self) {
        let open: Vec<_> = self
            .state
            .pending_calls()
            .iter()
            .map(|call| call.id.clone())
            .collect();
        for call in open {
            self.returns(&call, "it was lost", Some("interrupted"));
        }
    }

    fn returns(&mut self, call: &str, text: &str, synthetic: Option<&str>) {
        self.add(ToolReturned {
            call: call.into(),
            content: said("m", Kind::ToolResult, Authority::Tool, Trust::External, text),
            is_error: synthetic.is_some(),
            synthetic: synthetic.map(str::to_owned),
            elapsed_ms: None,
            touched: Vec::new(),
            scan: None,
        });
    }

    /// As sessions do: whatever would be lost, nothing changes.
    fn compacts(&mut self, recent: u64) -> bool {
        let count = |message: &Message| message.tokens(&Quarters).value;
        let Ok(cut) = cut(&self.state, recent, &count) else {
            return false;
        };
        let extract = extract(&cut, 500);
        let summary = Summary {
            text: extract.record,
            by: "extract".to_owned(),
        };
        let messages = replacement(&cut, self.state.ledger(), &summary);
        match check(&cut, self.state.ledger(), &messages, &extract.keep) {
            Ok(()) => {}
            Err(lost) if lost.iter().all(|one| matches!(one, Lost::Larger { .. })) => return false,
            Err(lost) => panic!("{lost:?}"),
        }
        self.kept.extend(extract.keep);
        self.add(SurfaceReplaced {
            shadowed: cut.shadowed,
            replacement: Replacement::Messages(messages),
            reason: ReplaceReason::Compaction,
        });
        true
    }

    fn said(&self) -> String {
        let fragments = self.state.messages().iter().flat_map(Message::fragments);
        fragments
            .map(|one| one.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Every reference that leads from what the next request says, through what was kept.
    fn reached(&self) -> BTreeSet<String> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<String> = references(&self.said()).into_iter().collect();
        let kept: BTreeMap<String, &Text> = self
            .kept
            .iter()
            .map(|text| (reference(&text.hash()), text))
            .collect();
        while let Some(next) = open.pop() {
            if reached.insert(next.clone()) {
                open.extend(kept.get(&next).into_iter().flat_map(|text| references(text)));
            }
        }
        reached
    }

    /// What each provider would refuse in the next request.
    fn refused(&self) -> Result<(), TestCaseError> {
        let mended = normalise(self.state.messages());
        let (system, params) = (SystemPrompt::default(), Params::new("m", 1024));
        for provider in Provider::ALL {
            let request = Request {
                system: &system,
                tools: &[],
                messages: &mended.messages,
                params: &params,
            };
            let body: Value = serde_json::from_slice(&provider.encode(&request).unwrap().body).unwrap();
            prop_assert_eq!(
                &shape_problems(provider, &body),
                &Vec::new(),
                "{}: {:#}",
                provider,
                body
            );
            let body = body.to_string();
            for kept in ["port the parser", "Never touch `main`."] {
                prop_assert!(body.contains(kept), "{}: {}", provider, kept);
            }
        }
        Ok(())
    }
}

struct Quarters;

impl CountTokens for Quarters {
    fn count(&self, text: &str) -> TokenCount {
        TokenCount::estimate(text.len() as u64 / 4)
    }

    fn name(&self) -> &'static str {
        "quarters"
    }
}

/// What nobody may reword: told by the user, not by what a turn came to.
fn told(log: &Log) -> Vec<(LedgerKind, String)> {
    let passing = [LedgerKind::Request, LedgerKind::Unfinished, LedgerKind::Plan];
    let items = log.state.ledger().items().into_iter();
    let items = items.filter(|item| !passing.contains(&item.kind));
    items
        .map(|item| (item.kind, item.text.as_str().to_owned()))
        .collect()
}

fn thought(form: ReasoningForm, fragment: Fragment) -> Part {
    let signature = match form {
        ReasoningForm::ResponsesItem => r#"{"type":"reasoning","id":"rs_1","summary":[]}"#,
        ReasoningForm::ReasoningContent => "",
        _ => "signed",
    };
    Part::Reasoning {
        fragment: Fragment {
            source: form.source(),
            ..fragment
        },
        signature: signature.into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_session_is_taken_after_any_sequence_of_compactions(doings in doings()) {
        let mut log = Log::default();
        log.does(&Doing::Asks("Goal: port the parser\nNever touch `main`."));
        for doing in &doings {
            log.does(doing);
            if matches!(doing, Doing::Compacts(_)) {
                log.refused()?;
            }
        }
        log.refused()?;
        log.settles();
        let before = told(&log);
        prop_assert!(before.len() >= 2);
        for round in 0..10 {
            log.answers(Some(ReasoningForm::Thinking), "Read.", 2, 2);
            log.does(&Doing::Asks("go on"));
            log.answers(None, "Read on.", 3, 3);
            prop_assert!(log.compacts(20), "round {}", round);
            if round % 3 == 0 {
                log.refused()?;
            }
            let said = log.said();
            for (kind, text) in &before {
                prop_assert!(said.contains(text), "round {}: {:?} {}", round, kind, text);
            }
        }
        prop_assert_eq!(told(&log), before);
        let reached = log.reached();
        for shown in log.shown.iter().filter_map(|media| media.bytes()) {
            prop_assert!(reached.contains(&reference(&ContentHash::of(&shown))), "{}", log.said());
        }
    }
}
