//! A decoded text with a way back to the source.

use std::borrow::Cow;
use std::ops::Range;

use crate::finding::Reading;
use crate::view::View;

/// A decoded text. It is not folded yet.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) reading: Reading,
    decoded: Decoded,
}

/// Where decoded text came from. Most payloads say nothing that is worth pointing at, so that the many places of
/// digits are made only when they are asked for.
#[derive(Debug)]
enum Decoded {
    View(View),
    /// Valid UTF-8.
    Digits(Vec<u8>, Digits),
}

/// Digits of so many bits each, which were joined to bytes.
#[derive(Debug)]
pub(super) struct Digits {
    pub(super) width: usize,
    /// Digits before the first that was read.
    pub(super) skip: usize,
    /// Where they stand.
    pub(super) pieces: Vec<Range<usize>>,
}

impl Payload {
    pub(super) const fn new(reading: Reading, view: View) -> Self {
        Self {
            reading,
            decoded: Decoded::View(view),
        }
    }

    /// The bytes that some digits stand for.
    pub(super) fn of_digits(reading: Reading, bytes: Vec<u8>, digits: Digits) -> Self {
        let decoded = match simdutf8::basic::from_utf8(&bytes) {
            Ok(_) => Decoded::Digits(bytes, digits),
            Err(_) => Decoded::View(digits.view(&bytes)),
        };
        Self { reading, decoded }
    }

    /// The decoded text.
    pub(crate) fn text(&self) -> &[u8] {
        match &self.decoded {
            Decoded::View(view) => view.text(),
            Decoded::Digits(bytes, _) => bytes,
        }
    }

    /// The decoded text with its places in the source.
    pub(crate) fn view(&self) -> Cow<'_, View> {
        match &self.decoded {
            Decoded::View(view) => Cow::Borrowed(view),
            Decoded::Digits(bytes, digits) => Cow::Owned(digits.view(bytes)),
        }
    }
}

impl Digits {
    fn view(&self, bytes: &[u8]) -> View {
        view_of(bytes, |at| self.place_of(at))
    }

    /// Where the digits of a byte stand.
    fn place_of(&self, byte: usize) -> Range<usize> {
        let first = self.skip + byte * 8 / self.width;
        let last = self.skip + (byte * 8 + 7) / self.width;
        self.digit(first)..self.digit(last) + 1
    }

    /// Where a digit stands.
    fn digit(&self, mut number: usize) -> usize {
        for piece in &self.pieces {
            if number < piece.len() {
                return piece.start + number;
            }
            number -= piece.len();
        }
        self.pieces.last().map_or(0, |piece| piece.end)
    }
}

/// Decoded bytes, each with its place in the source; what is no UTF-8 becomes a question mark.
pub(super) fn view_of(bytes: &[u8], place: impl Fn(usize) -> Range<usize>) -> View {
    let mut view = View::with_capacity(bytes.len());
    let mut at = 0;
    let mut push = |byte: u8, at: usize| {
        let place = place(at);
        view.push(byte, place.start, place.len());
    };
    for chunk in bytes.utf8_chunks() {
        for byte in chunk.valid().bytes() {
            push(byte, at);
            at += 1;
        }
        if !chunk.invalid().is_empty() {
            push(b'?', at);
        }
        at += chunk.invalid().len();
    }
    view
}
