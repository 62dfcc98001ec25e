//! Base64, hexadecimal and Ascii85.

use super::{Candidate, Payload};
use crate::finding::Reading;
use crate::view::View;

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
pub(super) fn decode(source: &str, pieces: &[&Candidate]) -> Option<Payload> {
    let symbols = || {
        pieces.iter().flat_map(|piece| {
            let text = source.get(piece.start..piece.end).unwrap_or_default();
            text.bytes()
                .enumerate()
                .map(move |(at, byte)| (byte, piece.start + at))
        })
    };
    let count = pieces.iter().map(|piece| piece.end - piece.start).sum::<usize>();
    if let Some(view) = read(symbols().map_while(|(byte, at)| Some((hex(byte)?, at))), count, 4) {
        return Some(Payload {
            reading: Reading::Hex,
            view,
        });
    }
    // The run may have a word before the payload, joined by `-`, `_` or `/`.
    let skipped = symbols()
        .position(|(byte, _)| byte == b'-' || byte == b'_')
        .map_or(0, |at| at + 1);
    [0, skipped].into_iter().find_map(|skip| {
        let digits = symbols()
            .skip(skip)
            .map_while(|(byte, at)| Some((sextet(byte)?, at)));
        let view = read(digits, count - skip, 6)?;
        Some(Payload {
            reading: Reading::Base64,
            view,
        })
    })
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

fn hex(byte: u8) -> Option<u8> {
    HEX.get(usize::from(byte)).copied().filter(|value| *value != NONE)
}

fn sextet(byte: u8) -> Option<u8> {
    BASE64
        .get(usize::from(byte))
        .copied()
        .filter(|value| *value != NONE)
}

/// Joins digits of `width` bits to bytes; nothing if a digit was no digit or the result is no text.
fn read(digits: impl Iterator<Item = (u8, usize)>, expected: usize, width: u32) -> Option<View> {
    // Most runs are given up at the first probe.
    let mut bytes: Vec<(u8, usize, usize)> = Vec::with_capacity(PROBES[0] + 1);
    let (mut bits, mut have, mut start, mut count) = (0_u32, 0, None, 0);
    for (digit, at) in digits {
        count += 1;
        bits = (bits << width) | u32::from(digit);
        have += width;
        let first = *start.get_or_insert(at);
        if have >= 8 {
            have -= 8;
            bytes.push(((bits >> have & 0xFF) as u8, first, at + 1));
            start = if have == 0 { None } else { Some(at) };
            if PROBES.contains(&bytes.len()) {
                if !is_text(&bytes) {
                    return None;
                }
                bytes.reserve(expected);
            }
        }
    }
    (count == expected && bytes.len() >= 8 && is_text(&bytes)).then(|| to_view(&bytes))
}

/// Nine in ten bytes printable ASCII, or valid UTF-8 with hardly a control character.
fn is_text(bytes: &[(u8, usize, usize)]) -> bool {
    let printable = bytes
        .iter()
        .filter(|(byte, ..)| (0x20..0x7F).contains(byte) || matches!(byte, b'\n' | b'\t' | b'\r'))
        .count();
    if printable * 10 >= bytes.len() * 9 {
        return true;
    }
    let raw: Vec<u8> = bytes.iter().map(|(byte, ..)| *byte).collect();
    let valid = match std::str::from_utf8(&raw) {
        Ok(text) => text,
        // The last character may be cut.
        Err(error) if error.error_len().is_none() => raw
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

/// Decoded bytes with their places; what is no UTF-8 becomes a replacement character.
fn to_view(bytes: &[(u8, usize, usize)]) -> View {
    let raw: Vec<u8> = bytes.iter().map(|(byte, ..)| *byte).collect();
    let mut view = View::with_capacity(raw.len());
    let mut at = 0;
    for chunk in raw.utf8_chunks() {
        for byte in chunk.valid().bytes() {
            if let Some((_, from, to)) = bytes.get(at) {
                view.push(byte, *from, to - from);
            }
            at += 1;
        }
        if let (false, Some((_, from, to))) = (chunk.invalid().is_empty(), bytes.get(at)) {
            view.push(b'?', *from, to - from);
        }
        at += chunk.invalid().len();
    }
    view
}

/// Decodes `<~…~>`.
pub(super) fn ascii85(text: &str, start: usize) -> Option<Payload> {
    let inner = text.strip_prefix("<~")?.strip_suffix("~>")?;
    let mut bytes = Vec::new();
    let mut group: Vec<(u32, usize)> = Vec::with_capacity(5);
    for (at, byte) in inner.bytes().enumerate() {
        let at = start + 2 + at;
        match byte {
            b'z' if group.is_empty() => bytes.extend([(0, at, at + 1); 4]),
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
    (bytes.len() >= 8 && is_text(&bytes)).then(|| Payload {
        reading: Reading::Ascii85,
        view: to_view(&bytes),
    })
}

fn flush(group: &[(u32, usize)], kept: usize, bytes: &mut Vec<(u8, usize, usize)>) {
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
            .map(|byte| (byte, first, last + 1)),
    );
}
