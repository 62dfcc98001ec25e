//! What goes wrong, on either side.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bindery_gateway::{HttpUpstream, Kept, Outcome, Problem};
use bindery_store::{MemoryStore, SqliteOptions, SqliteStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::place::{Place, RawUpstream, read_until, recorded};

const STREAM: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const START: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"usage\":",
    "{\"input_tokens\":3,\"cache_read_input_tokens\":4,\"output_tokens\":1}}}\n\n",
);

fn post(place: &Place, body: &str) -> String {
    format!(
        "POST /v1/messages HTTP/1.1\r\nHost: {}\r\nUser-Agent: test/1\r\nContent-Length: {}\r\n\r\n{body}",
        place.address,
        body.len()
    )
}

fn request(text: &str) -> String {
    format!(r#"{{"model":"claude-opus-5","messages":[{{"role":"user","content":"{text}"}}]}}"#)
}

fn chunk(text: &str) -> String {
    format!("{:X}\r\n{text}\r\n", text.len())
}

#[tokio::test]
async fn a_client_that_goes_away_frees_the_upstream_and_is_recorded() {
    let upstream = RawUpstream::start().await;
    let mut place = Place::to(&upstream.url()).await;
    let mut client = place.connect().await;
    let body = request("x");
    client.write_all(post(&place, &body).as_bytes()).await.unwrap();
    let mut there = upstream.accept().await;
    read_until(&mut there, &body).await;
    there.write_all(STREAM).await.unwrap();
    there.write_all(chunk(START).as_bytes()).await.unwrap();
    read_until(&mut client, "\n\n\r\n").await;
    drop(client);
    let mut rest = Vec::new();
    // The upstream's connection ends: it need not go on.
    let _reset_or_closed = there.read_to_end(&mut rest).await;
    let summary = place.summary().await;
    assert_eq!(summary.outcome, Outcome::ClientGone);
    assert_eq!(summary.usage.unwrap().read, 4);
    let logs = recorded(&*place.store);
    let ended = logs[0].1[0].ended.as_ref().unwrap();
    assert_eq!(serde_json::to_value(&ended.outcome).unwrap(), "client_gone");
}

#[tokio::test]
async fn a_client_that_goes_away_before_the_answer_frees_the_upstream() {
    let upstream = RawUpstream::start().await;
    let mut place = Place::to(&upstream.url()).await;
    let mut client = place.connect().await;
    let body = request("x");
    client.write_all(post(&place, &body).as_bytes()).await.unwrap();
    let mut there = upstream.accept().await;
    read_until(&mut there, &body).await;
    drop(client);
    let mut rest = Vec::new();
    let _reset_or_closed = there.read_to_end(&mut rest).await;
    let summary = place.summary().await;
    assert_eq!((summary.outcome, summary.status), (Outcome::ClientGone, None));
}

#[tokio::test]
async fn an_answer_that_breaks_off_breaks_off_for_the_client_too() {
    let upstream = RawUpstream::start().await;
    let mut place = Place::to(&upstream.url()).await;
    let mut client = place.connect().await;
    let body = request("x");
    client.write_all(post(&place, &body).as_bytes()).await.unwrap();
    let mut there = upstream.accept().await;
    read_until(&mut there, &body).await;
    there.write_all(STREAM).await.unwrap();
    there.write_all(chunk(START).as_bytes()).await.unwrap();
    drop(there);
    let mut arrived = String::new();
    // A clean end would tell the client that this is all.
    let _broken = client.read_to_string(&mut arrived).await;
    assert!(arrived.ends_with(&chunk(START)), "{arrived}");
    let summary = place.summary().await;
    let Outcome::Failed(message) = summary.outcome else {
        panic!("{:?}", summary.outcome);
    };
    assert!(
        message.starts_with("the upstream's answer broke off"),
        "{message}"
    );
    assert_eq!(summary.usage.unwrap().uncached, 3);
}

#[tokio::test]
async fn an_upstream_that_is_not_there_is_an_error_of_the_protocol() {
    let upstream = RawUpstream::start().await;
    let url = upstream.url();
    drop(upstream);
    let mut place = Place::to(&url).await;
    let answer = place.post("/v1/messages", "", &request("x")).await;
    assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{answer}");
    assert!(
        answer.contains(r#"{"type":"error","error":{"type":"api_error","message":"bindery gateway: http://"#),
        "{answer}"
    );
    let answer = place
        .post("/v1/responses", "", r#"{"model":"gpt-5.5","input":"x"}"#)
        .await;
    assert!(
        answer.contains(r#"{"error":{"message":"bindery gateway: "#),
        "{answer}"
    );
    assert!(
        matches!(place.summary().await.outcome, Outcome::Failed(message) if message.contains("cannot be reached"))
    );
}

#[tokio::test]
async fn what_providers_say_of_keys_is_not_kept() {
    let upstream = RawUpstream::start().await;
    let mut place = Place::to(&upstream.url()).await;
    let mut client = place.connect().await;
    let body = request("sk-ant-made-up-0123456789");
    let sent = post(&place, &body).replace(
        "User-Agent",
        "Authorization: Bearer sk-ant-made-up-0123456789\r\nUser-Agent",
    );
    client.write_all(sent.as_bytes()).await.unwrap();
    let mut there = upstream.accept().await;
    read_until(&mut there, &body).await;
    let said = r#"{"type":"error","error":{"type":"authentication_error","message":"wrong key sk-ant-made-up-0123456789 (sk-ant-ma***89)"}}"#;
    let answer = format!(
        "HTTP/1.1 401 Unauthorized\r\nset-cookie: a=made-up-cookie-1\r\ncontent-length: {}\r\n\r\n{said}",
        said.len()
    );
    there.write_all(answer.as_bytes()).await.unwrap();
    assert_eq!(read_until(&mut client, "}}").await, answer);
    let summary = place.summary().await;
    assert_eq!(summary.status, Some(401));
    let kept = format!("{summary:?} {:?}", recorded(&*place.store));
    assert!(!kept.contains("made-up") && !kept.contains("sk-ant-ma"), "{kept}");
    assert!(kept.contains("wrong key [secret] ([secret])"), "{kept}");
    let exchange = &recorded(&*place.store)[0].1[0];
    assert_eq!(&*exchange.body, request("[secret]").as_bytes());
    assert_eq!(exchange.started.unknown.len(), 1);
}

#[tokio::test]
async fn fifty_megabytes_pass_and_are_recorded() {
    let upstream = RawUpstream::start().await;
    let mut place = Place::to(&upstream.url()).await;
    let body = request(&"x".repeat(50 * 1024 * 1024));
    let (mut client, length) = (place.connect().await, body.len());
    let sent = post(&place, &body);
    let writing = tokio::spawn(async move {
        client.write_all(sent.as_bytes()).await.unwrap();
        client
    });
    let mut there = upstream.accept().await;
    read_until(&mut there, "\r\n\r\n").await;
    let mut arrived = vec![0; length];
    there.read_exact(&mut arrived).await.unwrap();
    assert!(arrived == body.as_bytes());
    there
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        .await
        .unwrap();
    read_until(&mut writing.await.unwrap(), "{}").await;
    let summary = place.summary().await;
    assert!(matches!(summary.kept, Kept::Logged(_)), "{:?}", summary.kept);
    assert!(*recorded(&*place.store)[0].1[0].body == *body.as_bytes());
}

#[tokio::test]
async fn a_slow_reader_slows_the_upstream_and_fills_no_memory() {
    const ALL: usize = 96 * 1024 * 1024;
    /// What two hops' socket buffers and the gateway's own may hold.
    const BETWEEN: usize = 24 * 1024 * 1024;
    let upstream = RawUpstream::start().await;
    let to = HttpUpstream::new(&upstream.url()).unwrap();
    // Copies have no room: the answer passes all the same.
    let mut place = Place::with(to, Arc::new(MemoryStore::default()), |options| {
        options.copies = 1024 * 1024;
    })
    .await;
    let mut client = place.connect().await;
    let body = request("x");
    client.write_all(post(&place, &body).as_bytes()).await.unwrap();
    let mut there = upstream.accept().await;
    read_until(&mut there, &body).await;
    let written = Arc::new(AtomicUsize::new(0));
    let counter = written.clone();
    let writing = tokio::spawn(async move {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {ALL}\r\n\r\n");
        there.write_all(head.as_bytes()).await.unwrap();
        let piece = vec![b'x'; 64 * 1024];
        for _ in 0..ALL / piece.len() {
            there.write_all(&piece).await.unwrap();
            counter.fetch_add(piece.len(), Ordering::Relaxed);
        }
    });
    read_until(&mut client, "\r\n\r\n").await;
    let (mut read, mut buffer) = (0, vec![0; 16 * 1024]);
    while read < ALL {
        let more = client.read(&mut buffer).await.unwrap();
        read += more;
        let held = written.load(Ordering::Relaxed).saturating_sub(read);
        assert!(held <= BETWEEN, "{held} bytes are on their way");
    }
    writing.await.unwrap();
    let summary = place.summary().await;
    assert_eq!(summary.outcome, Outcome::Answered);
    assert!(
        summary.notes.iter().any(|note| note.contains("no room")),
        "{:?}",
        summary.notes
    );
}

/// One request on connections that stay open, answered with an empty object.
async fn exchange(
    place: &Place,
    client: &mut TcpStream,
    upstream: &RawUpstream,
    there: &mut Option<TcpStream>,
    body: &str,
) {
    client.write_all(post(place, body).as_bytes()).await.unwrap();
    if there.is_none() {
        *there = Some(upstream.accept().await);
    }
    let there = there.as_mut().unwrap();
    read_until(there, body).await;
    there
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        .await
        .unwrap();
    read_until(client, "{}").await;
}

#[tokio::test]
async fn what_passes_unseen_is_counted_and_told() {
    let upstream = RawUpstream::start().await;
    let to = HttpUpstream::new(&upstream.url()).unwrap();
    let mut place = Place::with(to, Arc::new(MemoryStore::default()), |options| {
        options.copies = 0;
    })
    .await;
    let mut client = place.connect().await;
    let mut there = None;
    for _ in 0..3 {
        exchange(&place, &mut client, &upstream, &mut there, &request("x")).await;
    }
    drop(client);
    place.ask_to_stop();
    assert_eq!(place.problem().await, Problem::Missed { exchanges: 3 });
    assert!(recorded(&*place.ended().await).is_empty());
}

#[tokio::test]
async fn a_full_disk_loses_records_and_no_request() {
    let scratch = tempfile::tempdir().unwrap();
    let options = SqliteOptions {
        most_pages: Some(12),
        ..SqliteOptions::default()
    };
    let store = Arc::new(SqliteStore::new(scratch.path()).with_options(options));
    let upstream = RawUpstream::start().await;
    let to = HttpUpstream::new(&upstream.url()).unwrap();
    let mut place = Place::with(to, store, |_| {}).await;
    let mut client = place.connect().await;
    let mut there = None;
    let mut fates = Vec::new();
    for round in 0..6 {
        // Different enough that each is written whole, and all do not fit.
        let body = request(&format!("{round}").repeat(12_000));
        exchange(&place, &mut client, &upstream, &mut there, &body).await;
        fates.push(matches!(place.summary().await.kept, Kept::Logged(_)));
    }
    assert_eq!(
        (fates.first(), fates.last()),
        (Some(&true), Some(&false)),
        "{fates:?}"
    );
    assert!(matches!(place.problem().await, Problem::Log { cause } if cause.contains("no room")));
    let logs = recorded(&*place.store);
    assert_eq!(logs[0].1.len(), fates.iter().filter(|kept| **kept).count());
}

#[tokio::test]
async fn a_gateway_that_is_told_to_stop_lets_answers_end_and_takes_no_more() {
    let upstream = RawUpstream::start().await;
    let mut place = Place::to(&upstream.url()).await;
    let mut client = place.connect().await;
    let body = request("x");
    client.write_all(post(&place, &body).as_bytes()).await.unwrap();
    let mut there = upstream.accept().await;
    read_until(&mut there, &body).await;
    there.write_all(STREAM).await.unwrap();
    read_until(&mut client, "\r\n\r\n").await;
    place.ask_to_stop();
    // When connections are refused, the stop has been noticed.
    while tokio::net::TcpStream::connect(place.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    there.write_all(chunk(START).as_bytes()).await.unwrap();
    there.write_all(b"0\r\n\r\n").await.unwrap();
    let mut arrived = String::new();
    client.read_to_string(&mut arrived).await.unwrap();
    assert_eq!(arrived, format!("{}0\r\n\r\n", chunk(START)));
    assert_eq!(place.summary().await.outcome, Outcome::Answered);
    let store = place.ended().await;
    assert!(recorded(&*store)[0].1[0].ended.is_some());
}

#[tokio::test]
async fn a_gateway_that_is_to_stop_at_once_breaks_off_and_writes_what_it_knows() {
    let upstream = RawUpstream::start().await;
    let mut place = Place::to(&upstream.url()).await;
    let mut client = place.connect().await;
    let body = request("x");
    client.write_all(post(&place, &body).as_bytes()).await.unwrap();
    let mut there = upstream.accept().await;
    read_until(&mut there, &body).await;
    there.write_all(STREAM).await.unwrap();
    read_until(&mut client, "\r\n\r\n").await;
    place.ask_to_stop();
    place.end_at_once();
    assert_eq!(place.summary().await.outcome, Outcome::Stopped);
    let store = place.ended().await;
    let logs = recorded(&*store);
    let ended = logs[0].1[0].ended.as_ref().unwrap();
    assert_eq!(serde_json::to_value(&ended.outcome).unwrap(), "interrupted");
}
