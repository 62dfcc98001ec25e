//! What folding makes of the letters up to the Indic scripts, by code point: nearly all of them become one
//! other letter, wherever they stand.

use std::sync::LazyLock;

use unicode_normalization::char::is_combining_mark;

use super::letters::{fold_letter, is_blank, is_ignorable, lookalike, may_imitate};
use crate::view::View;

/// Letters below this code point are in the table; they have two or three bytes.
const END: usize = 0x0E00;

/// What is known of a letter: what folding makes of it in the low half, and its traits.
#[derive(Clone, Copy)]
pub(super) struct Letter(u32);

/// Part of a word.
const IN_WORD: u32 = 1 << 16;
/// Of a script that has letters that look like ASCII ones.
const MAY_IMITATE: u32 = 1 << 17;
/// A letter.
const LETTER: u32 = 1 << 18;
/// A letter beyond ASCII that looks like none in it.
const UNLIKE: u32 = 1 << 19;
/// Folds to a letter of two bytes, whatever stands beside it.
const STAYS_SHORT: u32 = 1 << 20;
/// Folds to something else than itself.
const CHANGES: u32 = 1 << 21;

impl Letter {
    fn new(letter: char, view: &mut View) -> Self {
        let folded = always(letter, view);
        let mut known = u32::from(folded) | traits_of(letter);
        if (0x80..0x800).contains(&folded) {
            known |= STAYS_SHORT;
        }
        if u32::from(folded) != u32::from(letter) {
            known |= CHANGES;
        }
        Self(known)
    }

    const fn has(self, what: u32) -> bool {
        self.0 & what != 0
    }

    /// What the letter becomes, if that depends on nothing.
    #[inline]
    pub(super) fn folded(self) -> Option<char> {
        char::from_u32(self.0 & 0xFFFF).filter(|folded| *folded != '\0')
    }

    /// Whether the letter may imitate a Latin one.
    #[inline]
    pub(super) const fn imitates(self) -> bool {
        self.has(MAY_IMITATE)
    }

    /// Whether it becomes a letter of two bytes, whatever stands beside it.
    #[inline]
    pub(super) const fn stays_short(self) -> bool {
        self.has(STAYS_SHORT)
    }

    /// Whether it becomes another letter.
    #[inline]
    pub(super) const fn changes(self) -> bool {
        self.has(CHANGES)
    }

    /// The letter of two bytes that it becomes.
    #[inline]
    pub(super) const fn short_bytes(self) -> [u8; 2] {
        let [low, high, ..] = self.0.to_le_bytes();
        [0xC0 | high << 2 & 0x1C | low >> 6, 0x80 | low & 0x3F]
    }

    /// Whether it is part of a word.
    #[inline]
    pub(super) const fn is_in_word(self) -> bool {
        self.has(IN_WORD)
    }

    /// Whether it is a letter.
    #[inline]
    pub(super) const fn is_letter(self) -> bool {
        self.has(LETTER)
    }

    /// Whether it is a letter that looks like none of ASCII.
    #[inline]
    pub(super) const fn is_unlike(self) -> bool {
        self.has(UNLIKE)
    }
}

/// Letters by code point.
pub(super) struct Letters(Box<[Letter; END]>);

static LETTERS: LazyLock<Letters> = LazyLock::new(Letters::new);

/// The table, made from the rules when it is first needed.
pub(super) fn letters() -> &'static Letters {
    &LETTERS
}

impl Letters {
    fn new() -> Self {
        let mut view = View::with_capacity(16);
        let mut all = Box::new([Letter(CHANGES); END]);
        for (known, code) in all.iter_mut().zip(0..) {
            if let Some(letter) = char::from_u32(code) {
                *known = Letter::new(letter, &mut view);
            }
        }
        Self(all)
    }

    /// A letter of two bytes.
    #[inline]
    pub(super) fn short(&self, first: u8, second: u8) -> Letter {
        let code = usize::from(first & 0x1F) << 6 | usize::from(second & 0x3F);
        self.0.get(code).copied().unwrap_or(Letter(CHANGES))
    }

    /// Whether it is a letter of the table that is part of a word, stays as it is, and imitates none.
    #[inline]
    pub(super) fn is_kept(&self, code: u32) -> bool {
        let known = usize::try_from(code).ok().and_then(|code| self.0.get(code));
        known.is_some_and(|letter| !letter.changes() && !letter.imitates() && letter.is_in_word())
    }

    /// A letter of the table.
    #[inline]
    pub(super) fn get(&self, letter: char) -> Option<Letter> {
        let code = usize::try_from(u32::from(letter)).ok()?;
        self.0.get(code).copied()
    }

    /// Any letter.
    #[inline]
    pub(super) fn of(&self, letter: char) -> Letter {
        self.get(letter)
            .unwrap_or_else(|| Letter(CHANGES | traits_of(letter)))
    }
}

/// What a letter that imitates none becomes after any other, or zero. `view` is for use in between.
fn always(letter: char, view: &mut View) -> u16 {
    if letter.is_ascii() || is_blank(letter) || letter == '\u{9B}' {
        return 0;
    }
    let mut after = |before: &[u8]| {
        view.clear();
        view.copy(before, 0);
        fold_letter(letter, false, 1, view);
        let folded = view.text().get(before.len()..).unwrap_or_default();
        let mut folded = std::str::from_utf8(folded).unwrap_or_default().chars();
        match (folded.next(), folded.next()) {
            (Some(only), None) => u16::try_from(u32::from(only)).ok(),
            _ => None,
        }
    };
    let alone = after(b"");
    if alone == after(b"a") {
        alone.unwrap_or(0)
    } else {
        0
    }
}

fn traits_of(letter: char) -> u32 {
    let ignorable = is_ignorable(letter);
    let mut traits = 0;
    if letter.is_alphanumeric() || ignorable || is_combining_mark(letter) {
        traits |= IN_WORD;
    }
    if letter.is_alphabetic() && !ignorable {
        traits |= LETTER;
        if !letter.is_ascii() && lookalike(letter).is_none() {
            traits |= UNLIKE;
        }
    }
    if may_imitate(letter) {
        traits |= MAY_IMITATE;
    }
    traits
}
