//! What folding makes of the letters up to the Indic scripts, by code point: nearly all of them become one
//! other letter, wherever they stand.

use std::sync::LazyLock;

use unicode_normalization::char::is_combining_mark;

use super::letters::{fold_letter, is_blank, is_ignorable, may_imitate};
use crate::view::View;

/// Letters below this code point are in the table; they have two or three bytes.
const END: usize = 0x0E00;

/// Part of a word.
pub(super) const IN_WORD: u8 = 1;
/// A letter.
pub(super) const LETTER: u8 = 2;
/// Of a script that has letters that look like ASCII ones.
pub(super) const MAY_IMITATE: u8 = 4;

/// Letters by code point.
pub(super) struct Letters {
    /// The folded letter; zero where folding takes more than a look.
    folded: Vec<u16>,
    traits: Vec<u8>,
}

static LETTERS: LazyLock<Letters> = LazyLock::new(Letters::new);

/// The table, made from the rules when it is first needed.
pub(super) fn letters() -> &'static Letters {
    &LETTERS
}

impl Letters {
    fn new() -> Self {
        let letter = |code: usize| u32::try_from(code).ok().and_then(char::from_u32);
        let all = || (0..END).map(letter);
        let mut view = View::with_capacity(16);
        Self {
            folded: all()
                .map(|letter| letter.map_or(0, |letter| always(letter, &mut view)))
                .collect(),
            traits: all().map(|letter| letter.map_or(0, traits_of)).collect(),
        }
    }

    /// What the letter becomes, if that depends on nothing.
    #[inline]
    pub(super) fn folded(&self, code: u32) -> Option<u16> {
        let folded = self.folded.get(usize::try_from(code).ok()?)?;
        (*folded != 0).then_some(*folded)
    }

    /// Whether the letter stays as it is, and imitates none.
    #[inline]
    pub(super) fn is_kept(&self, code: u32) -> bool {
        self.folded(code).map(u32::from) == Some(code) && !self.imitates(code)
    }

    /// Whether the letter may imitate a Latin one.
    #[inline]
    pub(super) fn imitates(&self, code: u32) -> bool {
        let known = usize::try_from(code).ok().and_then(|code| self.traits.get(code));
        known.is_none_or(|traits| traits & MAY_IMITATE != 0)
    }

    /// What kind of letter it is.
    #[inline]
    pub(super) fn traits(&self, letter: char) -> u8 {
        let known = usize::try_from(u32::from(letter))
            .ok()
            .and_then(|code| self.traits.get(code));
        known.copied().unwrap_or_else(|| traits_of(letter))
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

fn traits_of(letter: char) -> u8 {
    let ignorable = is_ignorable(letter);
    let mut traits = 0;
    if letter.is_alphanumeric() || ignorable || is_combining_mark(letter) {
        traits |= IN_WORD;
    }
    if letter.is_alphabetic() && !ignorable {
        traits |= LETTER;
    }
    if may_imitate(letter) {
        traits |= MAY_IMITATE;
    }
    traits
}
