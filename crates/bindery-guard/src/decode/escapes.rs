//! Percent, HTML and backslash escapes, decoded in place.

use super::Payload;
use crate::finding::Reading;
use crate::view::View;

/// The line with its escapes replaced, if at least three stood for something.
pub(super) fn decode(text: &str, start: usize) -> Option<Payload> {
    let mut view = View::with_capacity(text.len());
    let mut rest = text;
    let mut replaced = 0;
    while !rest.is_empty() {
        let at = start + text.len() - rest.len();
        if let Some((letter, len)) = escape(rest) {
            view.push_str(letter.encode_utf8(&mut [0; 4]), at, len);
            replaced += 1;
            rest = rest.get(len..).unwrap_or_default();
            continue;
        }
        // Up to the next byte that an escape may begin with.
        let tail = rest.as_bytes().get(1..).unwrap_or_default();
        let len = memchr::memchr3(b'%', b'&', b'\\', tail).map_or(rest.len(), |len| len + 1);
        let (plain, tail) = rest.split_at_checked(len).unwrap_or((rest, ""));
        view.copy(plain.as_bytes(), at);
        rest = tail;
    }
    (replaced >= 3).then_some(Payload::new(Reading::Escapes, view))
}

/// The character of the escape at the start of `text`, and the length of the escape.
fn escape(text: &str) -> Option<(char, usize)> {
    match text.as_bytes() {
        [b'%', ..] => percent(text),
        [b'&', b'#', b'x' | b'X', ..] => numeric(text, 3, 16, b";"),
        [b'&', b'#', ..] => numeric(text, 2, 10, b";"),
        [b'&', ..] => named(text),
        [b'\\', b'u', b'{', ..] => numeric(text, 3, 16, b"}"),
        [b'\\', b'u', ..] => fixed(text, 2, 4),
        [b'\\', b'U', ..] => fixed(text, 2, 8),
        [b'\\', b'x', ..] => fixed(text, 2, 2),
        [b'\\', b'0'..=b'7', ..] => octal(text),
        _ => None,
    }
}

/// One character of UTF-8 in percent escapes.
fn percent(text: &str) -> Option<(char, usize)> {
    let mut bytes = Vec::with_capacity(4);
    let mut rest = text;
    while let Some(hex) = rest.strip_prefix('%').and_then(|tail| tail.get(..2)) {
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        rest = rest.get(3..).unwrap_or_default();
        if let Ok(Some(letter)) = std::str::from_utf8(&bytes).map(|text| text.chars().next()) {
            return Some((letter, text.len() - rest.len()));
        }
        if bytes.len() == 4 {
            break;
        }
    }
    None
}

fn numeric(text: &str, prefix: usize, radix: u32, close: &[u8]) -> Option<(char, usize)> {
    let digits = text.get(prefix..)?;
    let len = digits
        .chars()
        .take(8)
        .take_while(|digit| digit.is_digit(radix))
        .count();
    let code = u32::from_str_radix(digits.get(..len)?, radix).ok()?;
    let closed = digits
        .as_bytes()
        .get(len)
        .is_some_and(|byte| close.contains(byte));
    Some((char::from_u32(code)?, prefix + len + usize::from(closed)))
}

fn fixed(text: &str, prefix: usize, len: usize) -> Option<(char, usize)> {
    let digits = text.get(prefix..prefix + len)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    Some((char::from_u32(code)?, prefix + len))
}

fn octal(text: &str) -> Option<(char, usize)> {
    let digits = text.get(1..4)?;
    let code = u32::from_str_radix(digits, 8).ok()?;
    Some((char::from_u32(code).filter(|letter| *letter >= ' ')?, 4))
}

fn named(text: &str) -> Option<(char, usize)> {
    const NAMES: [(&str, char); 15] = [
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&amp;", '&'),
        ("&quot;", '"'),
        ("&apos;", '\''),
        ("&nbsp;", ' '),
        ("&sol;", '/'),
        ("&period;", '.'),
        ("&colon;", ':'),
        ("&lowbar;", '_'),
        ("&num;", '#'),
        ("&vert;", '|'),
        ("&Tab;", '\t'),
        ("&NewLine;", '\n'),
        ("&comma;", ','),
    ];
    NAMES
        .iter()
        .find(|(name, _)| text.starts_with(name))
        .map(|(name, letter)| (*letter, name.len()))
}
