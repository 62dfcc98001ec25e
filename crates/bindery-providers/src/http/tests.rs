//! Requests over real connections to a server on loopback that behaves, and misbehaves.

use bindery_loopback::{Piece, Protocol, Reply as Scripted, Say, Server};
use bindery_wire::{ReplyPart, Retry};
use serde_json::json;

use super::*;
use crate::Timeouts;
use crate::testing::Talk;

const KEY: &str = "sk-made-up-key";

fn protocol(provider: Provider) -> Protocol {
    match provider {
        Provider::Anthropic => Protocol::Anthropic,
        Provider::OpenaiResponses => Protocol::Responses,
        Provider::OpenaiChat => Protocol::Chat,
        Provider::Deepseek => Protocol::Deepseek,
    }
}

fn said() -> Vec<Say> {
    vec![
        Say::Think("Wozu? 🤔".to_owned()),
        Say::Text(vec!["Grüße, ".to_owned(), "日本 🦀".to_owned()]),
        Say::Call {
            id: "c1".to_owned(),
            name: "read".to_owned(),
            input: vec!["{\"path\":\"ä".to_owned(), ".md\"}".to_owned()],
        },
        Say::call("c2", "list", &json!({"path": "."})),
    ]
}

fn model(provider: Provider, server: &Server) -> HttpModel {
    let endpoint = Endpoint::new(&format!("{}/v1", server.url())).unwrap();
    HttpModel::new(provider, endpoint, Secret::new(KEY)).unwrap()
}

async fn send(model: &HttpModel, talk: &Talk) -> Result<Result<Reply, Interrupted>, Failure> {
    let encoded = talk.encode(model.provider());
    let outgoing = Outgoing {
        encoded: &encoded,
        request: talk.request(),
    };
    Ok(model.send(outgoing).await?.reply().await)
}

fn talk() -> Talk {
    Talk::new("m", 10, "hi")
}

/// Asks once; the server has one reply.
async fn once(provider: Provider, reply: Scripted) -> Result<Result<Reply, Interrupted>, Failure> {
    let server = Server::start([reply]).await.unwrap();
    send(&model(provider, &server), &talk()).await
}

fn texts(parts: &[ReplyPart]) -> Vec<String> {
    let text = |part: &ReplyPart| match part {
        ReplyPart::Text { text } => text.clone(),
        ReplyPart::Reasoning { text, .. } => format!("({text})"),
        ReplyPart::ToolCall { id, name, input, .. } => format!("{id} {name} {input}"),
    };
    parts.iter().map(text).collect()
}

fn expected(provider: Provider) -> Vec<String> {
    let all = [
        "(Wozu? 🤔)",
        "Grüße, 日本 🦀",
        "c1 read {\"path\":\"ä.md\"}",
        "c2 list {\"path\":\".\"}",
    ];
    let skip = usize::from(provider == Provider::OpenaiChat);
    all.iter().skip(skip).map(ToString::to_string).collect()
}

#[tokio::test]
async fn every_protocol_is_read_however_it_is_cut() {
    for provider in Provider::ALL {
        let protocol = protocol(provider);
        let stream = || Scripted::stream(protocol, &said());
        let replies = [
            stream(),
            stream().split_every(1),
            stream().with_keep_alives().split_every(7),
            Scripted::whole(protocol, &said()),
        ];
        let server = Server::start(replies).await.unwrap();
        let model = model(provider, &server);
        for _ in 0..4 {
            let reply = send(&model, &talk()).await.unwrap().unwrap();
            assert_eq!(texts(&reply.parts), expected(provider), "{provider}");
            assert_eq!(reply.stop, bindery_wire::StopReason::ToolUse);
            let usage = reply.usage.unwrap();
            assert_eq!(
                (usage.input(), usage.read, usage.generated()),
                (100, 40, 7),
                "{provider}"
            );
        }
    }
}

#[tokio::test]
async fn the_bytes_that_were_encoded_are_the_bytes_that_arrive() {
    for provider in Provider::ALL {
        let server = Server::start([Scripted::stream(protocol(provider), &[Say::text("ok")])])
            .await
            .unwrap();
        let endpoint = Endpoint::new(&server.url())
            .unwrap()
            .header("x-team", "blue")
            .unwrap();
        let endpoint = match provider {
            Provider::Anthropic => endpoint,
            _ => Endpoint::new(&format!("{}/v1/", server.url()))
                .unwrap()
                .header("x-team", "blue")
                .unwrap(),
        };
        let model = HttpModel::new(provider, endpoint, Secret::new(KEY)).unwrap();
        let talk = talk();
        send(&model, &talk).await.unwrap().unwrap();
        let received = server.received().pop().unwrap();
        assert_eq!(received.body, talk.encode(provider).body);
        assert_eq!(received.path, protocol(provider).path());
        assert_eq!(received.header("content-type"), Some("application/json"));
        assert_eq!(received.header("x-team"), Some("blue"));
        let key = match provider {
            Provider::Anthropic => ("x-api-key", KEY.to_owned()),
            _ => ("authorization", format!("Bearer {KEY}")),
        };
        assert_eq!(received.header(key.0), Some(key.1.as_str()));
        assert_eq!(
            received.header("anthropic-version").is_some(),
            provider == Provider::Anthropic
        );
    }
}

#[tokio::test]
async fn refusals_are_typed() {
    let cases = [
        (429, "rate_limit_error", FailureKind::RateLimited),
        (529, "overloaded_error", FailureKind::Overloaded),
        (401, "authentication_error", FailureKind::Auth),
        (400, "context_length_exceeded", FailureKind::ContextTooLong),
        (500, "server_error", FailureKind::Server),
    ];
    for provider in Provider::ALL {
        for (status, kind, expected) in cases {
            let reply = Scripted::error(protocol(provider), status, kind, "no").header("retry-after", "3");
            let failure = once(provider, reply).await.unwrap_err();
            assert_eq!(
                (failure.kind, failure.status),
                (expected, Some(status)),
                "{provider}"
            );
            assert_eq!(failure.retry_after, Some(Duration::from_secs(3)));
        }
    }
}

#[tokio::test]
async fn errors_and_breaks_inside_a_stream_keep_what_was_said() {
    for provider in Provider::ALL {
        let protocol = protocol(provider);
        let stream = || Scripted::stream(protocol, &[Say::text("Half a sentence"), Say::text("x")]);
        let keep = if provider == Provider::Anthropic { 4 } else { 3 };
        let cases = [
            (
                stream().error_after(keep, protocol, "server_error", "died"),
                FailureKind::Server,
            ),
            (
                stream().then(keep, [Piece::Disconnect]),
                FailureKind::Disconnected,
            ),
            (stream().then(keep, []), FailureKind::Disconnected),
        ];
        for (reply, kind) in cases {
            let interrupted = once(provider, reply).await.unwrap().unwrap_err();
            assert_eq!(interrupted.failure.kind, kind, "{provider}: {interrupted}");
            assert_eq!(interrupted.failure.retry(), Retry::After(None));
            let said = texts(&interrupted.parts).concat();
            assert!(
                said.starts_with("Half") || provider != Provider::Anthropic,
                "{provider}: {said}"
            );
        }
    }
}

#[tokio::test]
async fn silence_and_length_have_limits() {
    let short = Duration::from_millis(1);
    let long = Duration::MAX;
    for (idle, total, limit) in [
        (short, long, "nothing came for 1ms"),
        (long, short, "longer than 1ms"),
    ] {
        let server = Server::start([Scripted::raw(200, "text/event-stream", "").then(0, [Piece::Hang])])
            .await
            .unwrap();
        let timeouts = Timeouts {
            connect: Duration::from_hours(1),
            idle,
            total,
        };
        let endpoint = Endpoint::new(&server.url()).unwrap().timeouts(timeouts);
        let model = HttpModel::new(Provider::Anthropic, endpoint, None).unwrap();
        let failure = match send(&model, &talk()).await {
            Err(failure) => failure,
            Ok(reply) => reply.unwrap_err().failure,
        };
        assert_eq!(failure.kind, FailureKind::TimedOut);
        assert!(failure.message.contains(limit), "{failure}");
    }
}

#[tokio::test]
async fn a_key_that_an_error_quotes_is_made_unreadable() {
    let quote = format!("wrong key {KEY}");
    let reply = Scripted::error(Protocol::Chat, 401, "invalid_api_key", &quote);
    let failure = once(Provider::OpenaiChat, reply).await.unwrap_err();
    assert!(!failure.to_string().contains(KEY), "{failure}");
    let stream = Scripted::stream(Protocol::Chat, &[]).error_after(0, Protocol::Chat, "server_error", &quote);
    let server = Server::start([stream]).await.unwrap();
    let (model, talk) = (model(Provider::OpenaiChat, &server), talk());
    let encoded = talk.encode(Provider::OpenaiChat);
    let outgoing = Outgoing {
        encoded: &encoded,
        request: talk.request(),
    };
    let mut exchange = model.send(outgoing).await.unwrap();
    let mut shown = format!("{model:?}");
    while let Some(event) = exchange.next().await {
        shown.push_str(&serde_json::to_string(&event).unwrap());
    }
    shown.push_str(&exchange.finish().unwrap_err().to_string());
    assert_eq!(
        (shown.contains(KEY), shown.matches("wrong key [secret]").count()),
        (false, 2)
    );
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = Server::start([Scripted::raw(307, "text/plain", "").header("location", "/elsewhere")])
        .await
        .unwrap();
    let failure = send(&model(Provider::OpenaiChat, &server), &talk())
        .await
        .unwrap_err();
    assert_eq!((failure.status, server.received().len()), (Some(307), 1));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let endpoint = Endpoint::new("http://127.0.0.1:1").unwrap();
    let model = HttpModel::new(Provider::Anthropic, endpoint, None).unwrap();
    let failure = send(&model, &talk()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unreachable, "{failure}");
    assert!(!failure.message.contains("127.0.0.1:"), "{failure}");
}

#[tokio::test]
async fn a_dropped_exchange_closes_the_connection() {
    let pieces = [Piece::Hang];
    let reply = Scripted::stream(Protocol::Anthropic, &[Say::text("x")]).then(1, pieces);
    let server = Server::start([reply, Scripted::stream(Protocol::Anthropic, &[Say::text("y")])])
        .await
        .unwrap();
    let model = model(Provider::Anthropic, &server);
    let (talk, encoded) = (talk(), talk().encode(Provider::Anthropic));
    let outgoing = Outgoing {
        encoded: &encoded,
        request: talk.request(),
    };
    let mut exchange = model.send(outgoing).await.unwrap();
    assert!(matches!(exchange.next().await, Some(ReplyEvent::Start { .. })));
    drop(exchange);
    let reply = model.send(outgoing).await.unwrap().reply().await.unwrap();
    assert_eq!(reply.text(), "y");
    let connections: Vec<usize> = server
        .received()
        .iter()
        .map(|received| received.connection)
        .collect();
    assert_eq!(connections, [0, 1]);
}

#[tokio::test]
async fn a_connection_is_used_again() {
    for provider in Provider::ALL {
        let protocol = protocol(provider);
        let reply = || Scripted::stream(protocol, &[Say::text("x")]);
        let refusal = Scripted::error(protocol, 529, "overloaded_error", "no");
        let server = Server::start([reply(), refusal, reply()]).await.unwrap();
        let model = model(provider, &server);
        for _ in 0..3 {
            let _ended_or_refused = send(&model, &talk()).await;
        }
        let connections: Vec<usize> = server
            .received()
            .iter()
            .map(|received| received.connection)
            .collect();
        assert_eq!(connections, [0, 0, 0], "{provider}");
    }
}

#[tokio::test]
async fn providers_that_count_are_asked_for_the_input_alone() {
    for (provider, path) in [
        (Provider::Anthropic, "/v1/messages/count_tokens"),
        (Provider::OpenaiResponses, "/v1/responses/input_tokens"),
    ] {
        let counted = Scripted::raw(200, "application/json", r#"{"input_tokens": 41}"#);
        let refused = Scripted::error(protocol(provider), 400, "invalid_request_error", "no such model");
        let nothing = Scripted::raw(200, "application/json", "{}");
        let server = Server::start([counted, refused, nothing]).await.unwrap();
        let model = model(provider, &server);
        let body = talk().encode(provider).body;
        assert_eq!(model.count(&body).await.unwrap(), 41);
        let received = &server.received()[0];
        assert_eq!(received.path, path);
        assert_eq!(received.body, provider.count_body(&body).unwrap());
        assert!(
            model
                .count(&body)
                .await
                .unwrap_err()
                .to_string()
                .contains("no such model")
        );
        assert!(
            model
                .count(&body)
                .await
                .unwrap_err()
                .to_string()
                .contains("holds no count")
        );
    }
    let server = Server::start([]).await.unwrap();
    let failure = model(Provider::Deepseek, &server).count(b"{}").await.unwrap_err();
    assert!(
        failure.to_string().contains("no endpoint that counts tokens"),
        "{failure}"
    );
    assert_eq!(server.received(), []);
}
