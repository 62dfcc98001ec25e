//! What the log holds.

use bindery_gateway::{GatewayError, GatewayOptions, HttpUpstream, Kept, Routes};
use bindery_loopback::{Protocol, Reply, Say, Server};

use crate::place::{Place, clock, recorded};

fn said() -> [Say; 1] {
    [Say::text("yes")]
}

#[tokio::test]
async fn every_protocol_is_recorded_with_what_it_cost() {
    let server = Server::start([]).await.unwrap();
    let mut place = Place::to(&server.url()).await;
    for protocol in Protocol::ALL {
        for stream in [false, true] {
            server.queue(if stream {
                Reply::stream(protocol, &said()).split_every(7)
            } else {
                Reply::whole(protocol, &said())
            });
            let model = match protocol {
                Protocol::Anthropic => "claude-opus-5",
                Protocol::Deepseek => "deepseek-flash",
                _ => "gpt-5.5",
            };
            let body = format!(
                r#"{{"model":"{model}","stream":{stream},"messages":[{{"role":"user","content":"x"}}],"input":"x"}}"#
            );
            place.post(protocol.path(), "User-Agent: t/1\r\n", &body).await;
            let usage = place.summary().await.usage.unwrap();
            assert_eq!(
                (usage.uncached, usage.read, usage.output),
                (60, 40, 7),
                "{protocol:?} {stream}"
            );
            assert_eq!(server.received().last().unwrap().body, body);
        }
    }
    let logs = recorded(&*place.store);
    let formats: Vec<&str> = logs[0]
        .1
        .iter()
        .map(|exchange| &*exchange.started.format)
        .collect();
    let expected = ["anthropic", "openai-responses", "openai-chat", "deepseek"].map(|format| [format; 2]);
    assert_eq!(formats, expected.concat());
    for exchange in &logs[0].1 {
        let ended = exchange.ended.as_ref().unwrap();
        assert!(ended.reported.is_some() && ended.response_id.is_some() && ended.began_ms.is_some());
    }
}

#[tokio::test]
async fn agents_at_once_are_told_apart() {
    let answers = (0..8).map(|_| Reply::stream(Protocol::Anthropic, &said()));
    let server = Server::start(answers).await.unwrap();
    let mut place = Place::to(&server.url()).await;
    let ask = |client: &'static str, session: &'static str, text: &'static str| {
        let headers = format!("User-Agent: {client}\r\n{session}");
        let body = format!(
            r#"{{"model":"claude-opus-5","stream":true,"messages":[{{"role":"user","content":"{text}"}}]}}"#
        );
        (headers, body)
    };
    let all = [
        ask("claude-cli/2.1.197 (x)", "X-Claude-Code-Session-Id: s-1\r\n", "a"),
        ask("claude-cli/2.1.197 (x)", "X-Claude-Code-Session-Id: s-2\r\n", "a"),
        ask("codex_exec/0.171.0 (x)", "session-id: s-1\r\n", "a"),
        ask("sdk/1", "", "a"),
        ask("sdk/1", "", "b"),
        ask("sdk/2", "", "a"),
        ask("sdk/1", "", "b"),
        ask("claude-cli/2.1.197 (x)", "X-Claude-Code-Session-Id: s-1\r\n", "b"),
    ];
    let asked = all
        .iter()
        .map(|(headers, body)| place.post("/v1/messages", headers, body));
    let answers = futures_join(asked.collect()).await;
    assert!(answers.iter().all(|answer| answer.contains("message_stop")));
    for _ in &all {
        assert!(matches!(place.summary().await.kept, Kept::Logged(_)));
    }
    let logs: Vec<(String, usize)> = recorded(&*place.store)
        .into_iter()
        .map(|(id, exchanges)| (id, exchanges.len()))
        .collect();
    let expected = [
        ("gw-claude-code-s-1", 2),
        ("gw-claude-code-s-2", 1),
        ("gw-codex-s-1", 1),
        ("gw-sdk-run", 4),
    ];
    assert_eq!(logs, expected.map(|(id, count)| (id.to_owned(), count)));
    let sdk = &recorded(&*place.store)[3].1;
    let mut agents: Vec<&str> = sdk
        .iter()
        .map(|exchange| exchange.started.agent.as_deref().unwrap())
        .collect();
    agents.sort_unstable();
    agents.dedup();
    assert_eq!(
        agents.len(),
        3,
        "two conversations of one program, one of its next version"
    );
}

async fn futures_join<T>(mut futures: Vec<impl Future<Output = T>>) -> Vec<T> {
    let mut pinned: Vec<_> = futures.drain(..).map(Box::pin).collect();
    let mut out: Vec<Option<T>> = pinned.iter().map(|_| None).collect();
    std::future::poll_fn(|task| {
        for (future, out) in pinned.iter_mut().zip(&mut out) {
            if out.is_none()
                && let std::task::Poll::Ready(value) = future.as_mut().poll(task)
            {
                *out = Some(value);
            }
        }
        if out.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    out.into_iter().flatten().collect()
}

#[tokio::test]
async fn counts_are_answers_that_cost_nothing() {
    let reply = Reply::raw(200, "application/json", r#"{"input_tokens":2095}"#);
    let server = Server::start([reply]).await.unwrap();
    let mut place = Place::to(&server.url()).await;
    let body = r#"{"model":"claude-opus-5","messages":[{"role":"user","content":"x"}]}"#;
    place.post("/v1/messages/count_tokens", "", body).await;
    let summary = place.summary().await;
    assert_eq!((summary.counted, summary.usage), (Some(2095), None));
    assert!(summary.why.is_none());
}

#[tokio::test]
async fn other_machines_are_let_in_only_where_somebody_says_so() {
    let routes = || Routes::to(HttpUpstream::new("http://127.0.0.1:9").unwrap());
    let recording = || bindery_gateway::Recording::new(Silent).unwrap();
    let options = GatewayOptions::new("0.0.0.0:0".parse().unwrap(), clock());
    let refused = bindery_gateway::Gateway::bind(options.clone(), routes(), recording()).await;
    assert!(matches!(refused.err().unwrap(), GatewayError::Exposed(_)));
    let exposed = GatewayOptions {
        exposed: true,
        ..options
    };
    assert!(
        bindery_gateway::Gateway::bind(exposed, routes(), recording())
            .await
            .is_ok()
    );
}

struct Silent;

impl bindery_gateway::Observer for Silent {
    fn seen(&mut self, _: &bindery_gateway::Summary) {}
    fn problem(&mut self, _: &bindery_gateway::Problem) {}
}

#[tokio::test]
async fn what_is_not_let_in_is_told_and_not_kept() {
    let server = Server::start([]).await.unwrap();
    let mut place = Place::to(&server.url()).await;
    let body = r#"{"model":"claude-opus-5","messages":[{"role":"user","content":"x"}]}"#;
    let answer = place
        .post("/v1/messages", "Origin: https://page.example\r\n", body)
        .await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    let summary = place.summary().await;
    assert!(matches!(summary.outcome, bindery_gateway::Outcome::Refused(_)));
    assert_eq!((summary.status, summary.kept), (Some(403), Kept::NotAsked));
    assert!(server.received().is_empty() && place.store.list().unwrap().sessions.is_empty());
}
