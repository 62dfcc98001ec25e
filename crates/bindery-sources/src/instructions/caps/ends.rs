//! Cuts that keep start and end.

use std::ops::Range;
use std::path::Path;

use super::super::manifest::{fill, fill_path};
use super::{Asked, Verdict, measure};
use crate::dialect::{Cap, CapUnit};

/// What a cut of the middle leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::instructions) struct Kept {
    /// The text as sent, marker included, heading not.
    pub(in crate::instructions) text: String,
    /// The ranges of the file's text that are kept, in bytes.
    pub(in crate::instructions) ranges: Vec<Range<usize>>,
    /// Characters lost.
    pub(in crate::instructions) lost: u64,
}

impl Kept {
    pub(super) fn verdict(self, unit: CapUnit, asked: Asked<'_>, limit: u64) -> Verdict {
        let unit = match unit {
            CapUnit::Bytes => "bytes",
            CapUnit::Characters => "characters",
        };
        let bytes: usize = self.ranges.iter().map(Range::len).sum();
        Verdict::Part {
            text: self.text,
            bytes: bytes as u64,
            lost: measure(asked.text, &self.ranges, limit, unit, self.lost),
        }
    }
}

/// The first `count` characters.
pub(in crate::instructions) fn first_chars(text: &str, count: u64) -> &str {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let end = text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// Where the last `count` characters begin.
pub(super) fn last_chars(text: &str, count: u64) -> usize {
    let total = text.chars().count() as u64;
    first_chars(text, total.saturating_sub(count)).len()
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "limits are far below 2^52, and shares lie between 0 and 1"
)]
pub(super) fn share(limit: u64, part: f64) -> u64 {
    (limit as f64 * part) as u64
}

/// Cuts the middle out of a text that is too long together with its heading; `None` where it fits.
pub(in crate::instructions) fn cut_ends(
    cap: &Cap,
    limit: u64,
    heading: &str,
    asked: Asked<'_>,
) -> Option<Kept> {
    let heading_length = heading.chars().count() as u64;
    let length = asked.text.chars().count() as u64;
    let total = heading_length + length;
    if total <= limit {
        return None;
    }
    let room = if cap.cut.marker_counts {
        let marker = fill_marker(&cap.cut.marker, asked.path, limit, limit, total);
        limit.saturating_sub(marker.chars().count() as u64)
    } else {
        limit
    };
    let (head, tail) = (share(room, cap.cut.head), share(room, cap.cut.tail));
    let head_text = first_chars(asked.text, head.saturating_sub(heading_length));
    let tail_from = last_chars(asked.text, tail).max(head_text.len());
    let digest = digest(
        asked.text,
        head_text.len()..tail_from,
        share(room, cap.cut.digest),
    );
    let marker = fill_marker(&cap.cut.marker, asked.path, head, tail, total);
    let mut text = head_text.to_owned();
    text.push_str(&marker);
    let mut ranges: Vec<Range<usize>> = std::iter::once(0..head_text.len()).collect();
    for range in digest {
        text.push_str(asked.text.get(range.clone()).unwrap_or_default());
        ranges.push(range);
    }
    text.push_str(asked.text.get(tail_from..).unwrap_or_default());
    ranges.push(tail_from..asked.text.len());
    let kept: usize = ranges
        .iter()
        .filter_map(|range| asked.text.get(range.clone()))
        .map(|part| part.chars().count())
        .sum();
    Some(Kept {
        text,
        ranges,
        lost: length.saturating_sub(kept as u64),
    })
}

/// Lines of the middle that read like rules, as far as the share goes.
fn digest(text: &str, middle: Range<usize>, share: u64) -> Vec<Range<usize>> {
    const WORDS: [&str; 8] = [
        "must",
        "never",
        "always",
        "do not",
        "don't",
        "required",
        "forbidden",
        "only",
    ];
    let mut left = usize::try_from(share).unwrap_or(usize::MAX);
    let mut kept = Vec::new();
    let mut at = middle.start;
    for line in text.get(middle).unwrap_or_default().split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let lower = line.to_lowercase();
        let length = line.chars().count();
        if WORDS.iter().any(|word| lower.contains(word)) && length <= left {
            left -= length;
            kept.push(range);
        }
    }
    kept
}

pub(super) fn fill_marker(marker: &str, path: &Path, head: u64, tail: u64, total: u64) -> String {
    let parts = [
        ("{head}", head.to_string()),
        ("{tail}", tail.to_string()),
        ("{kept}", (head + tail).to_string()),
        ("{total}", total.to_string()),
    ];
    let parts: Vec<(&str, &str)> = parts
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    fill(&fill_path(marker, path), &parts)
}
