//! Cuts that keep the sections which must be kept, and let other text give way.

use std::ops::Range;

use super::ends::{Kept, fill_marker, first_chars, last_chars, share};
use super::{Asked, size, size_of};
use crate::dialect::{Cap, CapUnit, Keep};

/// Units of the parts of a text that must be kept.
pub(super) fn units(cap: &Cap, asked: Asked<'_>) -> u64 {
    let parts = asked.must.iter().filter_map(|part| asked.text.get(part.clone()));
    parts.map(|part| size_of(cap.unit, part)).sum()
}

/// Cuts a text that is too long: first the parts that must be kept, then of the rest what the cap keeps,
/// as far as there is room. `None` where the parts alone are over the limit.
pub(super) fn cut_around(cap: &Cap, limit: u64, heading: &str, asked: Asked<'_>) -> Option<Kept> {
    let total = size(cap.unit, asked);
    let marker = fill_marker(&cap.cut.marker, asked.path, limit, limit, total);
    // Each part begins on a line of its own.
    let breaks = asked.must.len() as u64 + 1;
    let fixed = units(cap, asked) + size_of(cap.unit, heading);
    let around = fixed + size_of(cap.unit, &marker) + breaks;
    if fixed > limit {
        return None;
    }
    let others = between(asked.text.len(), asked.must);
    let rest = fill(cap, limit.saturating_sub(around), asked.text, &others);
    let mut ranges: Vec<Range<usize>> = asked.must.iter().cloned().chain(rest).collect();
    ranges.sort_by_key(|range| range.start);
    let ranges = joined(ranges);
    let marker = if around <= limit { marker.as_str() } else { "" };
    let text = write(asked.text, &ranges, marker);
    let kept: u64 = ranges
        .iter()
        .filter_map(|range| asked.text.get(range.clone()))
        .map(|part| size_of(cap.unit, part))
        .sum();
    Some(Kept {
        text,
        ranges,
        lost: total.saturating_sub(kept),
    })
}

/// The ranges of a text that lie outside of some others, which are sorted.
fn between(length: usize, others: &[Range<usize>]) -> Vec<Range<usize>> {
    let (mut out, mut at) = (Vec::new(), 0);
    for other in others {
        out.push(at..other.start.max(at));
        at = at.max(other.end);
    }
    out.push(at..length);
    out.retain(|range| !range.is_empty());
    out
}

/// What fits of some ranges, from both of their ends as the cap wants it.
fn fill(cap: &Cap, room: u64, text: &str, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let head = match cap.cut.keep {
        Keep::Start => room,
        Keep::Ends => share(
            room,
            cap.cut.head / (cap.cut.head + cap.cut.tail).max(f64::EPSILON),
        ),
    };
    let mut out = Vec::new();
    let (mut left, mut first_open) = (head, ranges.len());
    let mut rest = Vec::new();
    for (index, range) in ranges.iter().enumerate() {
        let part = text.get(range.clone()).unwrap_or_default();
        let taken = range.start + whole_lines(start_of(cap.unit, part, left), part, range.start).len();
        left = left.saturating_sub(size_of(
            cap.unit,
            text.get(range.start..taken).unwrap_or_default(),
        ));
        out.push(range.start..taken);
        if taken < range.end {
            first_open = index;
            rest.push(taken..range.end);
            break;
        }
    }
    rest.extend(ranges.iter().skip(first_open + 1).cloned());
    let mut left = room - head;
    for range in rest.iter().rev() {
        let part = text.get(range.clone()).unwrap_or_default();
        let from = range.start + next_line(part, end_of(cap.unit, part, left));
        left = left.saturating_sub(size_of(cap.unit, text.get(from..range.end).unwrap_or_default()));
        out.push(from..range.end);
        if from > range.start {
            break;
        }
    }
    out.retain(|range| !range.is_empty());
    out
}

fn start_of(unit: CapUnit, text: &str, room: u64) -> &str {
    match unit {
        CapUnit::Characters => first_chars(text, room),
        CapUnit::Bytes => {
            let end = text.floor_char_boundary(usize::try_from(room).unwrap_or(usize::MAX));
            text.get(..end).unwrap_or_default()
        }
    }
}

/// Where the last `room` units of a text begin.
fn end_of(unit: CapUnit, text: &str, room: u64) -> usize {
    match unit {
        CapUnit::Characters => last_chars(text, room),
        CapUnit::Bytes => {
            let at = text
                .len()
                .saturating_sub(usize::try_from(room).unwrap_or(usize::MAX));
            text.ceil_char_boundary(at)
        }
    }
}

/// A start without the line that it breaks off. A text of one line is broken off all the same.
fn whole_lines<'t>(start: &'t str, whole: &str, at: usize) -> &'t str {
    if start.len() == whole.len() {
        return start;
    }
    match start.rfind('\n') {
        Some(end) => start.get(..=end).unwrap_or(start),
        None if at == 0 => start,
        None => "",
    }
}

/// Where an end begins without the line that it breaks into.
fn next_line(text: &str, from: usize) -> usize {
    let before = text.get(..from).unwrap_or_default();
    if before.is_empty() || before.ends_with('\n') {
        return from;
    }
    let rest = text.get(from..).unwrap_or_default();
    rest.find('\n').map_or(from, |end| from + end + 1)
}

fn joined(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

/// The kept ranges, each on a line of its own, with the marker in the first gap.
fn write(text: &str, ranges: &[Range<usize>], marker: &str) -> String {
    let (mut out, mut at, mut marker) = (String::new(), 0, Some(marker));
    let ends = text.len()..text.len();
    for range in ranges.iter().chain([&ends]) {
        if range.start > at {
            out.push_str(marker.take().unwrap_or_default());
            if !out.is_empty() && !out.ends_with('\n') && !range.is_empty() {
                out.push('\n');
            }
        }
        out.push_str(text.get(range.clone()).unwrap_or_default());
        at = range.end;
    }
    out
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::super::lost::must_sections;
    use super::*;
    use crate::dialect::{CapAcross, Cut, FixedLimit};

    fn cap(unit: CapUnit, keep: Keep) -> Cap {
        Cap {
            unit,
            limit: FixedLimit::Fixed(0),
            across: CapAcross::File,
            cut: Cut {
                keep,
                head: 0.7,
                tail: 0.2,
                digest: 0.0,
                marker: "[cut]".to_owned(),
                marker_counts: true,
            },
            heading: None,
            total: None,
            setting: None,
            least_useful: 0,
        }
    }

    fn kept(cap: &Cap, limit: u64, text: &str) -> Option<Kept> {
        let must = must_sections(text, &["MUST".to_owned()], &[]);
        let must: Vec<_> = must.into_iter().map(|(_, range)| range).collect();
        let asked = Asked {
            path: Path::new("/p/AGENTS.md"),
            raw: text.as_bytes(),
            text,
            must: &must,
        };
        cut_around(cap, limit, "", asked)
    }

    #[test]
    fn other_text_gives_way() {
        let text = "# A\none\ntwo\n## MUST\nnever push\n## B\nthree\nfour\n";
        let start = kept(&cap(CapUnit::Bytes, Keep::Start), 36, text).unwrap();
        assert_eq!(start.text, "# A\none\n[cut]\n## MUST\nnever push\n");
        let ends = kept(&cap(CapUnit::Characters, Keep::Ends), 48, text).unwrap();
        assert_eq!(
            ends.text,
            "# A\none\ntwo\n## MUST\nnever push\n## B\n[cut]\nfour\n"
        );
        assert_eq!(kept(&cap(CapUnit::Characters, Keep::Ends), 10, text), None);
    }

    proptest! {
        #[test]
        fn what_must_be_kept_is_kept_within_the_limit(
            parts in prop::collection::vec("(## [A-Z]{1,6}|## MUST|[a-z\u{e9} ]{0,12})\n", 0..20),
            limit in 0_u64..200,
        ) {
            let text: String = parts.concat();
            for unit in [CapUnit::Bytes, CapUnit::Characters] {
                for keep in [Keep::Start, Keep::Ends] {
                    let Some(kept) = kept(&cap(unit, keep), limit, &text) else { continue };
                    prop_assert!(size_of(unit, &kept.text) <= limit.max(size_of(unit, &text)));
                    for (_, part) in must_sections(&text, &["MUST".to_owned()], &[]) {
                        prop_assert!(kept.text.contains(text.get(part).unwrap().trim_end()));
                    }
                    if size_of(unit, &text) > limit {
                        prop_assert!(size_of(unit, &kept.text) <= limit, "{} in {limit}", kept.text);
                    }
                }
            }
        }
    }
}
