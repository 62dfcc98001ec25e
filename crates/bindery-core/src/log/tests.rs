//! The laws of the log.

mod fold;
mod header;
mod laws;
mod projection;
mod record;
mod replay;

use super::*;
use crate::{Authority, Fragment, Kind, Message, Part, Role, Text, Trust, said};

fn log(payloads: impl IntoIterator<Item = Payload>) -> Vec<Event> {
    let places = (1..).map(Seq::new);
    places
        .zip(payloads)
        .map(|(seq, payload)| Event {
            seq,
            at_ms: seq.get() * 10,
            payload,
        })
        .collect()
}

fn user(text: &str) -> Payload {
    UserMessage {
        message: Message::user("m", text),
        inbox: None,
    }
    .into()
}

fn calls(ids: &[&str]) -> Payload {
    let call = |id: &&str| Part::ToolCall {
        id: (*id).into(),
        name: "tool".into(),
        input: external(Kind::ToolCall, Authority::Assistant, "{}"),
    };
    let message = Message {
        role: Role::Assistant,
        parts: ids.iter().map(call).collect(),
        is_meta: false,
    };
    AssistantMessage {
        message,
        attempt: None,
        stop: StopReason::ToolUse,
    }
    .into()
}

fn returned(id: &str, text: &str) -> Payload {
    ToolReturned {
        call: id.into(),
        content: external(Kind::ToolResult, Authority::Tool, text),
        is_error: false,
        synthetic: None,
        elapsed_ms: None,
        touched: Vec::new(),
        scan: None,
    }
    .into()
}

fn replaced(shadowed: &[u64], replacement: Replacement) -> Payload {
    let shadowed = shadowed.iter().copied().map(Seq::new).collect();
    SurfaceReplaced {
        shadowed,
        replacement,
        reason: ReplaceReason::Compaction,
    }
    .into()
}

fn summary(text: &str) -> Replacement {
    Replacement::Messages(vec![Message::user("s", text)])
}

fn external(kind: Kind, authority: Authority, text: impl Into<Text>) -> Fragment {
    said("m", kind, authority, Trust::External, text)
}

/// The texts of the surface, a message a line: `user: a | b`.
fn shown(state: &SessionState) -> String {
    let line = |message: &Message| {
        let texts: Vec<&str> = message
            .fragments()
            .map(|fragment| fragment.text.as_str())
            .collect();
        format!("{:?}: {}", message.role, texts.join(" | "))
    };
    state.messages().iter().map(line).collect::<Vec<_>>().join("\n")
}

fn problem(payloads: impl IntoIterator<Item = Payload>) -> String {
    fold(&log(payloads)).unwrap_err().to_string()
}
