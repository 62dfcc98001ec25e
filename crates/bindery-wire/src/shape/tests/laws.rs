//! Whatever happened to a conversation: mended, it is one that every provider takes.

use bindery_core::history::normalise;
use bindery_core::{Authority, Kind, Media, Message, Part, Role, Source, SystemPrompt, Trust, said};
use proptest::prelude::*;
use serde_json::Value;

use crate::{Params, Provider, ReasoningForm, Request, shape_problems};

fn fragment(kind: Kind, authority: Authority, text: &str) -> bindery_core::Fragment {
    said("message:1.0", kind, authority, Trust::External, text)
}

fn texts() -> impl Strategy<Value = Part> {
    let one = prop_oneof![
        Just(""),
        Just("  "),
        Just("hi"),
        Just("bye \n"),
        Just("\u{1f469}\u{200d}\u{1f4bb}")
    ];
    let said = |text: &str| fragment(Kind::AssistantText, Authority::Assistant, text);
    prop::collection::vec(one.prop_map(said), 0..3).prop_map(Part::Text)
}

fn reasoning() -> impl Strategy<Value = Part> {
    let form = prop_oneof![
        Just((Some(ReasoningForm::Thinking), "signed")),
        Just((Some(ReasoningForm::Thinking), "")),
        Just((Some(ReasoningForm::RedactedThinking), "sealed")),
        Just((
            Some(ReasoningForm::ResponsesItem),
            r#"{"type":"reasoning","id":"rs_1","summary":[]}"#
        )),
        Just((Some(ReasoningForm::ReasoningContent), "")),
        Just((None, "signed")),
    ];
    form.prop_map(|(form, signature): (Option<ReasoningForm>, &str)| {
        let fragment = fragment(Kind::Reasoning, Authority::Assistant, "hm");
        let source = form.map_or(fragment.source.clone(), ReasoningForm::source);
        Part::Reasoning {
            fragment: bindery_core::Fragment { source, ..fragment },
            signature: signature.into(),
        }
    })
}

/// Images of any kind and size, and documents, as somebody may attach them.
pub(super) fn media() -> impl Strategy<Value = Part> {
    let kinds = prop_oneof![
        3 => Just("image/png"),
        1 => Just("image/webp"),
        1 => Just("image/bmp"),
        1 => Just("application/pdf"),
        1 => Just("application/zip")
    ];
    let bytes = prop_oneof![4 => Just(40_usize), 1 => Just(0)];
    (kinds, bytes, any::<bool>()).prop_map(|(kind, bytes, elsewhere)| {
        let media = if elsewhere {
            Media::at_url(kind, "https://example.org/a")
        } else {
            Media::of_bytes(kind, "a", &vec![7; bytes], Some((640, 480)))
        };
        let source = Source::Setting {
            name: "--attach".into(),
        };
        Part::media("message:1.0", source, media)
    })
}

fn part() -> impl Strategy<Value = Part> {
    let ids = || prop_oneof![Just("a"), Just("b"), Just("c"), Just("")];
    let inputs = prop_oneof![4 => Just("{}"), 1 => Just("{\"path\": \"x"), 1 => Just("[1]"), 1 => Just("")];
    let call = (ids(), inputs).prop_map(|(id, input): (&str, &str)| Part::ToolCall {
        id: id.into(),
        name: "read".into(),
        input: fragment(Kind::ToolCall, Authority::Assistant, input),
    });
    let result = (ids(), any::<bool>()).prop_map(|(id, is_error): (&str, bool)| Part::ToolResult {
        id: id.into(),
        content: fragment(
            Kind::ToolResult,
            Authority::Tool,
            if is_error { "" } else { "found" },
        ),
        is_error,
    });
    prop_oneof![3 => texts(), 2 => call, 2 => result, 1 => reasoning(), 1 => media()]
}

/// Any messages at all: interrupted turns, parallel calls, results of nothing, thoughts of four providers.
fn histories() -> impl Strategy<Value = Vec<Message>> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    let message = (role, prop::collection::vec(part(), 0..5)).prop_map(|(role, parts)| Message {
        role,
        parts,
        is_meta: false,
    });
    prop::collection::vec(message, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_mended_history_is_refused_by_nobody(history in histories(), asks in any::<bool>()) {
        let mut history = history;
        if asks || history.is_empty() {
            history.push(Message::user("message:9.0", "go on"));
        }
        let mended = normalise(&history);
        let system = SystemPrompt::default();
        let params = Params::new("m", 1024);
        for provider in Provider::ALL {
            let request = Request { system: &system, tools: &[], messages: &mended.messages, params: &params };
            if mended.messages.is_empty() {
                continue;
            }
            let encoded = provider.encode(&request);
            // Thoughts of others alone make no request.
            let Ok(encoded) = encoded else { continue };
            let body: Value = serde_json::from_slice(&encoded.body).unwrap();
            let problems = shape_problems(provider, &body);
            prop_assert_eq!(&problems, &Vec::new(), "{}: {:#}", provider, body);
        }
    }
}

#[test]
fn unsigned_thinking_is_left_out_where_a_signature_is_asked_for() {
    let part = Part::Reasoning {
        fragment: bindery_core::Fragment {
            source: ReasoningForm::Thinking.source(),
            ..fragment(Kind::Reasoning, Authority::Assistant, "hm")
        },
        signature: "".into(),
    };
    assert!(
        matches!(&part, Part::Reasoning { fragment, .. } if matches!(fragment.source, Source::Plugin { .. }))
    );
    let text = Part::Text(vec![fragment(Kind::AssistantText, Authority::Assistant, "so")]);
    let answer = Message {
        role: Role::Assistant,
        parts: vec![part, text],
        is_meta: false,
    };
    let messages = [
        Message::user("message:1.0", "hi"),
        answer,
        Message::user("message:2.0", "and?"),
    ];
    let (system, params) = (SystemPrompt::default(), Params::new("m", 1024));
    let request = Request {
        system: &system,
        tools: &[],
        messages: &messages,
        params: &params,
    };
    let body = Provider::Anthropic.encode(&request).unwrap().body;
    assert!(!String::from_utf8(body).unwrap().contains("thinking"));
}
