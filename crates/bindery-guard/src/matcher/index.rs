//! Where keywords stand in a text.

use super::Anchoring;
use crate::heads::{HEAD, HEADS, Heads};

use crate::patterns::Keyword;
use crate::starts::{self, Start};

/// A keyword in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sighting {
    pub(crate) at: usize,
    /// How many words stand before it, of those that blanks separate.
    pub(crate) token: u32,
    pub(crate) keyword: Keyword,
    /// The length of the keyword.
    pub(crate) len: u8,
}

impl Sighting {
    #[inline]
    pub(crate) const fn new(start: Start, keyword: Keyword, len: u8) -> Self {
        Self {
            at: start.at,
            token: start.token,
            keyword,
            len,
        }
    }
}

/// Keywords by where they may stand: those that begin with ASCII at the start of a word or of a run of one
/// mark, others at any letter, or at the start of a word of their script (see [`starts`]).
#[derive(Debug)]
pub(super) struct Index {
    at_words: Heads<Keyword, 3>,
    anywhere: Heads<Keyword, 2>,
    anchoring: Anchoring,
    firsts: Firsts,
}

impl Index {
    /// Takes first bytes and length of each keyword, in order of their numbers.
    pub(super) fn new(keywords: &[(u64, u8)], anchoring: Anchoring) -> Self {
        let is_ascii = |word: u64| word & 0x80 == 0;
        let numbered = || keywords.iter().copied().zip(0..);
        // Letters beyond ASCII have two bytes and more.
        let anywhere = match anchoring {
            Anchoring::AtWords => [6, 3],
            Anchoring::Anywhere => [HEAD, 3],
        };
        let at_words =
            |((word, _), _): &((u64, u8), Keyword)| anchoring == Anchoring::AtWords && is_ascii(*word);
        Self {
            at_words: Heads::new(HEADS, numbered().filter(at_words)),
            anywhere: Heads::new(anywhere, numbered().filter(|keyword| !at_words(keyword))),
            anchoring,
            firsts: Firsts::new(
                keywords
                    .iter()
                    .map(|(word, _)| *word)
                    .filter(|word| !is_ascii(*word)),
            ),
        }
    }

    /// The keywords that stand at the starts of words.
    pub(super) fn at_words(&self) -> &Heads<Keyword, 3> {
        &self.at_words
    }

    /// Adds all keywords in `text`, by place.
    pub(super) fn find(&self, text: &[u8], found: &mut Vec<Sighting>) {
        if self.anchoring == Anchoring::Anywhere {
            // Letters and digits only: they are flat.
            for at in 0..text.len() {
                let note = |keyword, len| {
                    found.push(Sighting {
                        at,
                        token: 0,
                        keyword,
                        len,
                    });
                };
                self.anywhere.each_start(starts::eight(text, at), note);
            }
            return;
        }
        starts::each(text, |start| {
            if start.is_wide() {
                self.note_wide(start, found);
                return;
            }
            let note = |keyword, len| found.push(Sighting::new(start, keyword, len));
            self.at_words.each_start(start.bytes, note);
        });
    }

    /// Adds the keywords at a letter beyond ASCII.
    #[inline]
    pub(super) fn note_wide(&self, start: Start, found: &mut Vec<Sighting>) {
        if self.firsts.may_begin(start.bytes) {
            let note = |keyword, len| found.push(Sighting::new(start, keyword, len));
            self.anywhere.each_start(start.bytes, note);
        }
    }
}

/// How keywords beyond ASCII begin.
#[derive(Debug)]
struct Firsts(Vec<u64>);

impl Firsts {
    fn new(words: impl Iterator<Item = u64>) -> Self {
        let mut firsts = Self(vec![0; 1 << 10]);
        for word in words {
            let number = Self::number(word);
            // A word of one short letter and nothing else goes with any.
            let is_short = matches!(word.to_le_bytes(), [..0xE0, _, _, 0, ..]);
            if let Some(bits) = firsts.0.get_mut(number >> 6) {
                *bits |= if is_short { u64::MAX } else { 1 << (number & 63) };
            }
        }
        firsts
    }

    #[inline]
    fn may_begin(&self, text: u64) -> bool {
        let number = Self::number(text);
        self.0.get(number >> 6).copied().unwrap_or(0) >> (number & 63) & 1 == 1
    }

    /// Four bits of the first byte, six of the second, and six of the third or, where a letter has two bytes,
    /// of the second one of the next letter.
    #[inline]
    fn number(text: u64) -> usize {
        let third = text >> if text & 0xFF >= 0xE0 { 16 } else { 24 };
        let number = (text & 0x0F) << 12 | (text >> 8 & 0x3F) << 6 | third & 0x3F;
        usize::try_from(number).unwrap_or(0)
    }
}
