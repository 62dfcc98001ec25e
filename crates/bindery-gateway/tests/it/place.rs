//! A gateway between a client that writes bytes and an upstream that is scripted byte by byte.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bindery_core::log::{RecordedExchange, Recording as Reading, Seq};
use bindery_gateway::{
    Clock, Gateway, GatewayOptions, HttpUpstream, Observer, Problem, Recording, Routes, Summary, Upstream,
};
use bindery_store::{MemoryStore, Store, events};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// What the gateway tells.
pub(crate) struct Told {
    summaries: mpsc::UnboundedReceiver<Summary>,
    problems: mpsc::UnboundedReceiver<Problem>,
}

struct Teller {
    summaries: mpsc::UnboundedSender<Summary>,
    problems: mpsc::UnboundedSender<Problem>,
}

impl Observer for Teller {
    fn seen(&mut self, summary: &Summary) {
        self.summaries.send(summary.clone()).unwrap_or_default();
    }

    fn problem(&mut self, problem: &Problem) {
        self.problems.send(problem.clone()).unwrap_or_default();
    }
}

/// A gateway that runs.
pub(crate) struct Place {
    pub(crate) address: SocketAddr,
    pub(crate) store: Arc<dyn Store>,
    told: Told,
    stop: Option<oneshot::Sender<()>>,
    now: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
}

/// A clock that goes three seconds at each look: nothing here depends on real time, and what is built in seconds
/// is built.
pub(crate) fn clock() -> Clock {
    let at = Mutex::new(1_000_000_u64);
    Arc::new(move || {
        let mut at = at.lock().unwrap();
        *at += 3_000;
        *at
    })
}

impl Place {
    /// In front of this address.
    pub(crate) async fn to(upstream: &str) -> Self {
        Self::with(
            HttpUpstream::new(upstream).unwrap(),
            Arc::new(MemoryStore::default()),
            |_| {},
        )
        .await
    }

    pub(crate) async fn with(
        upstream: impl Upstream,
        store: Arc<dyn Store>,
        set: impl FnOnce(&mut GatewayOptions),
    ) -> Self {
        let (summaries, told) = mpsc::unbounded_channel();
        let (problems, problems_told) = mpsc::unbounded_channel();
        let recording = Recording::new(Teller { summaries, problems }).unwrap();
        let recording = recording.keep(store.clone(), "gateway-test/1", "run");
        let mut options = GatewayOptions::new("127.0.0.1:0".parse().unwrap(), clock());
        set(&mut options);
        let gateway = Gateway::bind(options, Routes::to(upstream), recording)
            .await
            .unwrap();
        let address = gateway.address();
        let (stop, stopped) = oneshot::channel();
        let (now, at_once) = oneshot::channel();
        let running = tokio::spawn(gateway.run(async { drop(stopped.await) }, async { drop(at_once.await) }));
        Self {
            address,
            store,
            told: Told {
                summaries: told,
                problems: problems_told,
            },
            stop: Some(stop),
            now: Some(now),
            running,
        }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// The next exchange that is over.
    pub(crate) async fn summary(&mut self) -> Summary {
        self.told.summaries.recv().await.unwrap()
    }

    pub(crate) async fn problem(&mut self) -> Problem {
        self.told.problems.recv().await.unwrap()
    }

    /// Asks it to stop; what is under way may come to its end.
    pub(crate) fn ask_to_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    pub(crate) fn end_at_once(&mut self) {
        self.now.take().unwrap().send(()).unwrap();
    }

    /// Waits for the end.
    pub(crate) async fn ended(mut self) -> Arc<dyn Store> {
        // Whoever was asked before is asked once.
        drop(self.stop.take());
        let kept = self.now.take();
        self.running.await.unwrap();
        drop(kept);
        self.store
    }

    /// A `POST` with this body, on a connection of its own: status line, headers and body of the answer.
    pub(crate) async fn post(&self, path: &str, headers: &str, body: &str) -> String {
        let mut stream = self.connect().await;
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8(answer).unwrap()
    }
}

/// The exchanges of every session, by session id.
pub(crate) fn recorded(store: &dyn Store) -> Vec<(String, Vec<RecordedExchange>)> {
    let sessions = store.list().unwrap().sessions;
    let read = |id| {
        let log = store.read(id).unwrap();
        let mut reading = Reading::default();
        let mut out = Vec::new();
        for event in events(&*log, Seq::FIRST) {
            out.extend(reading.follow(&event.unwrap()).unwrap());
        }
        out.extend(reading.finish());
        out
    };
    sessions
        .iter()
        .map(|info| (info.id.to_string(), read(&info.id)))
        .collect()
}

/// An upstream of bytes.
pub(crate) struct RawUpstream(TcpListener);

impl RawUpstream {
    pub(crate) async fn start() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.0.local_addr().unwrap())
    }

    pub(crate) async fn accept(&self) -> TcpStream {
        self.0.accept().await.unwrap().0
    }
}

/// Reads until the bytes end with this.
pub(crate) async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut read = Vec::new();
    while !read.ends_with(end.as_bytes()) {
        let mut byte = [0];
        assert_eq!(
            stream.read(&mut byte).await.unwrap(),
            1,
            "{}",
            String::from_utf8_lossy(&read)
        );
        read.push(byte[0]);
    }
    String::from_utf8(read).unwrap()
}
