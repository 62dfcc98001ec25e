//! Digests of large results, and compaction without a model.

use bindery_core::compaction::{Limits, Summary, check, cut, extract, replacement};
use bindery_core::digest::{Bounds, Digest};
use bindery_core::history::normalise;
use bindery_core::log::{
    AssistantMessage, Event, Payload, SessionState, StopReason, ToolReturned, UserMessage,
};
use bindery_core::{Authority, Kind, Message, Part, Role, Trust, said};

fn main() {
    divan::main();
}

/// A build log of so many megabytes, a notable line in every thousand.
fn log(megabytes: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(megabytes << 20);
    let mut line = 0_u64;
    while out.len() < megabytes << 20 {
        line += 1;
        let text = if line.is_multiple_of(1000) {
            format!(
                "[{line:>7}] warning: unit {line} failed to inline, see error E{}\n",
                line % 70
            )
        } else {
            format!(
                "[{line:>7}] compiling unit {line} of the tree into object o{}\n",
                line % 977
            )
        };
        out.extend_from_slice(text.as_bytes());
    }
    out
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn digest_100_megabytes(bencher: divan::Bencher<'_, '_>) {
    let log = log(100);
    bencher
        .counter(divan::counter::BytesCount::new(log.len()))
        .bench(|| {
            let mut digest = Digest::new(Bounds::default());
            for piece in log.chunks(64 << 10) {
                digest.push(piece);
            }
            digest.finish()
        });
}

/// A session of so many tokens of four bytes: steps of a call and a result of about 500 tokens.
fn session(tokens: usize) -> SessionState {
    let mut state = SessionState::default();
    let mut add = |payload: Payload| {
        let event = Event {
            seq: state.next_seq(),
            at_ms: 0,
            payload,
        };
        state.apply(&event).map_err(|error| error.to_string())
    };
    let asked = Message::user("m", "Goal: port the parser\nNever push to `main`.");
    let mut outcome = add(UserMessage {
        message: asked,
        inbox: None,
    }
    .into());
    for number in 0..tokens / 520 {
        let id = format!("c{number}");
        let by_model = |kind, text: &str| said("m", kind, Authority::Assistant, Trust::External, text);
        let parts = vec![
            Part::Text(vec![by_model(Kind::AssistantText, "Next I read a file.")]),
            Part::ToolCall {
                id: id.as_str().into(),
                name: "read".into(),
                input: by_model(Kind::ToolCall, "{\"path\": \"src/lib.rs\"}"),
            },
        ];
        let message = Message {
            role: Role::Assistant,
            parts,
            is_meta: false,
        };
        let answer = AssistantMessage {
            message,
            attempt: None,
            stop: StopReason::ToolUse,
        };
        let text = format!("line of file {number} with some words in it\n").repeat(45);
        let returned = ToolReturned {
            call: id.as_str().into(),
            content: said("m", Kind::ToolResult, Authority::Tool, Trust::External, text),
            is_error: false,
            synthetic: None,
            elapsed_ms: None,
            touched: Vec::new(),
            scan: None,
        };
        outcome = outcome
            .and_then(|()| add(answer.into()))
            .and_then(|()| add(returned.into()));
    }
    assert_eq!(outcome, Ok(()));
    state
}

#[divan::bench(args = [45_000, 90_000, 180_000, 360_000])]
fn compact(bencher: divan::Bencher<'_, '_>, tokens: usize) {
    let state = session(tokens);
    let limits = Limits::of_room(150_000);
    let count = |message: &Message| message.fragments().map(|one| one.text.len() as u64 / 4).sum();
    bencher.bench(|| {
        let cut = cut(&state, limits.recent, &count).ok()?;
        let extract = extract(&cut, limits.record);
        let summary = Summary {
            text: extract.record,
            by: "extract".to_owned(),
        };
        let messages = replacement(&cut, state.ledger(), &summary);
        check(&cut, state.ledger(), &messages, &extract.keep).ok()?;
        Some(messages)
    });
}

#[divan::bench(args = [180_000])]
fn normalise_a_sound_history(bencher: divan::Bencher<'_, '_>, tokens: usize) {
    let state = session(tokens);
    bencher.bench(|| normalise(state.messages()).repairs.len());
}
