//! The plain reading: one spelling for everything that reads the same.
//!
//! Lower case, one blank for any white space (a line end where there was one), compatibility forms
//! and accents off Latin letters, look-alikes of Latin letters in Latin words, no invisible
//! characters, no terminal sequences, ASCII punctuation for its typographic and CJK variants.
//! Patterns are written against this spelling only.

mod letters;
mod lookalike;
mod table;
mod terminal;

use crate::view::View;
use letters::Lookalikes;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    Blank,
    Break,
    Control,
    Wide,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte {
            0x20 | 0x09 | 0x07 => Class::Blank,
            0x0A | 0x0D => Class::Break,
            0x00..=0x1F | 0x7F => Class::Control,
            0x80..=0xFF => Class::Wide,
            _ => Class::Plain,
        };
        byte += 1;
    }
    classes
};

fn class_of(byte: u8) -> Class {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Plain)
}

/// Folds `source`.
pub(crate) fn fold(source: &str) -> View {
    let bytes = source.as_bytes();
    let mut view = View::with_capacity(bytes.len());
    let mut lookalikes = Lookalikes::default();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at = match class_of(byte) {
            Class::Plain => copy_plain(bytes, at, &mut view),
            Class::Blank | Class::Break => fold_blanks(bytes, at, &mut view),
            Class::Control => at + terminal::sequence_len(bytes.get(at..).unwrap_or_default()),
            Class::Wide => fold_wide(source, at, &mut view, &mut lookalikes),
        };
    }
    view
}

/// Copies printable ASCII and the single blanks and line ends between it.
fn copy_plain(bytes: &[u8], from: usize, view: &mut View) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let mut len = plain_len(rest);
    // A blank before something else is left to `fold_blanks`, which may join it with more.
    if rest
        .get(..len)
        .and_then(<[u8]>::last)
        .is_some_and(|last| *last <= b' ')
    {
        len -= 1;
    }
    view.copy_lower(rest.get(..len).unwrap_or_default(), from);
    from + len
}

/// Bytes that are looked at together.
const BLOCK: usize = 32;

/// How many bytes are printable ASCII, or a blank or line end with none before it. The first is printable.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "without branches, a block is looked at as a whole"
)]
fn plain_len(text: &[u8]) -> usize {
    let stops = |before: u8, byte: u8| {
        ((byte < 0x20) & (byte != b'\n')) | (byte >= 0x7F) | ((byte <= b' ') & (before <= b' '))
    };
    let mut len = 0;
    let mut before = b'a';
    for block in text.as_chunks::<BLOCK>().0 {
        // All at once, as blocks with something else in them are few.
        let mut last = before;
        let stopped = block.iter().fold(false, |stopped, byte| {
            let stops = stops(last, *byte);
            last = *byte;
            stopped | stops
        });
        if stopped {
            break;
        }
        before = last;
        len += BLOCK;
    }
    for &byte in text.get(len..).unwrap_or_default() {
        if stops(before, byte) {
            break;
        }
        before = byte;
        len += 1;
    }
    len
}

fn fold_blanks(bytes: &[u8], from: usize, view: &mut View) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let len = rest
        .iter()
        .take_while(|byte| matches!(class_of(**byte), Class::Blank | Class::Break))
        .count();
    let breaks = rest.iter().take(len).any(|byte| class_of(*byte) == Class::Break);
    push_blank(view, breaks, from, len);
    from + len
}

/// One blank, or a line end in place of the blank before it.
fn push_blank(view: &mut View, breaks: bool, source: usize, width: usize) {
    match view.text().last() {
        Some(b'\n') => {}
        Some(b' ') if !breaks => {}
        _ => view.push(if breaks { b'\n' } else { b' ' }, source, width),
    }
}

fn fold_wide(source: &str, from: usize, view: &mut View, lookalikes: &mut Lookalikes) -> usize {
    let reached = copy_letters(source, from, view, lookalikes);
    if reached > from {
        return reached;
    }
    let Some(letter) = source.get(from..).and_then(|rest| rest.chars().next()) else {
        return from + 1;
    };
    let width = letter.len_utf8();
    let table = table::letters();
    let code = u32::from(letter);
    if let Some(folded) = table
        .folded(code)
        .and_then(|folded| char::from_u32(u32::from(folded)))
        && !(table.imitates(code) && lookalikes.covers(source, from))
    {
        view.push_str(folded.encode_utf8(&mut [0; 4]), from, width);
        return from + width;
    }
    fold_one(source, from, view, lookalikes)
}

/// Folds one character beyond ASCII by the rules.
fn fold_one(source: &str, from: usize, view: &mut View, lookalikes: &mut Lookalikes) -> usize {
    let Some(letter) = source.get(from..).and_then(|rest| rest.chars().next()) else {
        return from + 1;
    };
    let width = letter.len_utf8();
    if letter == '\u{9B}' {
        return from + terminal::sequence_len(source.as_bytes().get(from..).unwrap_or_default()).max(width);
    }
    if letters::is_blank(letter) {
        push_blank(
            view,
            matches!(letter, '\u{2028}' | '\u{2029}' | '\u{85}'),
            from,
            width,
        );
        return from + width;
    }
    let latin = letters::may_imitate(letter) && lookalikes.covers(source, from);
    letters::fold_letter(letter, latin, from, view);
    from + width
}

/// Copies letters beyond ASCII that become one letter of the same length each, as nearly all do. Says
/// where they end.
fn copy_letters(source: &str, from: usize, view: &mut View, lookalikes: &mut Lookalikes) -> usize {
    let bytes = source.as_bytes();
    let table = table::letters();
    // What is the same in both is copied at once, from `kept` on.
    let (mut kept, mut at, mut judged) = (from, from, from);
    loop {
        match *bytes.get(at..).unwrap_or_default() {
            [first @ 0xC2..=0xDF, second, ..] => {
                let code = u32::from(first & 0x1F) << 6 | u32::from(second & 0x3F);
                let Some(folded @ 0x80..=0x7FF) = table.folded(code) else {
                    break;
                };
                if at >= judged && table.imitates(code) {
                    if lookalikes.covers(source, at) {
                        break;
                    }
                    judged = lookalikes.end();
                }
                if u32::from(folded) != code {
                    view.copy(bytes.get(kept..at).unwrap_or_default(), kept);
                    let [low, high] = folded.to_le_bytes();
                    view.replace([0xC0 | high << 2 | low >> 6, 0x80 | low & 0x3F], at);
                    kept = at + 2;
                }
                at += 2;
            }
            [first @ 0xE0..=0xED, second, third, ..] => {
                let code =
                    u32::from(first & 0x0F) << 12 | u32::from(second & 0x3F) << 6 | u32::from(third & 0x3F);
                // Han and Hangul, for the most part.
                let is_common = matches!(first, 0xE5..=0xE9 | 0xEB..=0xEC);
                if !(is_common || letters::is_settled(code) || table.is_kept(code)) {
                    break;
                }
                at += 3;
            }
            _ => break,
        }
    }
    view.copy(bytes.get(kept..at).unwrap_or_default(), kept);
    at
}

#[cfg(test)]
mod tests;
