//! Strings of JSON, decoded in place.

use super::Payload;
use crate::finding::Reading;
use crate::view::View;

/// The line with the escapes of its strings replaced, if it has any.
pub(super) fn decode(text: &str, start: usize) -> Option<Payload> {
    let mut view = View::with_capacity(text.len());
    let mut at = 0;
    let mut replaced = false;
    while let Some(len) = memchr::memchr(b'\\', text.as_bytes().get(at..).unwrap_or_default()) {
        view.copy(text.as_bytes().get(at..at + len).unwrap_or_default(), start + at);
        at += len;
        if let Some((letter, len)) = escape(text.get(at..).unwrap_or_default()) {
            view.push_str(letter.encode_utf8(&mut [0; 4]), start + at, len);
            at += len;
            replaced = true;
        } else {
            view.copy(b"\\", start + at);
            at += 1;
        }
    }
    view.copy(text.as_bytes().get(at..).unwrap_or_default(), start + at);
    replaced.then_some(Payload::new(Reading::JsonString, view))
}

/// The character of the escape at the start of `text` (RFC 8259, section 7), and the length of the escape.
fn escape(text: &str) -> Option<(char, usize)> {
    Some(match text.as_bytes().get(1)? {
        b'n' | b'r' => ('\n', 2),
        // Regular expressions mean other things by the last two than JSON does.
        b't' | b'b' | b'f' => (' ', 2),
        b'"' => ('"', 2),
        b'/' => ('/', 2),
        b'\\' => ('\\', 2),
        b'u' => return unit(text),
        _ => return None,
    })
}

/// One character of one or two units of UTF-16. Half a pair is an unknown character.
fn unit(text: &str) -> Option<(char, usize)> {
    let at = |from: usize| {
        let digits = text.get(from..from + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = at(0)?;
    if let Some(letter) = char::from_u32(u32::from(first)) {
        return Some((letter, 6));
    }
    let pair = at(6).and_then(|second| char::decode_utf16([first, second]).next()?.ok());
    Some(pair.map_or((char::REPLACEMENT_CHARACTER, 6), |letter| (letter, 12)))
}
