//! Where in a Markdown document a byte stands.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::finding::Position;
use crate::matcher::Work;

/// Positions of all bytes of a document.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    /// Where each stretch starts, and what it is.
    starts: Vec<(usize, Position)>,
}

impl Regions {
    /// Reads `source` as Markdown. Any text is Markdown.
    pub(crate) fn new(source: &str, work: &mut Work) -> Self {
        work.add(source.len());
        let mut spans = Vec::new();
        let options = Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
            | Options::ENABLE_TABLES
            | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
        let parser = Parser::new_ext(source, options);
        for (label, definition) in parser.reference_definitions().iter() {
            spans.push((
                definition.span.clone(),
                definition_position(label, &definition.dest),
            ));
        }
        let mut images = 0_usize;
        for (event, range) in parser.into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(_)) => spans.push((range, Position::CodeBlock)),
                Event::Start(Tag::BlockQuote(_)) => spans.push((range, Position::Quotation)),
                Event::Start(Tag::MetadataBlock(_)) => spans.push((range, Position::FrontMatter)),
                Event::Start(Tag::Image { .. }) => {
                    images += 1;
                    spans.push((range, Position::LinkTarget));
                }
                Event::End(pulldown_cmark::TagEnd::Image) => images = images.saturating_sub(1),
                Event::Start(Tag::Link { .. }) => spans.push((range, Position::LinkTarget)),
                Event::Text(_) if images == 0 => spans.push((range, Position::Prose)),
                Event::Code(_) => spans.push((range, Position::InlineCode)),
                _ => {}
            }
        }
        let code = flatten(spans.clone());
        for (range, position) in hidden_markup(source, work) {
            if !matches!(code.at(range.start), Position::CodeBlock | Position::InlineCode) {
                spans.push((range, position));
            }
        }
        work.add(spans.len());
        flatten(spans)
    }

    /// Where the byte at `offset` stands.
    pub(crate) fn at(&self, offset: usize) -> Position {
        let index = self.starts.partition_point(|(start, _)| *start <= offset);
        index
            .checked_sub(1)
            .and_then(|index| self.starts.get(index))
            .map_or(Position::Prose, |(_, position)| *position)
    }
}

/// A definition that nothing refers to is the usual way to hide a comment.
fn definition_position(label: &str, target: &str) -> Position {
    let comment =
        label.starts_with("//") || label.eq_ignore_ascii_case("comment") || matches!(target, "#" | "" | "<>");
    if comment {
        Position::Comment
    } else {
        Position::LinkTarget
    }
}

/// Nested spans to stretches: the innermost span decides. Text within code, quotations and hidden
/// markup keeps what surrounds it.
fn flatten(mut spans: Vec<(Range<usize>, Position)>) -> Regions {
    spans.sort_by_key(|(range, position)| {
        (
            range.start,
            std::cmp::Reverse(range.end),
            *position == Position::Prose,
        )
    });
    let mut starts: Vec<(usize, Position)> = vec![(0, Position::Prose)];
    let mut open: Vec<(usize, Position)> = Vec::new();
    for (range, position) in spans {
        while let Some(&(end, _)) = open.last() {
            if end > range.start {
                break;
            }
            open.pop();
            starts.push((
                end,
                open.last().map_or(Position::Prose, |(_, position)| *position),
            ));
        }
        let around = open.last().map(|(_, position)| *position);
        let position = match (around, position) {
            (Some(around), Position::Prose) if around != Position::LinkTarget => around,
            (Some(around), _) if around.is_hidden() => around,
            (_, position) => position,
        };
        starts.push((range.start, position));
        open.push((range.end, position));
    }
    while let Some((end, _)) = open.pop() {
        starts.push((
            end,
            open.last().map_or(Position::Prose, |(_, position)| *position),
        ));
    }
    Regions { starts }
}

/// Longest attribute list looked at.
const LONGEST_TAG: usize = 600;

/// HTML comments and elements that are not shown.
fn hidden_markup(source: &str, work: &mut Work) -> Vec<(Range<usize>, Position)> {
    let mut found = Vec::new();
    let mut at = 0;
    // The first `>` from `open` on.
    let mut close = None;
    while let Some(open) = source
        .get(at..)
        .and_then(|rest| rest.find('<'))
        .map(|open| at + open)
    {
        let rest = source.get(open..).unwrap_or_default();
        if let Some(inner) = rest.strip_prefix("<!--") {
            let end = inner.find("-->").map_or(source.len(), |end| open + 4 + end + 3);
            found.push((open..end, Position::Comment));
            work.add(end - open);
            at = end;
            continue;
        }
        let close = match close {
            Some(known) if known >= open => known,
            _ => {
                let next = source.get(open..).and_then(|rest| rest.find('>'));
                let next = next.map_or(source.len(), |next| open + next);
                work.add(next - open);
                *close.insert(next)
            }
        };
        let tag = tag(source, open, close);
        at = open + tag.map_or(1, str::len);
        let Some(tag) = tag.filter(|tag| is_hidden(tag)) else {
            continue;
        };
        let name: String = tag
            .chars()
            .skip(1)
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        let close = format!("</{name}");
        let end = find_ignoring_case(source.get(at..).unwrap_or_default(), &close)
            .map_or(source.len(), |end| at + end);
        work.add(end - at);
        found.push((open..end, Position::HiddenMarkup));
        at = end;
    }
    found
}

/// The tag from `open` to `close`, if there is one.
fn tag(source: &str, open: usize, close: usize) -> Option<&str> {
    let tag = source.get(open..=close).filter(|tag| tag.len() <= LONGEST_TAG)?;
    tag.as_bytes().get(1)?.is_ascii_alphabetic().then_some(tag)
}

fn find_ignoring_case(text: &str, needle: &str) -> Option<usize> {
    text.as_bytes()
        .windows(needle.len().max(1))
        .position(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
}

fn is_hidden(tag: &str) -> bool {
    let tag: String = tag
        .to_ascii_lowercase()
        .chars()
        .filter(|letter| *letter != ' ')
        .collect();
    let styles = [
        "display:none",
        "visibility:hidden",
        "font-size:0",
        "opacity:0",
        "color:#fff",
        "color:white",
        "color:transparent",
        "text-indent:-",
        "left:-9",
        "clip:rect(0",
        "height:0",
        "max-height:0",
        "width:0",
        "font-size:1px",
    ];
    let body = tag
        .trim_start_matches('<')
        .trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
    let by_style = tag.contains("style=") && styles.iter().any(|style| tag.contains(style));
    by_style
        || body.starts_with("hidden")
        || tag.contains("\"hidden")
        || tag.ends_with("hidden>")
        || tag == "<hidden>"
        || tag.starts_with("<template")
        || tag.starts_with("<noscript")
}

#[cfg(test)]
mod tests;
