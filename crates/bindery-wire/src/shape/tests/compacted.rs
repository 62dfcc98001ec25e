//! A session that was interrupted, steered and compacted in any order is one that every provider takes.

use bindery_core::compaction::{Summary, cut, extract, replacement};
use bindery_core::history::normalise;
use bindery_core::log::{
    AssistantMessage, Event, Payload, ReplaceReason, Replacement, SessionState, StopReason, SurfaceReplaced,
    ToolReturned, UserMessage,
};
use bindery_core::{Authority, Fragment, Kind, Message, Part, Role, SystemPrompt, Trust, said};
use proptest::prelude::*;
use serde_json::Value;

use crate::{Params, Provider, ReasoningForm, Request, shape_problems};

#[derive(Debug, Clone)]
enum Doing {
    Asks(&'static str),
    /// Thought, text, that many calls; so many of them answered.
    Answers(Option<ReasoningForm>, &'static str, usize, usize),
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
        2 => (0_u64..60).prop_map(Doing::Compacts),
    ];
    prop::collection::vec(one, 1..25)
}

#[derive(Default)]
struct Log {
    state: SessionState,
    calls: usize,
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
            Doing::Answers(form, text, calls, answered) => self.answers(*form, text, *calls, *answered),
            Doing::Compacts(recent) => self.compacts(*recent),
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
            self.add(ToolReturned {
                call: id.as_str().into(),
                content: said(
                    "m",
                    Kind::ToolResult,
                    Authority::Tool,
                    Trust::External,
                    "a result of some length\n".repeat(12),
                ),
                is_error: false,
                synthetic: None,
                elapsed_ms: None,
                touched: Vec::new(),
                scan: None,
            });
        }
    }

    fn compacts(&mut self, recent: u64) {
        let count = |message: &Message| message.fragments().map(|one| one.text.len() as u64 / 4).sum();
        let Ok(cut) = cut(&self.state, recent, &count) else {
            return;
        };
        let summary = Summary {
            text: extract(&cut, 500).record,
            by: "extract".to_owned(),
        };
        let messages = replacement(&cut, self.state.ledger(), &summary);
        self.add(SurfaceReplaced {
            shadowed: cut.shadowed,
            replacement: Replacement::Messages(messages),
            reason: ReplaceReason::Compaction,
        });
    }
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
        }
        let mended = normalise(log.state.messages());
        let (system, params) = (SystemPrompt::default(), Params::new("m", 1024));
        for provider in Provider::ALL {
            let request = Request { system: &system, tools: &[], messages: &mended.messages, params: &params };
            let body: Value = serde_json::from_slice(&provider.encode(&request).unwrap().body).unwrap();
            prop_assert_eq!(&shape_problems(provider, &body), &Vec::new(), "{}: {:#}", provider, body);
            let body = body.to_string();
            for kept in ["port the parser", "Never touch `main`."] {
                prop_assert!(body.contains(kept), "{}: {}", provider, kept);
            }
        }
    }
}
