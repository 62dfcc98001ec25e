//! One reading of a text, with a way back to the source.

use std::ops::Range;

/// A derived text and, for each of its bytes, the source bytes it came from.
///
/// The map is a list of pieces: within a piece both sides advance together, so an unchanged text
/// costs one piece and a rewritten one costs one per change.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    text: Vec<u8>,
    pieces: Vec<Piece>,
    /// End of the source range this view covers.
    source_end: usize,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    view: usize,
    source: usize,
}

impl View {
    /// An empty view with room for `capacity` bytes.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self {
            text: Vec::with_capacity(capacity),
            pieces: Vec::new(),
            source_end: 0,
        }
    }

    /// The derived text.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Empties it.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.pieces.clear();
        self.source_end = 0;
    }

    fn anchor(&mut self, source: usize) {
        let view = self.text.len();
        let in_step = self
            .pieces
            .last()
            .is_some_and(|last| last.source + (view - last.view) == source);
        if !in_step {
            self.pieces.push(Piece { view, source });
        }
    }

    /// Appends bytes that stand in the source as they are, from `source` on.
    pub(crate) fn copy(&mut self, bytes: &[u8], source: usize) {
        if bytes.is_empty() {
            return;
        }
        self.anchor(source);
        self.text.extend_from_slice(bytes);
        self.source_end = self.source_end.max(source + bytes.len());
    }

    /// As [`View::copy`], in ASCII lower case.
    pub(crate) fn copy_lower(&mut self, bytes: &[u8], source: usize) {
        let from = self.text.len();
        self.copy(bytes, source);
        if let Some(added) = self.text.get_mut(from..) {
            added.make_ascii_lowercase();
        }
    }

    /// Appends bytes that stand for as many of the source, from `source` on.
    pub(crate) fn replace<const N: usize>(&mut self, bytes: [u8; N], source: usize) {
        self.copy(&bytes, source);
    }

    /// Appends one byte that stands for `width` source bytes from `source` on.
    pub(crate) fn push(&mut self, byte: u8, source: usize, width: usize) {
        self.anchor(source);
        self.text.push(byte);
        self.source_end = self.source_end.max(source + width);
    }

    /// Appends a text that as a whole stands for `width` source bytes from `source` on.
    pub(crate) fn push_str(&mut self, text: &str, source: usize, width: usize) {
        for (at, byte) in text.bytes().enumerate() {
            // All bytes of one character point at its first source byte.
            self.push(
                byte,
                source + at.min(width.saturating_sub(1)),
                width.saturating_sub(at),
            );
        }
    }

    /// The source byte behind a view offset.
    pub(crate) fn source_of(&self, offset: usize) -> usize {
        let at = self.pieces.partition_point(|piece| piece.view <= offset);
        let Some(piece) = at.checked_sub(1).and_then(|at| self.pieces.get(at)) else {
            return 0;
        };
        let source = piece.source + (offset - piece.view);
        let limit = self
            .pieces
            .get(at)
            .map_or(self.source_end, |next| next.source.max(piece.source));
        source.min(limit.max(piece.source))
    }

    /// The source bytes behind a view range.
    pub(crate) fn source_range(&self, range: &Range<usize>) -> Range<usize> {
        let first = self.source_of(range.start);
        let last = self.source_of(range.end.saturating_sub(1).max(range.start));
        let end = if range.end >= self.text.len() {
            self.source_end
        } else {
            self.source_of(range.end)
        };
        first.min(last)..end.max(last.max(first) + 1).min(self.source_end.max(first))
    }

    /// This view's offsets expressed in the source of `inner`'s own source: `self` was derived from
    /// `inner.text()`, and the result maps straight to what `inner` was derived from.
    pub(crate) fn over(&self, inner: &Self) -> Self {
        let mut pieces: Vec<Piece> = Vec::with_capacity(self.pieces.len());
        for (at, piece) in self.pieces.iter().enumerate() {
            let end = self.pieces.get(at + 1).map_or(self.text.len(), |next| next.view);
            pieces.push(Piece {
                view: piece.view,
                source: inner.source_of(piece.source),
            });
            let from = inner.pieces.partition_point(|other| other.view <= piece.source);
            for other in inner.pieces.iter().skip(from) {
                let view = piece.view + (other.view - piece.source);
                if view >= end {
                    break;
                }
                pieces.push(Piece {
                    view,
                    source: other.source,
                });
            }
        }
        Self {
            text: self.text.clone(),
            pieces,
            source_end: inner.source_end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lead_back() {
        let mut view = View::with_capacity(8);
        view.copy(b"ab", 0);
        view.push(b' ', 2, 5);
        view.copy(b"cd", 7);
        assert_eq!(view.text(), b"ab cd");
        assert_eq!(view.source_range(&(0..2)), 0..2);
        assert_eq!(view.source_range(&(2..3)), 2..7);
        assert_eq!(view.source_range(&(3..5)), 7..9);
        assert_eq!(view.source_range(&(0..5)), 0..9);
    }

    #[test]
    fn composed_maps_lead_to_the_first_source() {
        let mut inner = View::with_capacity(8);
        inner.copy(b"xy", 10);
        inner.copy(b"z", 20);
        let mut outer = View::with_capacity(8);
        outer.copy(b"yz", 1);
        let both = outer.over(&inner);
        assert_eq!(both.source_of(0), 11);
        assert_eq!(both.source_of(1), 20);
        assert_eq!(both.source_range(&(0..2)), 11..21);
    }
}
