//! Bytes of a file as text, with a way back to the bytes.

use std::borrow::Cow;
use std::ops::Range;

use crate::finding::{Kind, Reading, Severity};
use crate::unicode::Raw;
use crate::view::View;

/// A text as read from bytes. UTF-8 is taken as it is, UTF-16 is converted, and each byte that is
/// neither counts as one unknown character, so that offsets stay true.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    content: Cow<'a, str>,
    /// Set where the text's offsets are not the bytes'.
    map: Option<View>,
    broken: Vec<Range<usize>>,
}

/// Stands for a byte that is no text.
const UNKNOWN: char = '\u{1A}';

impl<'a> Text<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Self {
        match bytes {
            [0xFF, 0xFE, ..] => Self::utf16(bytes, u16::from_le_bytes),
            [0xFE, 0xFF, ..] => Self::utf16(bytes, u16::from_be_bytes),
            _ => Self::utf8(bytes),
        }
    }

    fn utf8(bytes: &'a [u8]) -> Self {
        if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
            return Self {
                content: Cow::Borrowed(text),
                map: None,
                broken: Vec::new(),
            };
        }
        let mut text = String::with_capacity(bytes.len());
        let mut broken = Vec::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            let start = text.len();
            text.extend(chunk.invalid().iter().map(|_| UNKNOWN));
            if !chunk.invalid().is_empty() {
                broken.push(start..text.len());
            }
        }
        Self {
            content: Cow::Owned(text),
            map: None,
            broken,
        }
    }

    fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Self {
        let units = bytes
            .chunks_exact(2)
            .filter_map(|pair| pair.try_into().ok())
            .map(unit);
        let mut view = View::with_capacity(bytes.len());
        let mut at = 0;
        for letter in char::decode_utf16(units) {
            let letter = letter.unwrap_or(UNKNOWN);
            let width = letter.len_utf16() * 2;
            view.push_str(letter.encode_utf8(&mut [0; 4]), at, width);
            at += width;
        }
        let text = String::from_utf8_lossy(view.text()).into_owned();
        Self {
            content: Cow::Owned(text),
            map: Some(view),
            broken: Vec::new(),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.content
    }

    /// The bytes behind a range of the text.
    pub(crate) fn source_range(&self, range: &Range<usize>) -> Range<usize> {
        self.map
            .as_ref()
            .map_or_else(|| range.clone(), |map| map.source_range(range))
    }

    /// What is wrong with the encoding, in ranges of the text.
    pub(crate) fn faults(&self) -> Option<Raw> {
        let first = self.broken.first()?;
        let bytes: usize = self.broken.iter().map(Range::len).sum();
        Some(Raw {
            rule: "encoding.invalid",
            kind: Kind::BrokenEncoding,
            severity: Severity::Low,
            confidence: crate::finding::Confidence::High,
            span: first.clone(),
            reading: Reading::Plain,
            reason: format!(
                "{bytes} bytes are not UTF-8; a model may read something else here than a person"
            ),
            decoded: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_bytes_keep_offsets() {
        let text = Text::read(b"a\xFF\xFEb");
        assert_eq!(text.as_str(), "a\u{1A}\u{1A}b");
        assert_eq!(text.faults().map(|raw| raw.span), Some(1..2));
    }

    #[test]
    fn utf16_is_read_and_mapped() {
        let bytes: Vec<u8> = "\u{FEFF}aé".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let text = Text::read(&bytes);
        assert_eq!(text.as_str(), "\u{FEFF}aé");
        assert_eq!(text.source_range(&(3..4)), 2..4);
        assert_eq!(text.source_range(&(4..6)), 4..6);
    }
}
