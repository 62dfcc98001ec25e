//! Where front matter ends and the text begins.

use crate::dialect::FrontMatterFence;

/// A text cut in two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split<'t> {
    /// The block without its fences; `None` where there is no front matter.
    pub block: Option<&'t str>,
    /// The line on which the block begins, from 1.
    pub block_line: u32,
    /// What follows.
    pub body: &'t str,
    /// How many lines stand before the body.
    pub lines_before: u32,
}

/// Splits front matter off a text.
pub fn split(text: &str, fence: FrontMatterFence) -> Split<'_> {
    let cut = match fence {
        FrontMatterFence::Lines => by_lines(text),
        FrontMatterFence::AnyDashes => by_any_dashes(text),
        FrontMatterFence::LineStart => by_line_start(text),
    };
    let Some((block, body)) = cut else {
        return Split {
            block: None,
            block_line: 1,
            body: text,
            lines_before: 0,
        };
    };
    let lines = |before: usize| {
        let lines = text.bytes().take(before).filter(|byte| *byte == b'\n').count();
        u32::try_from(lines).unwrap_or(u32::MAX)
    };
    // The block is a part of the text, so their addresses tell how far into it.
    let start = block.as_ptr().addr() - text.as_ptr().addr();
    Split {
        block: Some(block),
        block_line: lines(start).saturating_add(1),
        body,
        lines_before: lines(text.len() - body.len()),
    }
}

/// The text after an opening `---` line, the white space after the dashes included.
fn after_opening(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("---")?;
    let blank = rest.len() - rest.trim_start_matches(is_space).len();
    let last_newline = rest.get(..blank)?.rfind('\n')?;
    rest.get(last_newline + 1..)
}

fn is_space(letter: char) -> bool {
    letter.is_whitespace() || letter == '\u{FEFF}'
}

fn by_any_dashes(text: &str) -> Option<(&str, &str)> {
    // The blank run after the dashes must reach a line end, but the block may begin anywhere behind the
    // first of them: the earliest closing dashes decide, and dashes do not occur in a blank run.
    let rest = after_opening(text)?;
    let close = rest.find("---")?;
    let block = rest.get(..close)?;
    let after = rest.get(close + 3..)?;
    Some((block, after.trim_start_matches(is_space)))
}

fn by_lines(text: &str) -> Option<(&str, &str)> {
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        let bare = line.trim_end();
        if bare == "---" || bare == "..." {
            return Some((rest.get(..at)?, rest.get(at + line.len()..)?));
        }
        at += line.len();
    }
    None
}

fn by_line_start(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---")?;
    let close = rest.find("\n---")?;
    let block = rest.get(..close)?;
    let body = rest.get(close + 4..)?.trim_start_matches('\n');
    Some((block.strip_prefix('\n').unwrap_or(block), body))
}
