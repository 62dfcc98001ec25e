//! One example of every event: for the reference, for conformance suites, for fuzzers' seeds.

use std::sync::Arc;

use serde_json::json;

use super::{
    Adapter, AssistantMessage, AttemptEnded, AttemptOutcome, AttemptStarted, BodyWriter, Decision, Draft,
    ErrorRecorded, ExchangeEnded, ExchangeOutcome, ExchangeStarted, GateDecided, GateStateSet, Header,
    HeaderReason, HeaderSet, HookDecided, InboxClaimed, InboxDropped, InboxEnqueued, Intake, Json, Payload,
    ReplaceReason, Replacement, ScannedLine, ScannedResult, Seq, ServerChange, ServerChanged, SessionStarted,
    SettingChanged, SnapshotChange, SnapshotEntered, StepEnded, StepOutcome, StepStarted, StopReason,
    SubagentEnded, SurfaceReplaced, ToolCalled, ToolReturned, TurnEnded, TurnOutcome, TurnStarted,
    UsageOrigin, UsageReported, UserMessage,
};
use crate::{
    Authority, ContentHash, Fragment, Group, Kind, Lane, Message, Part, Source, SystemPrompt, Tool, Trust,
    Usage, said,
};

/// When the examples begin: 2026-01-01 00:00 UTC.
const BEGIN_MS: u64 = 1_767_225_600_000;

/// A small session in which every type of event occurs. It folds.
pub fn examples() -> Vec<Draft> {
    let payloads = [
        opening(),
        request(),
        answer(),
        tools(),
        closing(),
        recorded(),
        others(),
    ]
    .concat();
    let times = (BEGIN_MS..).step_by(1000);
    times
        .zip(payloads)
        .map(|(at_ms, payload)| Draft { at_ms, payload })
        .collect()
}

fn opening() -> Vec<Payload> {
    let steer = InboxEnqueued {
        id: "in-1".into(),
        intake: Intake::FollowUp,
        message: Message::user("message:in-1", "What is here?"),
    };
    let withdrawn = InboxEnqueued {
        id: "in-2".into(),
        intake: Intake::Inject,
        message: Message::user("message:in-2", "Never mind."),
    };
    vec![
        SessionStarted {
            program: "bindery/0.1.0".into(),
            directory: Some("~/project".into()),
            forked_from: None,
            sent_by: None,
        }
        .into(),
        SettingChanged {
            name: "effort".into(),
            value: Some(Json::new(&json!("low"))),
            source: Source::Setting {
                name: "--effort".into(),
            },
        }
        .into(),
        steer.clone().into(),
        withdrawn.into(),
        InboxDropped {
            ids: vec!["in-2".into()],
            reason: "withdrawn by its sender".into(),
        }
        .into(),
        TurnStarted { turn: 1 }.into(),
        InboxClaimed {
            ids: vec!["in-1".into()],
        }
        .into(),
        StepStarted { turn: 1, step: 1 }.into(),
        UserMessage {
            message: steer.message,
            inbox: Some("in-1".into()),
        }
        .into(),
        SnapshotEntered {
            change: SnapshotChange::Shown,
            fragments: vec![snapshot()],
        }
        .into(),
    ]
}

fn request() -> Vec<Payload> {
    vec![
        HeaderSet {
            reason: HeaderReason::Initial,
            header: Arc::new(header()),
        }
        .into(),
        AttemptStarted {
            attempt: 1,
            adapter: Adapter {
                name: "anthropic".into(),
                version: "1".into(),
            },
            provider: "anthropic".into(),
            model: "model-1".into(),
            body_hash: ContentHash::of(b"{}"),
            body_bytes: 2,
            reminders: vec![],
        }
        .into(),
        AttemptEnded {
            attempt: Seq::new(12),
            outcome: AttemptOutcome::Answered,
            request_id: Some("req_1".into()),
        }
        .into(),
    ]
}

fn answer() -> Vec<Payload> {
    let input = external(
        "message:14.1",
        Kind::ToolCall,
        Authority::Assistant,
        "{\"path\":\".\"}",
    );
    let call = Part::ToolCall {
        id: "call_1".into(),
        name: "list".into(),
        input,
    };
    let mut message = Message::assistant("message:14.0", "I look.");
    message.parts.push(call);
    let usage = Usage {
        uncached: 12,
        write_5m: 2048,
        output: 9,
        ..Usage::default()
    };
    vec![
        AssistantMessage {
            message,
            attempt: Some(Seq::new(12)),
            stop: StopReason::ToolUse,
        }
        .into(),
        UsageReported {
            attempt: Seq::new(12),
            usage,
            origin: UsageOrigin::Provider,
        }
        .into(),
    ]
}

fn tools() -> Vec<Payload> {
    vec![
        HookDecided {
            moment: "PreToolUse".into(),
            hook: Source::Setting {
                name: "hooks.PreToolUse.0".into(),
            },
            call: Some("call_1".into()),
            decision: Decision::Allow,
            reason: None,
            exit_code: Some(0),
            failure: None,
            remarks: Vec::new(),
        }
        .into(),
        GateDecided {
            gate: "read-first".into(),
            action: "list".into(),
            call: Some("call_1".into()),
            decision: Decision::Pass,
            missing: vec![],
        }
        .into(),
        ToolCalled {
            call: "call_1".into(),
            tool: "list".into(),
        }
        .into(),
        ToolReturned {
            call: "call_1".into(),
            content: external("message:19", Kind::ToolResult, Authority::Tool, "Cargo.toml\nsrc"),
            is_error: false,
            synthetic: None,
            elapsed_ms: Some(3),
            touched: vec!["/home/ada/project".into()],
            scan: Some(ScannedResult {
                verdict: "allowed".into(),
                findings: vec![ScannedLine {
                    line: 2,
                    rule: "example".into(),
                    kind: "override".into(),
                    severity: "low".into(),
                    reason: "an example of a finding".into(),
                }],
            }),
        }
        .into(),
        GateStateSet {
            state: "workspace.listed".into(),
            holds: true,
            because: "the tool `list` succeeded".into(),
        }
        .into(),
    ]
}

fn closing() -> Vec<Payload> {
    let pruned = external(
        "message:21",
        Kind::ToolResult,
        Authority::Tool,
        "(two entries; see event 19)",
    );
    vec![
        SurfaceReplaced {
            shadowed: vec![Seq::new(19)],
            replacement: Replacement::Result(pruned),
            reason: ReplaceReason::Pruning,
        }
        .into(),
        ErrorRecorded {
            stage: "dispatch".into(),
            code: "transport".into(),
            message: "the connection to api.example was closed; the step ends here".into(),
        }
        .into(),
        StepEnded {
            turn: 1,
            step: 1,
            outcome: StepOutcome::Completed,
        }
        .into(),
        TurnEnded {
            turn: 1,
            outcome: TurnOutcome::Completed,
            reason: None,
        }
        .into(),
    ]
}

/// What a proxy sees of another program.
fn recorded() -> Vec<Payload> {
    let body = br#"{"model":"model-1","messages":[{"role":"user","content":"What is here?"}]}"#;
    vec![
        ExchangeStarted {
            client: Some("agent/2.0".into()),
            agent: None,
            format: "anthropic".into(),
            route: "https://api.example".into(),
            path: "/v1/messages".into(),
            model: Some("model-1".into()),
            headers: [("anthropic-version".into(), "2023-06-01".into())].into(),
            body: BodyWriter::default().record(body),
            unknown: vec![],
        }
        .into(),
        ExchangeEnded {
            exchange: Seq::new(26),
            outcome: ExchangeOutcome::Answered,
            status: Some(200),
            began_ms: Some(400),
            elapsed_ms: Some(900),
            response_id: Some("msg_1".into()),
            request_id: Some("req_2".into()),
            usage: Some(crate::Usage {
                uncached: 12,
                ..crate::Usage::default()
            }),
            origin: Some(UsageOrigin::Provider),
            reported: Some(Json::new(&json!({"input_tokens": 12}))),
            diagnosis: None,
            response: None,
        }
        .into(),
    ]
}

/// Servers and sub-agents.
fn others() -> Vec<Payload> {
    vec![
        ServerChanged {
            server: "files".into(),
            change: ServerChange::Returned,
            tools: 2,
            hash: ContentHash::of(b"two tools"),
            drift: vec!["~read".into()],
            reason: None,
        }
        .into(),
        SubagentEnded {
            agent: "explorer".into(),
            session: "20260101-000000-abcdef.a1".into(),
            call: "call_1".into(),
            outcome: TurnOutcome::Completed,
            model: "model-1".into(),
            requests: 2,
            usage: Usage {
                uncached: 40,
                ..Usage::default()
            },
            sent_back: 1,
        }
        .into(),
    ]
}

fn header() -> Header {
    let identity = Fragment {
        key: "identity".into(),
        kind: Kind::Section,
        lane: Lane::System,
        group: Group::Static,
        authority: Authority::System,
        trust: Trust::Builtin,
        source: Source::Builtin {
            name: "identity.md".into(),
        },
        grant: None,
        text: "You help.".into(),
    };
    Header {
        provider: "anthropic".into(),
        model: "model-1".into(),
        params: Json::new(&json!({"max_tokens": 1024, "stream": true})),
        adapter_defaults: Json::default(),
        system: SystemPrompt::from_fragments(vec![identity], vec![]),
        tools: vec![Tool::new(
            "list",
            "Lists a directory.",
            &json!({"type": "object"}),
        )],
    }
}

fn snapshot() -> Fragment {
    Fragment {
        lane: Lane::Context,
        ..said(
            "context:git",
            Kind::Snapshot,
            Authority::User,
            Trust::Project,
            "On branch main",
        )
    }
}

fn external(key: &str, kind: Kind, authority: Authority, text: &str) -> Fragment {
    said(key, kind, authority, Trust::External, text)
}
