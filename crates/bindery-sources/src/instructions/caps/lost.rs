//! What a cut took: the first heading, and sections that must be kept.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::super::manifest::Lost;

/// A heading and the part of the text it stands over.
struct Section<'t> {
    title: &'t str,
    range: Range<usize>,
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

/// Titles of sections that must be kept and of which a part lies outside the kept ranges.
pub(in crate::instructions) fn lost_sections(text: &str, kept: &str, must_keep: &[String]) -> Vec<String> {
    let all = sections(text);
    all.iter()
        .filter_map(|section| {
            let body = text.get(section.range.clone())?;
            let named = must_keep.iter().any(|name| {
                section.title.split_whitespace().any(|word| word == name) || section.title == name
            });
            let marked = body.contains("<!-- must-keep -->");
            ((named || marked) && !kept.contains(body.trim())).then(|| section.title.to_owned())
        })
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
    let sections = found
        .iter()
        .enumerate()
        .filter_map(|(number, (at, level, title))| {
            let next = found.iter().skip(number + 1).find(|(_, other, _)| other <= level);
            Some(Section {
                title: text.get(title.clone())?,
                range: *at..next.map_or(text.len(), |(at, ..)| *at),
            })
        });
    sections.collect()
}
