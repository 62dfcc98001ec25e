//! What a cut took: the first heading, and sections that must be kept.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::super::manifest::Lost;

/// A heading and the part of the text it stands over. What stands before the first heading has no title.
struct Section<'t> {
    title: &'t str,
    range: Range<usize>,
    /// Where the next heading begins, of whatever level.
    own_end: usize,
}

impl Section<'_> {
    fn is_marked(&self, text: &str) -> bool {
        let own = text.get(self.range.start..self.own_end);
        own.is_some_and(|own| own.contains(MARK))
    }
}

/// Measures a loss: everything outside of the kept ranges.
pub(in crate::instructions) fn measure(
    text: &str,
    kept: &[Range<usize>],
    limit: u64,
    unit: &'static str,
    units: u64,
) -> Lost {
    let gaps = gaps(text, kept);
    let first = gaps.first().cloned().unwrap_or(text.len()..text.len());
    let lost: usize = gaps.iter().map(Range::len).sum();
    let lines = text
        .bytes()
        .take(first.start)
        .filter(|byte| *byte == b'\n')
        .count();
    let heading = sections(text)
        .into_iter()
        .skip(1)
        .find(|section| gaps.iter().any(|gap| gap.contains(&section.range.start)));
    Lost {
        limit,
        unit,
        units,
        bytes: lost as u64,
        first_lost_heading: heading.map(|section| section.title.to_owned()),
        from_line: u32::try_from(lines + 1).unwrap_or(u32::MAX),
    }
}

/// The mark below a heading, or before the first one, that makes the section one that must be kept.
const MARK: &str = "<!-- must-keep -->";

/// Titles of the sections that carry the mark themselves. Some clients take comments out of a text, so they
/// are looked for before that.
pub(in crate::instructions) fn marked_titles(text: &str) -> Vec<String> {
    if !text.contains(MARK) {
        return Vec::new();
    }
    let all = sections(text);
    let marked = all.iter().filter(|section| section.is_marked(text));
    marked.map(|section| section.title.to_owned()).collect()
}

/// The sections that must be kept, with their titles: by name, by the mark, or by a title that carried the
/// mark. A section within another one is part of that. In order.
pub(in crate::instructions) fn must_sections(
    text: &str,
    names: &[String],
    marked: &[String],
) -> Vec<(String, Range<usize>)> {
    let mut out: Vec<(String, Range<usize>)> = Vec::new();
    for section in sections(text) {
        let title = section.title;
        let is_named = names
            .iter()
            .any(|name| title == name || title.split_whitespace().any(|word| word == name));
        let is_must = is_named || marked.iter().any(|other| other == title) || section.is_marked(text);
        let is_within = out.last().is_some_and(|(_, last)| section.range.start < last.end);
        if is_must && !is_within {
            out.push((title.to_owned(), section.range));
        }
    }
    out
}

/// Titles of the sections that must be kept and of which a part is missing in what is kept.
pub(in crate::instructions) fn lost_sections(
    text: &str,
    kept: &str,
    must: &[(String, Range<usize>)],
) -> Vec<String> {
    let is_lost = |range: &Range<usize>| {
        let body = text.get(range.clone()).unwrap_or_default();
        !kept.contains(body.trim())
    };
    must.iter()
        .filter(|(_, range)| is_lost(range))
        .map(|(title, _)| title.clone())
        .collect()
}

fn gaps(text: &str, kept: &[Range<usize>]) -> Vec<Range<usize>> {
    let (mut gaps, mut at) = (Vec::new(), 0);
    for range in kept {
        if range.start > at {
            gaps.push(at..range.start);
        }
        at = at.max(range.end);
    }
    if at < text.len() {
        gaps.push(at..text.len());
    }
    gaps
}

/// The headings of a text, each with everything up to the next heading of its level or above.
fn sections(text: &str) -> Vec<Section<'_>> {
    let mut found: Vec<(usize, usize, Range<usize>)> = Vec::new();
    let mut title: Option<Range<usize>> = None;
    let mut start = None;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { .. }) => start = Some(range.start),
            Event::End(TagEnd::Heading(level)) => {
                if let Some(at) = start.take() {
                    found.push((at, level as usize, title.take().unwrap_or(at..at)));
                }
            }
            Event::Text(_) | Event::Code(_) if start.is_some() => {
                title = Some(title.map_or(range.clone(), |known| known.start..range.end));
            }
            _ => {}
        }
    }
    let first = found.first().map_or(text.len(), |(at, ..)| *at);
    let lead = Section {
        title: "",
        range: 0..first,
        own_end: first,
    };
    let sections = found
        .iter()
        .enumerate()
        .filter_map(|(number, (at, level, title))| {
            let next = found.iter().skip(number + 1).find(|(_, other, _)| other <= level);
            let below = found.get(number + 1).map_or(text.len(), |(at, ..)| *at);
            Some(Section {
                title: text.get(title.clone())?,
                range: *at..next.map_or(text.len(), |(at, ..)| *at),
                own_end: below,
            })
        });
    std::iter::once(lead).chain(sections).collect()
}
