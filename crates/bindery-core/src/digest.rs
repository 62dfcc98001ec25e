//! What a reader needs of a large result, read piece by piece in memory that does not grow with it.
//!
//! The result itself is kept elsewhere, whole; this is what the conversation carries in its place. Lines are
//! told with their numbers, so that any other can be asked for. Errors, failing tests and the last lines
//! are kept before anything else. Nothing is cut inside a character, a JSON token or a terminal sequence.
//! However the bytes are cut into pieces, the digest is the same.

mod clean;
mod diff;
mod json;
mod lines;
mod notable;
mod show;
mod split;

pub use clean::clean;
pub use show::reference;
pub use split::Splitter;

use diff::DiffDigest;
use json::JsonDigest;
use lines::LineDigest;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most bytes of lines from the beginning.
    pub head: usize,
    /// The most bytes of lines from the end.
    pub tail: usize,
    /// The most bytes of notable lines between.
    pub notable: usize,
    /// The most bytes of one line.
    pub line: usize,
}

impl Bounds {
    /// About `bytes` in all: a quarter from the beginning, a quarter from the end, the rest notable lines.
    pub fn about(bytes: usize) -> Self {
        Self {
            head: bytes / 4,
            tail: bytes / 4,
            notable: bytes / 2,
            line: (bytes / 20).clamp(80, 400),
        }
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self::about(8 * 1024)
    }
}

/// What a result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// One JSON value.
    Json,
    /// A difference of files.
    Diff,
    /// The output of tests.
    Tests,
    /// The output of a program, line by line.
    Log,
    /// Anything else.
    Text,
}

/// A digest that was read to the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digested {
    /// What it is of.
    pub shape: Shape,
    /// How many bytes there were.
    pub bytes: u64,
    /// How many lines there were.
    pub lines: u64,
    /// What is shown, without a head.
    body: String,
    /// What that is, in words.
    shown: String,
}

/// Reads a result.
#[derive(Debug)]
pub struct Digest {
    lines: LineDigest,
    diff: DiffDigest,
    /// While the bytes may be one JSON value.
    json: Option<JsonDigest>,
    /// Whether anything but white space came.
    begun: bool,
    bytes: u64,
}

impl Digest {
    /// A digest with these bounds.
    pub fn new(bounds: Bounds) -> Self {
        Self {
            lines: LineDigest::new(bounds),
            diff: DiffDigest::default(),
            json: Some(JsonDigest::new(bounds)),
            begun: false,
            bytes: 0,
        }
    }

    /// Reads the next piece.
    pub fn push(&mut self, piece: &[u8]) {
        self.bytes = self.bytes.saturating_add(piece.len() as u64);
        if !self.begun
            && let Some(first) = piece.iter().find(|byte| !byte.is_ascii_whitespace())
        {
            self.begun = true;
            if !matches!(first, b'{' | b'[') {
                self.json = None;
            }
        }
        if self.json.as_mut().is_some_and(|json| !json.push(piece)) {
            self.json = None;
        }
        let diff = &mut self.diff;
        self.lines
            .push(piece, &mut |number, line| diff.line(number, line));
    }

    /// The digest of all that came.
    pub fn finish(mut self) -> Digested {
        let diff = &mut self.diff;
        self.lines.end(&mut |number, line| diff.line(number, line));
        let lines = self.lines.count();
        let json = self.json.and_then(JsonDigest::finish);
        let (shape, (body, shown)) = match json {
            Some(body) => (
                Shape::Json,
                (
                    body,
                    "its structure, with the first elements of lists and long texts shortened".to_owned(),
                ),
            ),
            None if self.diff.is_diff() => (Shape::Diff, self.diff.show(self.lines.bounds())),
            None => (self.lines.shape(), self.lines.show()),
        };
        Digested {
            shape,
            bytes: self.bytes,
            lines,
            body,
            shown,
        }
    }
}

/// The digest of a whole text.
pub fn digest(text: &str, bounds: Bounds) -> Digested {
    let mut digest = Digest::new(bounds);
    digest.push(text.as_bytes());
    digest.finish()
}

#[cfg(test)]
mod tests;
