//! What passes is not changed.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::place::{Place, RawUpstream, read_until, recorded};

const BODY: &str = r#"{ "model":"claude-opus-5",  "messages":[{"role":"user","content":"héllo"}] }"#;

#[tokio::test]
async fn bytes_upstream_are_the_client_s_and_bytes_back_are_the_provider_s() {
    let upstream = RawUpstream::start().await;
    let mut place = Place::to(&upstream.url()).await;
    let mut client = place.connect().await;
    let length = BODY.len();
    let sent = format!(
        "POST /v1/messages?beta=true HTTP/1.1\r\nHost: {}\r\nX-Stainless-OS: Linux\r\nconnection: keep-alive\r\n\
         anthropic-Version: 2023-06-01\r\nX-API-Key: sk-made-up-0123456789\r\nAccept-Encoding: br, gzip\r\n\
         Content-Length: {length}\r\n\r\n{BODY}",
        place.address
    );
    client.write_all(sent.as_bytes()).await.unwrap();
    let mut there = upstream.accept().await;
    let arrived = read_until(&mut there, BODY).await;
    let expected = sent
        .replace(
            &place.address.to_string(),
            upstream.url().strip_prefix("http://").unwrap(),
        )
        .replace("connection: keep-alive\r\n", "");
    assert_eq!(arrived, expected);

    let answer = "HTTP/1.1 200 Quite Fine\r\nX-B: 2\r\nDate: Mon\r\nContent-Type: application/json\r\nx-A: 1\r\n\
                  Request-Id: req_1\r\nContent-Length: 2\r\n\r\n{}";
    there.write_all(answer.as_bytes()).await.unwrap();
    assert_eq!(read_until(&mut client, "{}").await, answer);

    let summary = place.summary().await;
    assert_eq!(
        (summary.status, summary.path.as_str()),
        (Some(200), "/v1/messages?beta=true")
    );
    let logs = recorded(&*place.store);
    let exchange = &logs[0].1[0];
    assert_eq!(&*exchange.body, BODY.as_bytes());
    let ended = exchange.ended.as_ref().unwrap();
    assert_eq!(ended.request_id.as_deref(), Some("req_1"));
    assert!(!format!("{exchange:?}").contains("made-up"));
}

#[tokio::test]
async fn events_arrive_one_by_one_even_where_a_character_is_cut() {
    let upstream = RawUpstream::start().await;
    let mut place = Place::to(&upstream.url()).await;
    let mut client = place.connect().await;
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n",
        place.address,
        BODY.len()
    );
    client.write_all(head.as_bytes()).await.unwrap();
    client.write_all(BODY.as_bytes()).await.unwrap();
    let mut there = upstream.accept().await;
    read_until(&mut there, BODY).await;
    there
        .write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        )
        .await
        .unwrap();
    read_until(&mut client, "\r\n\r\n").await;
    // Each piece is only sent when the one before has arrived: nothing is held back.
    let text = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"usage\":",
        "{\"input_tokens\":3,\"cache_read_input_tokens\":4,\"output_tokens\":1}}}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,",
        "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,",
        "\"delta\":{\"type\":\"text_delta\",\"text\":\"é漢\"}}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},",
        "\"usage\":{\"output_tokens\":7}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );
    for piece in text.as_bytes().chunks(61) {
        let chunk = [format!("{:X}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
        there.write_all(&chunk).await.unwrap();
        let mut arrived = vec![0; chunk.len()];
        client.read_exact(&mut arrived).await.unwrap();
        assert_eq!(arrived, chunk);
    }
    there.write_all(b"0\r\n\r\n").await.unwrap();
    read_until(&mut client, "0\r\n\r\n").await;
    let usage = place.summary().await.usage.unwrap();
    assert_eq!((usage.uncached, usage.read, usage.output), (3, 4, 7));
}

#[tokio::test]
async fn a_compressed_answer_passes_as_it_is_and_is_read_from_a_copy() {
    use std::io::Write as _;
    let body = r#"{"id":"msg_1","type":"message","content":[],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":2}}"#;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(body.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let upstream = RawUpstream::start().await;
    let mut place = Place::to(&upstream.url()).await;
    let mut client = place.connect().await;
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: x.localhost\r\nHost: {}\r\nContent-Length: 2\r\n\r\n{{}}",
        place.address
    );
    client
        .write_all(head.replace("Host: x.localhost\r\n", "").as_bytes())
        .await
        .unwrap();
    let mut there = upstream.accept().await;
    read_until(&mut there, "{}").await;
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        gzip.len()
    );
    there.write_all(head.as_bytes()).await.unwrap();
    there.write_all(&gzip).await.unwrap();
    assert_eq!(read_until(&mut client, "\r\n\r\n").await, head);
    let mut arrived = vec![0; gzip.len()];
    client.read_exact(&mut arrived).await.unwrap();
    assert_eq!(arrived, gzip);
    let usage = place.summary().await.usage.unwrap();
    assert_eq!((usage.uncached, usage.output), (5, 2));
}

#[tokio::test]
async fn a_connection_serves_many_requests_and_expectations_are_met() {
    let upstream = RawUpstream::start().await;
    let place = Place::to(&upstream.url()).await;
    let mut client = place.connect().await;
    let mut there = None;
    for round in 0..3 {
        let head = format!(
            "POST /v1/messages HTTP/1.1\r\nHost: {}\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
            place.address
        );
        client.write_all(head.as_bytes()).await.unwrap();
        // The upstream has the head and waits for the body, which the client holds back.
        if there.is_none() {
            there = Some(upstream.accept().await);
        }
        let there = there.as_mut().unwrap();
        assert_eq!(
            read_until(&mut client, "\r\n\r\n").await,
            "HTTP/1.1 100 Continue\r\n\r\n",
            "{round}"
        );
        client.write_all(b"{}").await.unwrap();
        let arrived = read_until(there, "{}").await;
        assert!(!arrived.contains("Expect"), "{arrived}");
        there
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc")
            .await
            .unwrap();
        read_until(&mut client, "abc").await;
    }
}

#[tokio::test]
async fn what_is_not_known_passes_through_unread() {
    let upstream = RawUpstream::start().await;
    let mut place = Place::to(&format!("{}/base", upstream.url())).await;
    let mut client = place.connect().await;
    let head = format!(
        "PUT /v1/files/x?a=b HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        place.address
    );
    client.write_all(head.as_bytes()).await.unwrap();
    let mut there = upstream.accept().await;
    let arrived = read_until(&mut there, "0\r\n\r\n").await;
    assert!(
        arrived.starts_with("PUT /base/v1/files/x?a=b HTTP/1.1\r\n"),
        "{arrived}"
    );
    there.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
    assert_eq!(
        read_until(&mut client, "\r\n\r\n").await,
        "HTTP/1.1 204 No Content\r\n\r\n"
    );
    let summary = place.summary().await;
    assert_eq!(summary.kept, bindery_gateway::Kept::PassedThrough);
    assert_eq!(summary.outcome, bindery_gateway::Outcome::Answered);
    assert!(place.store.list().unwrap().sessions.is_empty());
}
