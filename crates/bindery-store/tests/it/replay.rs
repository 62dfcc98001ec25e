//! Every request is rebuilt, byte for byte, from the log alone: across stores, blobs and export.

use std::sync::Arc;

use bindery_core::log::{
    Adapter, AssistantMessage, AttemptEnded, AttemptOutcome, AttemptStarted, Draft, Header, HeaderSet, Json,
    LoggedRequest, Opening, Payload, ReplaceReason, Replacement, Replay, Seq, SnapshotChange,
    SnapshotEntered, StepEnded, StepOutcome, StepStarted, StopReason, SurfaceReplaced, ToolReturned,
    TurnStarted, UserMessage,
};
use bindery_core::{
    Authority, ContentHash, Fragment, Group, Kind, Lane, Message, Part, Role, Source, SystemPrompt, Tool,
    Trust, said,
};
use bindery_store::{
    Contention, Damage, Journal, LogReader, MemoryStore, SqliteOptions, SqliteStore, Store, events, export,
    import,
};
use bindery_wire::{CacheMarks, Params, Provider, Request};
use serde_json::json;

use crate::common::id;

fn params(params: &Params) -> Json {
    Json::new(&json!({
        "max_tokens": params.max_tokens,
        "stream": params.stream,
        "cache_key": params.cache_key,
        "marks": {"most": params.marks.most, "one_hour": params.marks.one_hour},
    }))
}

fn params_of(header: &Header) -> Params {
    let value = header.params.value();
    Params {
        model: header.model.to_string(),
        max_tokens: u32::try_from(value["max_tokens"].as_u64().unwrap()).unwrap(),
        stream: value["stream"].as_bool().unwrap(),
        effort: value["effort"].as_str().map(str::to_owned),
        tier: value["tier"].as_str().map(str::to_owned),
        cache_key: value["cache_key"].as_str().map(str::to_owned),
        marks: CacheMarks {
            most: usize::try_from(value["marks"]["most"].as_u64().unwrap()).unwrap(),
            one_hour: value["marks"]["one_hour"].as_bool().unwrap(),
        },
    }
}

fn encode(header: &Header, messages: &[Message]) -> Vec<u8> {
    let provider: Provider = header.provider.parse().unwrap();
    let params = params_of(header);
    let request = Request {
        system: &header.system,
        tools: &header.tools,
        messages,
        params: &params,
    };
    provider.encode(&request).unwrap().body
}

fn section(key: &str, group: Group, authority: Authority, text: &str) -> Fragment {
    Fragment {
        key: key.into(),
        kind: Kind::Section,
        lane: Lane::System,
        group,
        authority,
        trust: Trust::Operator,
        source: Source::File {
            path: "sections/é \"x\".md".into(),
            lines: Some((1, 9)),
        },
        grant: None,
        text: text.into(),
    }
}

fn header(provider: Provider, text: &str) -> Header {
    let fragments = vec![
        section("identity", Group::Static, Authority::System, text),
        section(
            "policy",
            Group::Dynamic,
            Authority::Developer,
            "Tabs.\u{2028}\u{0} \u{1F600}",
        ),
    ];
    let tail = vec![Fragment {
        kind: Kind::TailLine,
        ..section("model", Group::Appended, Authority::System, "model: m")
    }];
    let schema =
        json!({"type": "object", "properties": {"n": {"maximum": 1e300, "minimum": 0.1, "default": 3.0}}});
    let marks = CacheMarks {
        most: 4,
        one_hour: false,
    };
    let wanted = Params {
        model: "m-1".into(),
        max_tokens: 77,
        stream: true,
        effort: None,
        tier: None,
        cache_key: None,
        marks,
    };
    Header {
        provider: provider.name().into(),
        model: "m-1".into(),
        params: params(&wanted),
        adapter_defaults: Json::default(),
        system: SystemPrompt::from_fragments(fragments, tail),
        tools: vec![
            Tool::new("read", "Reads.", &schema),
            Tool::new("edit", "Edits.", &json!({})),
        ],
    }
}

fn fragment(kind: Kind, authority: Authority, text: &str) -> Fragment {
    said("message", kind, authority, Trust::External, text)
}

/// Sends one request over `header`: what a loop does, without a network.
fn send(journal: &mut Journal, step: u64, header: &Header, reminders: Vec<Message>) -> Vec<u8> {
    let mut drafts = vec![Payload::from(StepStarted { turn: 1, step })];
    if let Some(reason) = journal.state().header_reason(header, Opening::Running) {
        drafts.push(
            HeaderSet {
                reason,
                header: Arc::new(header.clone()),
            }
            .into(),
        );
    }
    commit(journal, drafts);
    let body = encode(header, &journal.state().messages_with(&reminders));
    let attempt = AttemptStarted {
        attempt: 1,
        adapter: Adapter {
            name: header.provider.clone(),
            version: "1".into(),
        },
        provider: header.provider.clone(),
        model: header.model.clone(),
        body_hash: ContentHash::of(&body),
        body_bytes: body.len() as u64,
        reminders,
    };
    let attempt = commit(journal, vec![attempt.into()]);
    let ended = AttemptEnded {
        attempt,
        outcome: AttemptOutcome::Answered,
        request_id: None,
    };
    let id = format!("call-{step}");
    let parts = vec![
        Part::Text(vec![fragment(
            Kind::AssistantText,
            Authority::Assistant,
            "Let me see.",
        )]),
        Part::ToolCall {
            id: id.as_str().into(),
            name: "read".into(),
            input: fragment(
                Kind::ToolCall,
                Authority::Assistant,
                "{\"n\": 1.0, \"path\":\"a\\tb\"}",
            ),
        },
    ];
    let message = Message {
        role: Role::Assistant,
        parts,
        is_meta: false,
    };
    let large = format!("{step} {}", "result é\n".repeat(300));
    let returned = ToolReturned {
        call: id.as_str().into(),
        content: fragment(Kind::ToolResult, Authority::Tool, &large),
        is_error: step == 2,
        synthetic: None,
        elapsed_ms: None,
        touched: vec!["/src".into()],
        scan: None,
    };
    let outcome = StepOutcome::Completed;
    commit(
        journal,
        vec![
            ended.into(),
            AssistantMessage {
                message,
                attempt: Some(attempt),
                stop: StopReason::ToolUse,
            }
            .into(),
            returned.into(),
            StepEnded {
                turn: 1,
                step,
                outcome,
            }
            .into(),
        ],
    );
    body
}

fn commit(journal: &mut Journal, payloads: Vec<Payload>) -> Seq {
    let drafts = payloads
        .into_iter()
        .map(|payload| Draft { at_ms: 1, payload })
        .collect();
    journal.commit(drafts).unwrap().unwrap().last
}

/// A session with a changed header, reminders, a snapshot and a compaction; gives the bodies sent.
fn session(store: &dyn Store, provider: Provider) -> Vec<Vec<u8>> {
    let mut journal = Journal::create(store, &id("s"), 1, "t").unwrap();
    let prompt = UserMessage {
        message: Message::user("message:0", "Go."),
        inbox: None,
    };
    let snapshot = fragment(Kind::Snapshot, Authority::User, "On branch main");
    let snapshot = SnapshotEntered {
        change: SnapshotChange::Shown,
        fragments: vec![snapshot],
    };
    commit(
        &mut journal,
        vec![TurnStarted { turn: 1 }.into(), prompt.into(), snapshot.into()],
    );
    let old = header(provider, "You help.");
    let new = header(provider, "You help well.");
    let reminder = Message::text(
        Role::User,
        vec![fragment(Kind::Reminder, Authority::User, "Soon.")],
    )
    .meta();
    let mut bodies = vec![
        send(&mut journal, 1, &old, vec![]),
        send(&mut journal, 2, &old, vec![reminder]),
        send(&mut journal, 3, &new, vec![]),
    ];
    let shadowed: Vec<Seq> = journal
        .state()
        .surface()
        .entries()
        .take(4)
        .flat_map(|(seqs, _)| seqs.to_vec())
        .collect();
    let summary = Replacement::Messages(vec![Message::user("message:s", "So far: much.").meta()]);
    let replaced = SurfaceReplaced {
        shadowed,
        replacement: summary,
        reason: ReplaceReason::Compaction,
    };
    commit(&mut journal, vec![replaced.into()]);
    bodies.push(send(&mut journal, 4, &new, vec![]));
    bodies
}

fn verify(log: &dyn LogReader, bodies: &[Vec<u8>]) {
    let mut replay = Replay::default();
    let mut rebuilt = Vec::new();
    let mut headers = 0;
    for event in events(log, Seq::FIRST) {
        let event = event.unwrap();
        headers += usize::from(matches!(event.payload, Payload::HeaderSet(_)));
        let body = |request: LoggedRequest<'_>| {
            let body = encode(request.header, &request.messages);
            assert_eq!(
                ContentHash::of(&body),
                request.attempt.body_hash,
                "request {}",
                request.number
            );
            body
        };
        rebuilt.extend(replay.follow(&event).unwrap().map(body));
    }
    assert_eq!(rebuilt, bodies);
    assert_eq!(headers, 2, "a header is written only when it differs");
}

#[test]
fn every_request_is_rebuilt_from_the_log_alone() {
    for provider in Provider::ALL {
        let dir = tempfile::tempdir().unwrap();
        let options = SqliteOptions {
            inline_bytes: 500,
            ..SqliteOptions::default()
        };
        let sqlite = SqliteStore::new(dir.path()).with_options(options);
        let memory = MemoryStore::default();
        let bodies = session(&sqlite, provider);
        assert_eq!(session(&memory, provider), bodies);
        verify(&*sqlite.read(&id("s")).unwrap(), &bodies);
        verify(&*memory.read(&id("s")).unwrap(), &bodies);

        let file = dir.path().join("s.jsonl");
        let out = std::fs::File::create(&file).unwrap();
        export(&*sqlite.read(&id("s")).unwrap(), out, &file).unwrap();
        let other = MemoryStore::default();
        import(&file, &other, None, Damage::Refuse).unwrap();
        verify(&*other.read(&id("s")).unwrap(), &bodies);
        other.write(&id("s"), "t", Contention::Refuse).unwrap();
    }
}
