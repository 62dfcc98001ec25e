//! Base64, hexadecimal and Ascii85.

use std::borrow::Cow;
use std::ops::Range;

use super::payload::{Digits, view_of};
use super::{Candidate, Payload};
use crate::finding::Reading;

/// Bytes decoded before a run that does not read as text is given up: twice, as most runs show it at once.
const PROBES: [usize; 2] = [9, 64];

/// How many of the candidates after `first` continue it on the following lines.
pub(super) fn continued(source: &str, first: &Candidate, tail: &[Candidate]) -> usize {
    let mut end = first.end;
    tail.iter()
        .take_while(|next| {
            let between = source.get(end..next.start).unwrap_or("x");
            let follows = next.encoding == first.encoding
                && between.contains('\n')
                && between.len() <= 12
                && between
                    .chars()
                    .all(|letter| letter.is_ascii_whitespace() || matches!(letter, '>' | '#' | '*'));
            end = next.end;
            follows
        })
        .count()
}

/// Decodes the pieces of one run as hexadecimal or base64, whichever reads.
pub(super) fn decode(source: &str, pieces: &[Candidate]) -> Option<Payload> {
    let text = |piece: &Candidate| source.get(piece.start..piece.end).unwrap_or_default();
    let symbols = match pieces {
        [only] => Cow::Borrowed(text(only).as_bytes()),
        all => Cow::Owned(all.iter().flat_map(|piece| text(piece).bytes()).collect()),
    };
    let payload = |reading, bytes, width, skip| {
        let pieces = pieces.iter().map(|piece| piece.start..piece.end).collect();
        Payload::of_digits(reading, bytes, Digits { width, skip, pieces })
    };
    if let Some(bytes) = read::<4>(&symbols, &HEX) {
        return Some(payload(Reading::Hex, bytes, 4, 0));
    }
    if let Some(bytes) = read::<6>(&symbols, &BASE64) {
        return Some(payload(Reading::Base64, bytes, 6, 0));
    }
    // The run may have a word before the payload, joined by `-`, `_` or `/`.
    let skip = 1 + symbols.iter().position(|byte| matches!(byte, b'-' | b'_'))?;
    let bytes = read::<6>(symbols.get(skip..)?, &BASE64)?;
    Some(payload(Reading::Base64, bytes, 6, skip))
}

/// Joins digits of `WIDTH` bits each to bytes; nothing if one is no digit or the result is no text.
fn read<const WIDTH: usize>(symbols: &[u8], values: &[u8; 256]) -> Option<Vec<u8>> {
    // Most runs are given up at the first probe.
    let mut bytes = Vec::with_capacity(PROBES[0]);
    let (mut bits, mut have) = (0_u32, 0);
    for symbol in symbols {
        let digit = values.get(usize::from(*symbol)).copied().unwrap_or(NONE);
        if digit == NONE {
            return None;
        }
        bits = bits << WIDTH | u32::from(digit);
        have += WIDTH;
        if have >= 8 {
            have -= 8;
            bytes.push((bits >> have & 0xFF) as u8);
            if PROBES.contains(&bytes.len()) {
                if !is_text(&bytes) {
                    return None;
                }
                bytes.reserve(symbols.len() * WIDTH / 8);
            }
        }
    }
    (bytes.len() >= 8 && is_text(&bytes)).then_some(bytes)
}

/// What no digit has.
const NONE: u8 = u8::MAX;

const HEX: [u8; 256] = digits(b"0123456789abcdef", b"          ABCDEF");
const BASE64: [u8; 256] = digits(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    b"                                                              -_",
);

/// The value of each byte as a digit: its place among `signs`, or among `others` that stand for the same.
const fn digits(signs: &[u8], others: &[u8]) -> [u8; 256] {
    let mut values = [NONE; 256];
    let mut value = 0_u8;
    while (value as usize) < signs.len() && (value as usize) < others.len() {
        if others[value as usize] != b' ' {
            values[others[value as usize] as usize] = value;
        }
        values[signs[value as usize] as usize] = value;
        value += 1;
    }
    values
}

/// Nine in ten bytes printable ASCII, or valid UTF-8 with hardly a control character.
fn is_text(bytes: &[u8]) -> bool {
    let printable = bytes
        .iter()
        .filter(|byte| matches!(byte, 0x20..0x7F | b'\n' | b'\t' | b'\r'))
        .count();
    if printable * 10 >= bytes.len() * 9 {
        return true;
    }
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The last character may be cut.
        Err(error) if error.error_len().is_none() => bytes
            .get(..error.valid_up_to())
            .and_then(|head| std::str::from_utf8(head).ok())
            .unwrap_or_default(),
        Err(_) => return false,
    };
    let letters = valid
        .chars()
        .filter(|letter| letter.is_alphanumeric() || *letter == ' ')
        .count();
    valid.len() >= 8 && letters * 10 >= valid.chars().count() * 8
}

/// Decodes `<~…~>`.
pub(super) fn ascii85(text: &str, start: usize) -> Option<Payload> {
    let inner = text.strip_prefix("<~")?.strip_suffix("~>")?;
    let mut bytes = Vec::new();
    let mut group: Vec<(u32, usize)> = Vec::with_capacity(5);
    for (at, byte) in inner.bytes().enumerate() {
        let at = start + 2 + at;
        match byte {
            b'z' if group.is_empty() => bytes.extend(std::iter::repeat_n((0, at..at + 1), 4)),
            b'!'..=b'u' => group.push((u32::from(byte - b'!'), at)),
            _ if byte.is_ascii_whitespace() => {}
            _ => return None,
        }
        if group.len() == 5 {
            flush(&group, 4, &mut bytes);
            group.clear();
        }
    }
    if group.len() >= 2 {
        let kept = group.len() - 1;
        let last = group.last().map_or(start, |(_, at)| *at);
        group.resize(5, (84, last));
        flush(&group, kept, &mut bytes);
    }
    let (bytes, places): (Vec<u8>, Vec<Range<usize>>) = bytes.into_iter().unzip();
    (bytes.len() >= 8 && is_text(&bytes)).then(|| {
        let view = view_of(&bytes, |at| places.get(at).cloned().unwrap_or_default());
        Payload::new(Reading::Ascii85, view)
    })
}

fn flush(group: &[(u32, usize)], kept: usize, bytes: &mut Vec<(u8, Range<usize>)>) {
    let value = group.iter().fold(0_u32, |value, (digit, _)| {
        value.wrapping_mul(85).wrapping_add(*digit)
    });
    let first = group.first().map_or(0, |(_, at)| *at);
    let last = group.last().map_or(first, |(_, at)| *at);
    bytes.extend(
        value
            .to_be_bytes()
            .into_iter()
            .take(kept)
            .map(|byte| (byte, first..last + 1)),
    );
}
