//! Text written backwards or rotated by thirteen letters.

use super::Payload;
use crate::finding::Reading;
use crate::view::View;

/// A word as it looks backwards.
pub(crate) fn reverse(word: &str) -> String {
    word.chars().rev().collect()
}

/// A word as it looks rotated.
pub(crate) fn rot13(word: &str) -> String {
    word.chars().map(rotate).collect()
}

fn rotate(letter: char) -> char {
    let shift = |base: u8| {
        let at = u8::try_from(u32::from(letter))
            .unwrap_or(base)
            .saturating_sub(base);
        char::from(base + (at + 13) % 26)
    };
    match letter {
        'a'..='z' => shift(b'a'),
        'A'..='Z' => shift(b'A'),
        _ => letter,
    }
}

/// `text`, which starts at `start` of the source, read backwards.
pub(crate) fn reversed(text: &str, start: usize) -> Payload {
    let mut view = View::with_capacity(text.len());
    for (at, letter) in text.char_indices().rev() {
        view.push_str(letter.encode_utf8(&mut [0; 4]), start + at, letter.len_utf8());
    }
    Payload::new(Reading::Reversed, view)
}

/// `text`, which starts at `start` of the source, rotated back.
pub(crate) fn rotated(text: &str, start: usize) -> Payload {
    let mut view = View::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        view.push_str(
            rotate(letter).encode_utf8(&mut [0; 4]),
            start + at,
            letter.len_utf8(),
        );
    }
    Payload::new(Reading::Rot13, view)
}
