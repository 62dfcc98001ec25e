//! What the server does with one request.

use bytes::Bytes;

use crate::{Protocol, Say};

/// A piece of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Bytes, flushed before the next piece.
    Bytes(Bytes),
    /// The connection breaks here.
    Disconnect,
    /// Nothing more comes, and the connection stays open for as long as the server lives.
    Hang,
}

/// A scripted reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) pieces: Vec<Piece>,
}

fn pieces(text: impl AsRef<[u8]>) -> Vec<Piece> {
    vec![Piece::Bytes(Bytes::copy_from_slice(text.as_ref()))]
}

impl Reply {
    fn new(status: u16, content_type: &str, pieces: Vec<Piece>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            pieces,
        }
    }

    /// A stream that says this, an event a piece.
    pub fn stream(protocol: Protocol, said: &[Say]) -> Self {
        let events = protocol.stream(said).into_iter();
        let pieces = events.map(|event| Piece::Bytes(event.into())).collect();
        Self::new(200, "text/event-stream; charset=utf-8", pieces)
    }

    /// A body that says this.
    pub fn whole(protocol: Protocol, said: &[Say]) -> Self {
        Self::new(200, "application/json", pieces(protocol.whole(said)))
    }

    /// An error of this status and kind, in the protocol's own shape.
    pub fn error(protocol: Protocol, status: u16, kind: &str, message: &str) -> Self {
        let (body, _) = protocol.error(kind, message);
        Self::new(status, "application/json", pieces(body))
    }

    /// Exactly these bytes.
    pub fn raw(status: u16, content_type: &str, body: &str) -> Self {
        Self::new(status, content_type, pieces(body))
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends the body in pieces of this many bytes, so that characters are split as well.
    #[must_use]
    pub fn split_every(mut self, bytes: usize) -> Self {
        let split = |piece: Piece| match piece {
            Piece::Bytes(whole) => whole
                .chunks(bytes.max(1))
                .map(|chunk| Piece::Bytes(Bytes::copy_from_slice(chunk)))
                .collect(),
            other => vec![other],
        };
        self.pieces = self.pieces.into_iter().flat_map(split).collect();
        self
    }

    /// Puts a comment before every event, as servers do that want the connection kept.
    #[must_use]
    pub fn with_keep_alives(mut self) -> Self {
        let comment = Piece::Bytes(Bytes::from_static(b": keep-alive\n\n"));
        self.pieces = self
            .pieces
            .into_iter()
            .flat_map(|piece| [comment.clone(), piece])
            .collect();
        self
    }

    /// Keeps this many pieces, then goes on with these.
    #[must_use]
    pub fn then(mut self, keep: usize, rest: impl IntoIterator<Item = Piece>) -> Self {
        self.pieces.truncate(keep);
        self.pieces.extend(rest);
        self
    }

    /// Keeps this many events, then sends an error within the stream.
    #[must_use]
    pub fn error_after(self, keep: usize, protocol: Protocol, kind: &str, message: &str) -> Self {
        let (_, event) = protocol.error(kind, message);
        self.then(keep, [Piece::Bytes(event.into())])
    }
}
