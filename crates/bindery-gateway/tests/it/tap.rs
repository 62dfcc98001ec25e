//! A wire between two that writes down what is asked.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request as it went over the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Request line and fields, without the empty line.
    head: String,
    /// Its body, without chunks.
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn is_post(&self) -> bool {
        self.head.starts_with("POST")
    }

    /// What has to be the same on both sides: all but what concerns one connection, and how the body is framed.
    pub(crate) fn comparable(&self) -> (String, &[u8]) {
        let own = ["host:", "connection:", "keep-alive:", "transfer-encoding:"];
        let kept = self
            .head
            .lines()
            .filter(|line| !own.iter().any(|name| line.to_ascii_lowercase().starts_with(name)));
        (kept.collect::<Vec<_>>().join("\n"), &self.body)
    }
}

/// The bytes that each connection brought.
type Connections = Arc<Mutex<Vec<Arc<Mutex<Vec<u8>>>>>>;

/// A tap in front of an address.
pub(crate) struct Tap {
    address: SocketAddr,
    seen: Connections,
}

impl Tap {
    pub(crate) async fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Connections = Arc::default();
        let all = seen.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let bytes: Arc<Mutex<Vec<u8>>> = Arc::default();
                all.lock().unwrap().push(bytes.clone());
                tokio::spawn(pass(client, target, bytes));
            }
        });
        Self { address, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What was asked, connection by connection. Clients ask one thing after another, so that this is the order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        let mut all: Vec<Asked> = self
            .seen
            .lock()
            .unwrap()
            .iter()
            .flat_map(|bytes| requests(&bytes.lock().unwrap()))
            .collect();
        // Connections are reused differently on both sides; conversations grow.
        all.sort_by_key(|asked| (asked.body.len(), asked.head.clone()));
        all
    }
}

async fn pass(client: TcpStream, target: SocketAddr, seen: Arc<Mutex<Vec<u8>>>) {
    let Ok(server) = TcpStream::connect(target).await else {
        return;
    };
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let back = tokio::spawn(async move {
        let _over = tokio::io::copy(&mut from_server, &mut to_client).await;
    });
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from_client.read(&mut buffer).await {
        seen.lock().unwrap().extend_from_slice(&buffer[..read]);
        if to_server.write_all(&buffer[..read]).await.is_err() {
            break;
        }
    }
    drop(to_server);
    let _over = back.await;
}

fn requests(mut bytes: &[u8]) -> Vec<Asked> {
    let mut out = Vec::new();
    while let Some(end) = find(bytes, b"\r\n\r\n") {
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        bytes = &bytes[end + 4..];
        let field = |name: &str| {
            let lines = head.lines().filter_map(|line| line.split_once(':'));
            lines
                .into_iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.trim().to_owned())
        };
        let body = if field("transfer-encoding").is_some() {
            let mut body = Vec::new();
            loop {
                let end = find(bytes, b"\r\n").unwrap();
                let length = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
                body.extend_from_slice(&bytes[end + 2..end + 2 + length]);
                bytes = &bytes[end + 4 + length..];
                if length == 0 {
                    break body;
                }
            }
        } else {
            let length = field("content-length").map_or(0, |length| length.parse().unwrap());
            let (body, rest) = bytes.split_at(length);
            bytes = rest;
            body.to_vec()
        };
        out.push(Asked { head, body });
    }
    out
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
