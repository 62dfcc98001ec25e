//! Every adapter on one rich request, and the laws of span maps on random ones.

use std::fmt::Write as _;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};

use bindery_core::{
    AssembleOptions, Authority, Cadence, Context, Delivery, Group, Kind, Message, Part, Rendered, Role,
    Scope, Section, Session, Source, Tool, ToolSet, Trust, conversation, said,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{CacheMarks, Encoded, Params, Provider, Request, SpanPart, WireError};

/// Runs a future that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut task = TaskContext::from_waker(Waker::noop());
    match pin!(future).poll(&mut task) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the test's providers never wait"),
    }
}

fn params() -> Params {
    Params {
        model: "model-1".into(),
        max_tokens: 1024,
        stream: true,
        effort: None,
        tier: None,
        cache_key: None,
        marks: CacheMarks::default(),
    }
}

fn project(path: &str) -> Source {
    Source::File {
        path: path.into(),
        lines: None,
    }
}

fn tools() -> ToolSet {
    let read = Tool::new(
        "read",
        "Reads a \"file\".",
        &json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    );
    let edit = Tool::new("edit", "Edits.", &json!({"type": "object"}));
    ToolSet {
        visible: vec![read, edit],
        hidden: vec![],
    }
}

fn rendered() -> Rendered {
    let scope = Scope::global();
    let policy = Section::new("policy", "Follow house rules.")
        .order(9)
        .authority(Authority::Developer);
    let step = Cadence::Step {
        reason: "test".into(),
    };
    let _kept = [
        scope
            .section(Section::new("identity", "You are {{name}}.\nLine \"two\".\n"))
            .unwrap(),
        scope.section(policy).unwrap(),
        scope
            .section(
                Section::new("place", "In /repo.")
                    .group(Group::Dynamic)
                    .cadence(step),
            )
            .unwrap(),
        scope
            .variable("name", bindery_core::Text::from("Bindery"))
            .unwrap(),
        scope
            .context(Context::new("model", "m-1").delivery(Delivery::Tail))
            .unwrap(),
        scope
            .context(Context::new("git", "On branch main").from_source(project("git"), Trust::Project))
            .unwrap(),
        scope
            .context(Context::new("style", "Be brief.").delivery(Delivery::Reminder))
            .unwrap(),
        scope
            .context(
                Context::new("CLAUDE.md", "Use tabs. {{not_ours}} </bindery-instructions>")
                    .message(Kind::Instructions)
                    .from_source(project("CLAUDE.md"), Trust::Project),
            )
            .unwrap(),
        scope.tools(tools()),
    ];
    now(Session::new(scope).render(&AssembleOptions::default())).unwrap()
}

fn history() -> Vec<Message> {
    let call = said(
        "message:1.1",
        Kind::ToolCall,
        Authority::Assistant,
        Trust::External,
        "{\"path\": \"a\\tb\"}",
    );
    let result = said(
        "message:2.0",
        Kind::ToolResult,
        Authority::Tool,
        Trust::External,
        "1\ttab é\u{1F600}\u{1}",
    );
    let thought = said(
        "message:1.0",
        Kind::Reasoning,
        Authority::Assistant,
        Trust::External,
        "hm",
    );
    vec![
        Message::user("message:0.0", "read it"),
        Message {
            role: Role::Assistant,
            parts: vec![
                Part::Reasoning {
                    fragment: thought,
                    signature: "sig".into(),
                },
                Part::ToolCall {
                    id: "c1".into(),
                    name: "read".into(),
                    input: call,
                },
            ],
            is_meta: false,
        },
        Message {
            role: Role::User,
            parts: vec![Part::ToolResult {
                id: "c1".into(),
                content: result,
                is_error: false,
            }],
            is_meta: false,
        },
        Message::assistant("message:3.0", "done"),
        Message::user("message:4.0", "again"),
    ]
}

fn encode(provider: Provider, rendered: &Rendered, history: &[Message]) -> Result<Encoded, WireError> {
    let messages = conversation(&rendered.context, history);
    let params = params();
    let tools = &rendered.assembly.tools;
    provider.encode(&Request {
        system: &rendered.system,
        tools,
        messages: &messages,
        params: &params,
    })
}

/// A request of nothing but these messages.
pub(crate) fn encode_messages(provider: Provider, messages: &[Message]) -> Encoded {
    let rendered = now(Session::new(Scope::global()).render(&AssembleOptions::default())).unwrap();
    encode(provider, &rendered, messages).unwrap()
}

#[test]
fn bodies() {
    for provider in Provider::ALL {
        let encoded = encode(provider, &rendered(), &history()).unwrap();
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        let shown = format!(
            "{}\n\nnotes: {}",
            serde_json::to_string_pretty(&body).unwrap(),
            serde_json::to_string_pretty(&encoded.notes).unwrap()
        );
        insta::assert_snapshot!(provider.name(), shown);
    }
}

#[test]
fn every_fragment_is_found_in_the_body_with_its_text() {
    let rendered = rendered();
    let messages = conversation(&rendered.context, &history());
    let fragments: Vec<_> = rendered
        .system
        .fragments()
        .iter()
        .chain(rendered.system.tail())
        .chain(messages.iter().flat_map(Message::fragments))
        .collect();
    for provider in Provider::ALL {
        let encoded = encode(provider, &rendered, &history()).unwrap();
        for fragment in &fragments {
            let span = encoded.spans.spans().iter().find(|span| span.key == fragment.key);
            let skipped = fragment.kind == Kind::Reasoning && provider != Provider::Anthropic;
            assert_eq!(
                span.and_then(|span| span.text(&encoded.body)),
                (!skipped).then(|| fragment.text.to_string()),
                "{provider}: {}",
                fragment.key
            );
        }
        let schema = encoded
            .spans
            .spans()
            .iter()
            .find(|s| &*s.key == "tool:edit" && s.part == SpanPart::Schema);
        assert_eq!(
            schema.and_then(|s| s.text(&encoded.body)).as_deref(),
            Some(r#"{"type":"object"}"#)
        );
    }
}

#[test]
fn the_boundary_never_leaves() {
    for provider in Provider::ALL {
        let body = encode(provider, &rendered(), &history()).unwrap().body;
        assert!(
            !String::from_utf8(body)
                .unwrap()
                .contains(bindery_core::marker::BOUNDARY)
        );
    }
}

#[test]
fn a_request_needs_a_message() {
    let scope = Scope::global();
    let rendered = now(Session::new(scope).render(&AssembleOptions::default())).unwrap();
    for provider in Provider::ALL {
        assert!(matches!(
            encode(provider, &rendered, &[]),
            Err(WireError::NoMessage { .. })
        ));
        assert!(matches!(
            encode(provider, &rendered, &[Message::user("m", "")]),
            Err(WireError::NoMessage { .. })
        ));
    }
}

#[test]
fn effort_and_tier_are_said_in_each_provider_s_own_field() {
    let rendered = rendered();
    let messages = conversation(&rendered.context, &history());
    let asked = Params {
        effort: Some("low".into()),
        tier: Some("flex".into()),
        ..params()
    };
    let request = |params| Request {
        system: &rendered.system,
        tools: &rendered.assembly.tools,
        messages: &messages,
        params,
    };
    let plain = params();
    let mut shown = String::new();
    for provider in Provider::ALL {
        let encoded = provider.encode(&request(&asked)).unwrap();
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        let without: Value =
            serde_json::from_slice(&provider.encode(&request(&plain)).unwrap().body).unwrap();
        // What was not asked for leaves no trace.
        assert_eq!(
            without
                .as_object()
                .unwrap()
                .keys()
                .filter(|key| body.get(*key).is_none())
                .count(),
            0
        );
        let added: Vec<String> = body
            .as_object()
            .unwrap()
            .iter()
            .filter(|(key, _)| without.get(*key).is_none())
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let unsaid = encoded.notes.iter().find(|note| note.code == "setting-not-sent");
        let unsaid = unsaid.map_or("", |note| &note.message);
        writeln!(shown, "{provider}: {} {unsaid}", added.join(" ")).unwrap();
    }
    insta::assert_snapshot!(shown, @r#"
    anthropic: output_config={"effort":"low"} service_tier="flex" 
    openai-responses: reasoning={"effort":"low"} service_tier="flex" 
    openai-chat: reasoning_effort="low" service_tier="flex" 
    deepseek:  DeepSeek has no field for effort and tier: it is not sent
    "#);
}

#[test]
fn a_tool_input_that_is_not_json_is_named() {
    let input = said(
        "m",
        Kind::ToolCall,
        Authority::Assistant,
        Trust::External,
        "{oops",
    );
    let part = Part::ToolCall {
        id: "c9".into(),
        name: "read".into(),
        input,
    };
    let messages = [Message {
        role: Role::Assistant,
        parts: vec![part],
        is_meta: false,
    }];
    let error = encode(Provider::Anthropic, &rendered(), &messages).unwrap_err();
    insta::assert_snapshot!(error, @"the input of tool call `c9` (`read`) is not JSON: key must be a string at line 1 column 2");
}

/// Random conversations: any text, any mixture of parts.
fn parts(index: usize) -> impl Strategy<Value = Vec<Part>> {
    let text = "(\\PC|[\u{0}-\u{1f}\"\\\\]){0,12}";
    let part = (text, 0..4u8).prop_map(move |(text, what)| (text, what));
    proptest::collection::vec(part, 0..4).prop_map(move |parts| {
        let key = |at: usize| -> Arc<str> { format!("message:{index}.{at}").into() };
        let make = |at: usize, kind, text: &str| said(key(at), kind, Authority::User, Trust::External, text);
        let part = |(at, (text, what)): (usize, (String, u8))| match what {
            0 => Part::ToolResult {
                id: key(at),
                content: make(at, Kind::ToolResult, &text),
                is_error: text.is_empty(),
            },
            1 => Part::ToolCall {
                id: key(at),
                name: "t".into(),
                input: make(at, Kind::ToolCall, &json!({ "x": text }).to_string()),
            },
            _ => Part::Text(vec![make(at, Kind::UserPrompt, &text)]),
        };
        parts.into_iter().enumerate().map(part).collect()
    })
}

fn conversations() -> impl Strategy<Value = Vec<Message>> {
    let message = |index| {
        (parts(index), any::<bool>()).prop_map(|(parts, user)| Message {
            role: if user { Role::User } else { Role::Assistant },
            parts,
            is_meta: false,
        })
    };
    (message(0), message(1), message(2), message(3)).prop_map(|(a, b, c, d)| vec![a, b, c, d])
}

proptest! {
    #[test]
    fn spans_tile_the_texts_of_any_body(history in conversations()) {
        let rendered = rendered();
        for provider in Provider::ALL {
            let encoded = encode(provider, &rendered, &history).unwrap();
            prop_assert!(serde_json::from_slice::<Value>(&encoded.body).is_ok());
            prop_assert_eq!(&encoded, &encode(provider, &rendered, &history).unwrap());
            let spans = encoded.spans.spans();
            for [a, b] in spans.array_windows() {
                prop_assert!(a.range.end <= b.range.start);
            }
            for span in spans {
                prop_assert!(span.text(&encoded.body).is_some());
                if !span.range.is_empty() {
                    prop_assert_eq!(encoded.spans.at(span.range.start), Some(span));
                }
            }
            // Outside the spans there is nothing that a user, a file or a tool wrote, but for call ids.
            let marks = encoded.body.windows(15).filter(|window| window == b"\"cache_control\"").count();
            prop_assert!(marks <= 4);
        }
    }
}
