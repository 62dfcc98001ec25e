//! Payloads: text behind an encoding, decoded with a map back to the source.
//!
//! One pass ([`sniff`]) notes where an encoding may stand; only there a decoder runs. What comes out
//! must read as text, or it is dropped.

mod base;
mod escapes;
mod json;
mod leet;
pub(crate) mod mirror;
mod morse;
mod numbers;
mod outline;
mod payload;
mod sniff;

use crate::matcher::Work;

pub(crate) use payload::Payload;
pub(crate) use sniff::sniff;

/// Where an encoding may stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) encoding: Encoding,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// A run of the base64 alphabet, which hexadecimal is part of.
    Base,
    /// Between `<~` and `~>`.
    Ascii85,
    /// A line with percent, HTML or backslash escapes.
    Escapes,
    /// A line with many numbers of one kind.
    Numbers,
    /// A line with dots and dashes.
    Morse,
    /// A line with digits within words.
    Leet,
    /// A line with escapes as strings of JSON have them.
    Json,
}

/// Decodes all candidates of `source`.
pub(crate) fn payloads(source: &str, work: &mut Work) -> Vec<Payload> {
    let mut found = Vec::new();
    let candidates = sniff(source.as_bytes());
    work.add(source.len());
    let mut rest = candidates.as_slice();
    while let [first, tail @ ..] = rest {
        let rest_from_first = rest;
        rest = tail;
        let range = first.start..first.end;
        work.add(range.len());
        let text = source.get(range).unwrap_or_default();
        match first.encoding {
            Encoding::Base => {
                // Wrapped lines of one payload belong together.
                let lines = 1 + base::continued(source, first, tail);
                let run = rest_from_first.get(..lines).unwrap_or_default();
                rest = rest_from_first.get(lines..).unwrap_or_default();
                found.extend(base::decode(source, run));
            }
            Encoding::Ascii85 => found.extend(base::ascii85(text, first.start)),
            Encoding::Escapes => found.extend(escapes::decode(text, first.start)),
            Encoding::Numbers => found.extend(numbers::decode(text, first.start)),
            Encoding::Morse => found.extend(morse::decode(text, first.start)),
            Encoding::Leet => found.extend(leet::decode(text, first.start)),
            Encoding::Json => found.extend(json::decode(text, first.start)),
        }
    }
    found
}

#[cfg(test)]
mod tests;
