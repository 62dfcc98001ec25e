//! Reading a text by position without ever slicing it apart.

use super::class::{BLOCK, NEWLINE, SPACE};
use super::class::{LETTER, LOWER, NUMBER, UPPER};

/// Index of blocks, two bytes each, then the blocks of classes that they point to.
const INDEX: &[[u8; 2]] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.index"))
    .as_chunks()
    .0;
const BLOCKS: &[[u8; BLOCK]] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.blocks"))
    .as_chunks()
    .0;

/// Marks a byte that begins a character outside ASCII.
const WIDE: u8 = 128;

/// The class of every byte that is a character by itself, and [`WIDE`] for the others.
static ASCII: [u8; 256] = ascii();

const fn ascii() -> [u8; 256] {
    let mut classes = [WIDE; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'A'..=b'Z' => UPPER | LETTER,
            b'a'..=b'z' => LOWER | LETTER,
            b'0'..=b'9' => NUMBER,
            b'\r' | b'\n' => SPACE | NEWLINE,
            b'\t' | b' ' | 0x0b | 0x0c => SPACE,
            _ => 0,
        };
        byte += 1;
    }
    classes
}

/// A text under the eyes of the pre-token rules. Positions are byte offsets on character
/// boundaries; one past the end has no class.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    text: &'a str,
}

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text }
    }

    pub(super) fn len(self) -> usize {
        self.text.len()
    }

    pub(super) fn bytes(self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// The byte at a position.
    #[inline]
    pub(super) fn byte(self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// The class of the character at a position and where the next one begins.
    #[inline]
    pub(super) fn class(self, at: usize) -> Option<(u8, usize)> {
        let byte = self.byte(at)?;
        match ASCII.get(usize::from(byte)) {
            Some(&class) if class != WIDE => Some((class, at + 1)),
            _ => self.wide(at),
        }
    }

    /// As [`Text::class`], for characters outside ASCII.
    fn wide(self, at: usize) -> Option<(u8, usize)> {
        let scalar = self.text.get(at..)?.chars().next()?;
        let (block, within) = (scalar as usize / BLOCK, scalar as usize % BLOCK);
        let block = u16::from_le_bytes(*INDEX.get(block)?);
        let class = *BLOCKS.get(usize::from(block))?.get(within)?;
        Some((class, at + scalar.len_utf8()))
    }

    /// The end of the longest run from `at` of characters that have any of the wanted bits.
    #[inline]
    pub(super) fn run_of(self, mut at: usize, wanted: u8) -> usize {
        while let Some((class, next)) = self.class(at)
            && class & wanted != 0
        {
            at = next;
        }
        at
    }

    /// The end of the longest run from `at` of characters that have none of the barred bits.
    #[inline]
    pub(super) fn run_without(self, mut at: usize, barred: u8) -> usize {
        while let Some((class, next)) = self.class(at)
            && class & barred == 0
        {
            at = next;
        }
        at
    }

    /// The end of at most three numbers from `at`.
    #[inline]
    pub(super) fn numbers(self, mut at: usize) -> usize {
        for _ in 0..3 {
            match self.class(at) {
                Some((class, next)) if class & NUMBER != 0 => at = next,
                _ => break,
            }
        }
        at
    }

    /// A run of white space from `at`: where it ends, where its last character begins, and the
    /// end of its last line break.
    pub(super) fn spaces(self, at: usize) -> Spaces {
        let mut run = Spaces {
            end: at,
            last: at,
            line_end: None,
        };
        while let Some((class, next)) = self.class(run.end)
            && class & SPACE != 0
        {
            run.last = run.end;
            run.end = next;
            if class & NEWLINE != 0 {
                run.line_end = Some(next);
            }
        }
        run
    }

    /// The end of an English contraction's tail (`'s`, `'ll`, …, in any case) that begins at `at`.
    #[inline]
    pub(super) fn contraction(self, at: usize) -> Option<usize> {
        if self.byte(at)? != b'\'' {
            return None;
        }
        let first = self.byte(at + 1)?.to_ascii_lowercase();
        let second = || self.byte(at + 2).map(|byte| byte.to_ascii_lowercase());
        match first {
            b's' | b'd' | b'm' | b't' => Some(at + 2),
            b'l' if second() == Some(b'l') => Some(at + 3),
            b'v' | b'r' if second() == Some(b'e') => Some(at + 3),
            // U+017F, the long s: it folds to `s`, and the rules ignore case as Unicode does.
            0xc5 if second() == Some(0xbf) => Some(at + 3),
            _ => None,
        }
    }
}

/// See [`Text::spaces`].
pub(super) struct Spaces {
    pub(super) end: usize,
    pub(super) last: usize,
    pub(super) line_end: Option<usize>,
}
