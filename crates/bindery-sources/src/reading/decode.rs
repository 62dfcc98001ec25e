//! Bytes to text, without losing a file.

use crate::dialect::Decode;

/// How bytes were read as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, little end first.
    Utf16Le,
    /// UTF-16, big end first.
    Utf16Be,
}

/// Text, and what had to be mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The text; a byte order mark in it is kept.
    pub text: String,
    /// The encoding used.
    pub encoding: Encoding,
    /// Offset in bytes of the first place that is not valid in that encoding.
    pub first_invalid: Option<usize>,
    /// Offset in bytes of the first NUL.
    pub first_nul: Option<usize>,
    /// The encoding the bytes seem to be in, where it is not the one used.
    pub looks_like: Option<&'static str>,
}

/// Reads bytes as text by a dialect's rule. `Utf8Strict` decodes as `Utf8Lossy` does; the caller sees
/// from `first_invalid` that the client would refuse.
pub fn decode(bytes: &[u8], rule: Decode) -> Decoded {
    let seen = sniff(bytes);
    let mut decoded = match (rule, seen) {
        (Decode::Detect, Some(encoding)) => utf16(bytes, encoding),
        _ => utf8(bytes),
    };
    decoded.looks_like = match seen {
        Some(Encoding::Utf16Le) if decoded.encoding == Encoding::Utf8 => Some("UTF-16LE"),
        Some(Encoding::Utf16Be) if decoded.encoding == Encoding::Utf8 => Some("UTF-16BE"),
        _ if decoded.first_invalid.is_some() && decoded.encoding == Encoding::Utf8 => single_byte(bytes),
        _ => None,
    };
    decoded
}

fn utf8(bytes: &[u8]) -> Decoded {
    let first_invalid = std::str::from_utf8(bytes).err().map(|fault| fault.valid_up_to());
    Decoded {
        text: String::from_utf8_lossy(bytes).into_owned(),
        encoding: Encoding::Utf8,
        first_invalid,
        first_nul: bytes.iter().position(|byte| *byte == 0),
        looks_like: None,
    }
}

fn utf16(bytes: &[u8], encoding: Encoding) -> Decoded {
    let units = bytes.chunks_exact(2).map(|pair| match (pair, encoding) {
        ([low, high], Encoding::Utf16Le) => u16::from_le_bytes([*low, *high]),
        ([high, low], _) => u16::from_be_bytes([*high, *low]),
        _ => 0,
    });
    let mut text = String::with_capacity(bytes.len() / 2);
    let (mut offset, mut first_invalid) = (0, None);
    for unit in char::decode_utf16(units) {
        if let Ok(letter) = unit {
            text.push(letter);
            offset += letter.len_utf16() * 2;
        } else {
            first_invalid.get_or_insert(offset);
            text.push(char::REPLACEMENT_CHARACTER);
            offset += 2;
        }
    }
    if bytes.len() % 2 == 1 {
        first_invalid.get_or_insert(bytes.len() - 1);
        text.push(char::REPLACEMENT_CHARACTER);
    }
    Decoded {
        first_nul: text.find('\0'),
        text,
        encoding,
        first_invalid,
        looks_like: None,
    }
}

/// UTF-16 by its mark, or by NULs in every other byte of the first kilobyte.
fn sniff(bytes: &[u8]) -> Option<Encoding> {
    match bytes {
        [0xFF, 0xFE, ..] => return Some(Encoding::Utf16Le),
        [0xFE, 0xFF, ..] => return Some(Encoding::Utf16Be),
        _ => {}
    }
    let sample = bytes.get(..bytes.len().min(1024) & !1).unwrap_or_default();
    if sample.len() < 4 {
        return None;
    }
    let pairs = sample.len() / 2;
    let nul = |at: usize| {
        sample
            .iter()
            .skip(at)
            .step_by(2)
            .filter(|byte| **byte == 0)
            .count()
    };
    let (even, odd) = (nul(0), nul(1));
    if odd * 10 >= pairs * 7 && even * 10 < pairs {
        Some(Encoding::Utf16Le)
    } else if even * 10 >= pairs * 7 && odd * 10 < pairs {
        Some(Encoding::Utf16Be)
    } else {
        None
    }
}

/// A guess for the report only: text in a Windows or Latin-1 code page has lone high bytes between
/// ASCII, and none of the C0 controls.
fn single_byte(bytes: &[u8]) -> Option<&'static str> {
    let control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0C);
    if bytes.iter().any(control) {
        return None;
    }
    let windows = bytes.iter().any(|byte| (0x80..0xA0).contains(byte));
    Some(if windows { "Windows-1252" } else { "ISO 8859-1" })
}
