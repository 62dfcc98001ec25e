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

use crate::unicode;
use crate::view::View;
use letters::Lookalikes;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    Blank,
    Bell,
    Break,
    Control,
    Wide,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte {
            0x20 | 0x09 => Class::Blank,
            0x07 => Class::Bell,
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
    fold_noting(source, &mut Vec::new())
}

/// Folds `source`, and notes in order where characters stand that [`unicode::inspect`] must look at.
pub(crate) fn fold_noting(source: &str, suspects: &mut Vec<usize>) -> View {
    let bytes = source.as_bytes();
    let mut view = View::with_capacity(bytes.len());
    let mut lookalikes = Lookalikes::default();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at = match class_of(byte) {
            Class::Plain => copy_plain(bytes, at, &mut view),
            Class::Blank | Class::Bell | Class::Break => fold_blanks(bytes, at, &mut view, suspects),
            Class::Control => {
                suspects.push(at);
                at + terminal::sequence_len(bytes.get(at..).unwrap_or_default())
            }
            Class::Wide => fold_wide(source, at, &mut view, (&mut lookalikes, suspects)),
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

fn fold_blanks(bytes: &[u8], from: usize, view: &mut View, suspects: &mut Vec<usize>) -> usize {
    let mut breaks = false;
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        match class_of(byte) {
            Class::Blank => {}
            Class::Break => breaks = true,
            Class::Bell => suspects.push(at),
            _ => break,
        }
        at += 1;
    }
    push_blank(view, breaks, from, at - from);
    at
}

/// One blank, or a line end in place of the blank before it.
fn push_blank(view: &mut View, breaks: bool, source: usize, width: usize) {
    match view.text().last() {
        Some(b'\n') => {}
        Some(b' ') if !breaks => {}
        _ => view.push(if breaks { b'\n' } else { b' ' }, source, width),
    }
}

fn fold_wide(
    source: &str,
    from: usize,
    view: &mut View,
    (lookalikes, suspects): (&mut Lookalikes, &mut Vec<usize>),
) -> usize {
    let reached = copy_letters(source, from, view, lookalikes);
    if reached > from {
        // What is copied is suspect beside ASCII letters only, which stand before and after it.
        let is_letter = |at: Option<usize>| {
            at.and_then(|at| source.as_bytes().get(at))
                .is_some_and(u8::is_ascii_alphabetic)
        };
        if is_letter(from.checked_sub(1)) && unicode::is_suspect(source, from) {
            suspects.push(from);
        }
        if is_letter(Some(reached)) {
            let last = source.floor_char_boundary(reached - 1);
            if last < reached - 1 && unicode::is_suspect(source, last) {
                suspects.push(last);
            }
        }
        return reached;
    }
    if unicode::is_suspect(source, from) {
        suspects.push(from);
    }
    let Some(letter) = source.get(from..).and_then(|rest| rest.chars().next()) else {
        return from + 1;
    };
    let width = letter.len_utf8();
    if let Some(known) = table::letters().get(letter)
        && let Some(folded) = known.folded()
        && !(known.imitates() && lookalikes.covers(source, from))
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

/// Copies letters beyond ASCII that become one letter of the same length each, as nearly all do, and what
/// stands between them but for ASCII letters. Says where they end.
fn copy_letters(source: &str, from: usize, view: &mut View, lookalikes: &mut Lookalikes) -> usize {
    let bytes = source.as_bytes();
    let table = table::letters();
    // What is the same in both is copied at once, from `kept` on.
    let (mut kept, mut at, mut judged) = (from, from, from);
    // Where a letter stands for which the rest of its word cannot be Latin.
    let mut foreign = None;
    loop {
        match *bytes.get(at..).unwrap_or_default() {
            [first @ 0xC2..=0xDF, second, ..] => {
                let letter = table.short(first, second);
                if !letter.stays_short() {
                    break;
                }
                if !letter.is_in_word() {
                    foreign = None;
                } else if letter.imitates() && at >= judged && foreign.is_none() {
                    if letter.is_unlike() {
                        foreign = Some(at);
                    } else if lookalikes.covers(source, at) {
                        break;
                    } else {
                        judged = lookalikes.end();
                    }
                }
                if letter.changes() {
                    view.copy(bytes.get(kept..at).unwrap_or_default(), kept);
                    view.replace(letter.short_bytes(), at);
                    kept = at + 2;
                }
                at += 2;
            }
            // Han and Hangul, for the most part.
            [0xE5..=0xE9 | 0xEB..=0xEC, _, _, ..] => at += 3,
            [first @ 0xE0..=0xED, second, third, ..] => {
                let code =
                    u32::from(first & 0x0F) << 12 | u32::from(second & 0x3F) << 6 | u32::from(third & 0x3F);
                if !(letters::is_settled(code) || table.is_kept(code)) {
                    break;
                }
                at += 3;
            }
            // A blank before something else is left to `fold_blanks`, which may join it with more.
            [b' ' | b'\n', 0x21..=0x7E | 0xC3.., ..] | [0x21..=0x40 | 0x5B..=0x60 | 0x7B..=0x7E, ..]
                if at > from =>
            {
                foreign = foreign.filter(|_| bytes.get(at).is_some_and(u8::is_ascii_digit));
                at += 1;
            }
            _ => break,
        }
    }
    if let Some(foreign) = foreign {
        // The word may go on.
        lookalikes.covers(source, foreign);
    }
    view.copy(bytes.get(kept..at).unwrap_or_default(), kept);
    at
}

#[cfg(test)]
mod tests;
