//! Digits and signs that stand for letters.

use super::Payload;
use crate::finding::Reading;
use crate::view::View;

fn letter_for(byte: u8) -> Option<u8> {
    Some(match byte {
        b'0' => b'o',
        b'1' | b'!' => b'i',
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        b'6' | b'9' => b'g',
        b'7' => b't',
        b'8' => b'b',
        _ => return None,
    })
}

/// The line with the digits within its words replaced, if at least three words had some.
pub(super) fn decode(text: &str, start: usize) -> Option<Payload> {
    let mut view = View::with_capacity(text.len());
    let mut at = start;
    let mut replaced = 0;
    for word in text.split_inclusive(|letter: char| letter.is_ascii_whitespace()) {
        let bytes = word.as_bytes();
        let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        let digits = bytes.iter().filter(|byte| letter_for(**byte).is_some()).count();
        // A number with a unit is no word; "1n" and "70" are, in a line of such words.
        if digits > 0 && letters + digits <= 40 {
            for (offset, byte) in bytes.iter().enumerate() {
                view.push(letter_for(*byte).unwrap_or(*byte), at + offset, 1);
            }
            replaced += usize::from(letters > 0);
        } else {
            view.copy(bytes, at);
        }
        at += word.len();
    }
    (replaced >= 3).then_some(Payload::new(Reading::Leet, view))
}
