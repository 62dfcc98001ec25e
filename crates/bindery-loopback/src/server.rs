//! The server: real HTTP on loopback.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::{Piece, Reply};

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The connection it came by, counted from 0.
    pub connection: usize,
    /// The method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

impl Received {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

#[derive(Default)]
struct Script {
    replies: VecDeque<Reply>,
    received: Vec<Received>,
}

/// A server on a free port of loopback. It stops when dropped. A request for which nothing is queued
/// gets status 599.
pub struct Server {
    address: SocketAddr,
    script: Arc<Mutex<Script>>,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Starts with these replies queued.
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let script = Arc::new(Mutex::new(Script {
            replies: replies.into_iter().collect(),
            received: Vec::new(),
        }));
        let accepting = tokio::spawn(accept(listener, script.clone()));
        Ok(Self {
            address,
            script,
            accepting,
        })
    }

    /// The base URL, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Queues one more reply.
    pub fn queue(&self, reply: Reply) {
        lock(&self.script).replies.push_back(reply);
    }

    /// What came so far.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.script).received.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn lock(script: &Mutex<Script>) -> std::sync::MutexGuard<'_, Script> {
    script.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Connections end with the task that accepts them.
async fn accept(listener: TcpListener, script: Arc<Mutex<Script>>) {
    let mut connections = tokio::task::JoinSet::new();
    let mut number = 0;
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(serve(stream, number, script.clone()));
        number += 1;
    }
}

async fn serve(stream: TcpStream, number: usize, script: Arc<Mutex<Script>>) {
    let service = service_fn(|request| answer(request, number, script.clone()));
    // A connection that breaks is what some scripts ask for.
    let _broken = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn answer(
    request: Request<Incoming>,
    connection: usize,
    script: Arc<Mutex<Script>>,
) -> Result<Response<Pieces>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let headers = head.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    let received = Received {
        connection,
        method: head.method.to_string(),
        path: head.uri.to_string(),
        headers: headers.collect(),
        body,
    };
    let reply = {
        let mut script = lock(&script);
        script.received.push(received);
        script.replies.pop_front()
    };
    let reply =
        reply.unwrap_or_else(|| Reply::raw(599, "text/plain", "the script of the test server is over"));
    let mut response = Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    let pieces = Pieces {
        pieces: reply.pieces.into(),
        breathed: false,
    };
    Ok(response
        .body(pieces)
        .unwrap_or_else(|_| Response::new(Pieces::default())))
}

/// A body that gives the runtime a turn before each piece, so that each is flushed by itself.
#[derive(Default)]
struct Pieces {
    pieces: VecDeque<Piece>,
    breathed: bool,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.breathed = !self.breathed;
        if self.breathed {
            task.waker().wake_by_ref();
            return Poll::Pending;
        }
        match self.pieces.front() {
            Some(Piece::Hang) => Poll::Pending,
            _ => Poll::Ready(match self.pieces.pop_front() {
                Some(Piece::Bytes(bytes)) => Some(Ok(Frame::data(bytes))),
                Some(Piece::Disconnect) => Some(Err(io::ErrorKind::ConnectionReset.into())),
                Some(Piece::Hang) | None => None,
            }),
        }
    }
}
