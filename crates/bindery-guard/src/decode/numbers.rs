//! Characters written as numbers: binary, hexadecimal pairs, decimal codes.

use super::Payload;
use crate::finding::Reading;
use crate::view::View;

/// Fewest characters that make a text.
const SHORTEST: usize = 8;

/// Decodes the longest sequence of numbers of one kind in a line.
pub(super) fn decode(text: &str, start: usize) -> Option<Payload> {
    [(Reading::Binary, 2), (Reading::Hex, 16), (Reading::Morse, 10)]
        .into_iter()
        .find_map(|(reading, radix)| {
            let view = longest(text, start, radix)?;
            // Decimal codes have no name of their own among the readings.
            let reading = if radix == 10 { Reading::Escapes } else { reading };
            Some(Payload::new(reading, view))
        })
}

fn longest(text: &str, start: usize, radix: u32) -> Option<View> {
    let mut best: Vec<(u8, usize, usize)> = Vec::new();
    let mut current = Vec::new();
    for token in tokens(text) {
        if let Some(byte) = read(token.1, radix) {
            current.push((byte, start + token.0, token.1.len()));
            continue;
        }
        if current.len() > best.len() {
            std::mem::swap(&mut best, &mut current);
        }
        current.clear();
    }
    if current.len() > best.len() {
        best = current;
    }
    let letters = best
        .iter()
        .filter(|(byte, ..)| byte.is_ascii_alphabetic() || *byte == b' ')
        .count();
    if best.len() < SHORTEST || letters * 10 < best.len() * 7 {
        return None;
    }
    let mut view = View::with_capacity(best.len());
    for (byte, at, len) in best {
        view.push(byte, at, len);
    }
    Some(view)
}

fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let separators = |letter: char| {
        letter.is_ascii_whitespace() || matches!(letter, ',' | ':' | ';' | '[' | ']' | '(' | ')' | '`')
    };
    let mut at = 0;
    text.split(separators).filter_map(move |token| {
        let start = at;
        at += token.len() + 1;
        (!token.is_empty()).then_some((start, token))
    })
}

/// The printable ASCII character behind a number.
fn read(token: &str, radix: u32) -> Option<u8> {
    let digits = match radix {
        2 => token.strip_prefix("0b").unwrap_or(token),
        16 => token
            .strip_prefix("0x")
            .or_else(|| token.strip_prefix("\\x"))
            .unwrap_or(token),
        _ => token,
    };
    let fits = match radix {
        2 => (7..=8).contains(&digits.len()),
        16 => digits.len() == 2,
        _ => (2..=3).contains(&digits.len()),
    };
    let byte = u8::from_str_radix(digits, radix).ok()?;
    (fits && (0x20..0x7F).contains(&byte)).then_some(byte)
}
