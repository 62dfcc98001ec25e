//! Recorded exchanges of our own making, read by every reader, and the laws of reading.
//!
//! The files under `fixtures/` are made up: shapes as the providers' SDKs type them, contents ours.

use proptest::prelude::*;

use crate::reply::Interrupted;
use crate::{FailureKind, Provider, Reply, ReplyDecoder, ReplyEvent, StopReason, decode_body};

#[derive(Debug)]
struct Fixture {
    provider: Provider,
    name: &'static str,
    bytes: &'static [u8],
}

macro_rules! fixture {
    ($provider:ident, $name:literal) => {
        Fixture {
            provider: Provider::$provider,
            name: $name,
            bytes: include_bytes!(concat!("../../fixtures/", $name)),
        }
    };
}

static FIXTURES: [Fixture; 35] = [
    fixture!(Anthropic, "anthropic/cut-in-a-call.sse"),
    fixture!(Anthropic, "anthropic/max-tokens-in-a-call.sse"),
    fixture!(Anthropic, "anthropic/new-things.sse"),
    fixture!(Anthropic, "anthropic/no-last-event.sse"),
    fixture!(Anthropic, "anthropic/not-json.sse"),
    fixture!(Anthropic, "anthropic/odd-framing.sse"),
    fixture!(Anthropic, "anthropic/overloaded-inside.sse"),
    fixture!(Anthropic, "anthropic/text.sse"),
    fixture!(Anthropic, "anthropic/thinking.sse"),
    fixture!(Anthropic, "anthropic/tools.sse"),
    fixture!(Anthropic, "anthropic/whole-error.json"),
    fixture!(Anthropic, "anthropic/whole.json"),
    fixture!(OpenaiResponses, "openai-responses/cut.sse"),
    fixture!(OpenaiResponses, "openai-responses/error-inside.sse"),
    fixture!(OpenaiResponses, "openai-responses/failed-inside.sse"),
    fixture!(OpenaiResponses, "openai-responses/incomplete.sse"),
    fixture!(OpenaiResponses, "openai-responses/new-things.sse"),
    fixture!(OpenaiResponses, "openai-responses/no-pieces.sse"),
    fixture!(OpenaiResponses, "openai-responses/reasoning-and-tools.sse"),
    fixture!(OpenaiResponses, "openai-responses/refusal.sse"),
    fixture!(OpenaiResponses, "openai-responses/text.sse"),
    fixture!(OpenaiResponses, "openai-responses/whole.json"),
    fixture!(OpenaiChat, "openai-chat/contradiction.sse"),
    fixture!(OpenaiChat, "openai-chat/cut.sse"),
    fixture!(OpenaiChat, "openai-chat/error-inside.sse"),
    fixture!(OpenaiChat, "openai-chat/imitated.sse"),
    fixture!(OpenaiChat, "openai-chat/length-in-a-call.sse"),
    fixture!(OpenaiChat, "openai-chat/nameless-call.sse"),
    fixture!(OpenaiChat, "openai-chat/text.sse"),
    fixture!(OpenaiChat, "openai-chat/tools.sse"),
    fixture!(OpenaiChat, "openai-chat/whole-error.json"),
    fixture!(OpenaiChat, "openai-chat/whole.json"),
    fixture!(Deepseek, "deepseek/out-of-resources.sse"),
    fixture!(Deepseek, "deepseek/reasoning-and-tools.sse"),
    fixture!(Deepseek, "deepseek/whole.json"),
];

type Read = (Vec<ReplyEvent>, Result<Reply, Interrupted>);

fn stream(provider: Provider, chunks: &[&[u8]]) -> Read {
    let mut decoder = ReplyDecoder::new(provider);
    let events = chunks.iter().flat_map(|chunk| decoder.push(chunk)).collect();
    (events, decoder.finish())
}

fn read(fixture: &Fixture) -> Read {
    if fixture.name.ends_with(".json") {
        decode_body(fixture.provider, fixture.bytes)
    } else {
        stream(fixture.provider, &[fixture.bytes])
    }
}

fn named(name: &str) -> Read {
    read(FIXTURES.iter().find(|fixture| fixture.name == name).unwrap())
}

/// A read as a person reviews it: one event a line, then what they add up to.
fn shown((events, end): &Read) -> String {
    let mut lines: Vec<String> = events
        .iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    lines.push(String::new());
    lines.push(match end {
        Ok(reply) => serde_json::to_string_pretty(reply).unwrap(),
        Err(interrupted) => format!(
            "{interrupted}\n{}",
            serde_json::to_string_pretty(interrupted).unwrap()
        ),
    });
    lines.join("\n")
}

#[test]
fn exchanges() {
    for fixture in &FIXTURES {
        insta::assert_snapshot!(fixture.name.replace(['/', '.'], "-"), shown(&read(fixture)));
    }
}

#[test]
fn a_stream_and_a_body_say_the_same() {
    let body = named("openai-responses/whole.json").1.unwrap();
    let stream = named("openai-responses/no-pieces.sse").1.unwrap();
    assert_eq!(body, stream);
}

#[test]
fn a_reply_becomes_a_message_that_can_be_sent_back() {
    let reply = named("anthropic/max-tokens-in-a-call.sse").1.unwrap();
    assert_eq!(reply.stop, StopReason::MaxTokens);
    let message = reply.message("message:7");
    let fragment = message.fragments().next().unwrap();
    assert_eq!(&*fragment.key, "message:7.0");
    assert_eq!(
        fragment.text.as_str(),
        r#"{"unreadable_input":"{\"text\": \"ab"}"#
    );
}

#[test]
fn what_was_said_before_the_break_is_kept() {
    let interrupted = named("anthropic/cut-in-a-call.sse").1.unwrap_err();
    assert_eq!(interrupted.failure.kind, FailureKind::Disconnected);
    let message = interrupted.message("message:7").unwrap();
    let texts: Vec<_> = message
        .fragments()
        .map(|fragment| fragment.text.as_str())
        .collect();
    assert_eq!(texts, ["On it."]);
}

#[test]
fn a_stream_that_is_over_is_known_to_be_over() {
    for fixture in FIXTURES
        .iter()
        .filter(|fixture| fixture.name.ends_with("text.sse"))
    {
        let mut decoder = ReplyDecoder::new(fixture.provider);
        let (last, most) = fixture.bytes.split_last().unwrap();
        decoder.push(most);
        assert!(!decoder.is_over(), "{}", fixture.name);
        decoder.push(&[*last]);
        assert!(decoder.is_over(), "{}", fixture.name);
    }
}

#[test]
fn nothing_follows_a_failure() {
    let mut decoder = ReplyDecoder::new(Provider::Anthropic);
    assert!(matches!(
        decoder.push(b"data: {\n\n")[..],
        [ReplyEvent::Failed(_)]
    ));
    assert!(decoder.push(b"data: {\"type\":\"ping\"}\n\n").is_empty());
    assert_eq!(decoder.finish().unwrap_err().failure.kind, FailureKind::Malformed);
}

fn fixtures() -> impl Strategy<Value = &'static Fixture> {
    (0..FIXTURES.len()).prop_map(|at| &FIXTURES[at])
}

proptest! {
    #[test]
    fn chunking_does_not_matter(fixture in fixtures(), sizes in proptest::collection::vec(1..90usize, 1..200)) {
        let mut rest = fixture.bytes;
        let mut chunks = Vec::new();
        for size in sizes {
            let (chunk, left) = rest.split_at(size.min(rest.len()));
            chunks.push(chunk);
            rest = left;
        }
        chunks.push(rest);
        prop_assert_eq!(stream(fixture.provider, &chunks), stream(fixture.provider, &[fixture.bytes]));
    }

    #[test]
    fn damaged_streams_are_read_without_a_panic(
        fixture in fixtures(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        reader in 0..Provider::ALL.len(),
        keep in any::<prop::sample::Index>(),
    ) {
        let mut bytes = fixture.bytes.to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(keep.index(bytes.len()) + 1);
        let provider = Provider::ALL[reader];
        let (events, end) = stream(provider, &[&bytes]);
        let failed = events.iter().filter(|event| matches!(event, ReplyEvent::Failed(_))).count();
        prop_assert!(failed <= 1);
        if failed == 1 {
            prop_assert!(matches!(events.last(), Some(ReplyEvent::Failed(_))));
            prop_assert!(end.is_err());
        }
        let _whole = decode_body(provider, &bytes);
    }

    #[test]
    fn a_prefix_of_a_stream_is_never_a_whole_reply_unless_the_model_had_stopped(
        fixture in fixtures(), keep in any::<prop::sample::Index>(),
    ) {
        let bytes = &fixture.bytes[..keep.index(fixture.bytes.len())];
        let (events, end) = stream(fixture.provider, &[bytes]);
        let stopped = events.iter().any(|event| matches!(event, ReplyEvent::Stop { .. }));
        prop_assert!(stopped || end.is_err());
    }
}
