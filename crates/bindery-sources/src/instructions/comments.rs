//! Taking out HTML comments that are a block of their own.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// The text without block comments, or `None` where there is none to take out.
///
/// Only comments at the top level count: one in a list item, a quotation, a code block or the middle
/// of a line stays, and so does one that is never closed. With the last comment of a line goes the
/// line and the blank ones after it; text behind the comment stays. Line ends become LF.
pub(super) fn strip_block_comments(text: &str) -> Option<String> {
    if !text.contains("<!--") {
        return None;
    }
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (start, end) in html_blocks(&text) {
        let raw = text.get(start..end).unwrap_or_default();
        let Some(residue) = without_comments(raw) else {
            continue;
        };
        out.push_str(text.get(copied..start).unwrap_or_default());
        copied = end;
        if residue.trim().is_empty() {
            let rest = text.get(end..).unwrap_or_default();
            copied += rest.len() - rest.trim_start_matches('\n').len();
        } else {
            out.push_str(&residue);
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Some(out)
}

/// Top-level HTML blocks that begin with a comment, from the start of their line.
fn html_blocks(text: &str) -> Vec<(usize, usize)> {
    let mut blocks = Vec::new();
    let mut depth = 0_u32;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::HtmlBlock) if depth == 0 => {
                let before = text.get(..range.start).unwrap_or_default();
                let line = before.rfind('\n').map_or(0, |at| at + 1);
                let is_comment = text
                    .get(range.start..)
                    .is_some_and(|rest| rest.trim_start().starts_with("<!--"));
                if is_comment {
                    blocks.push((line, range.end));
                }
            }
            Event::Start(Tag::List(_) | Tag::BlockQuote(_) | Tag::Item) => depth += 1,
            Event::End(TagEnd::List(_) | TagEnd::BlockQuote(_) | TagEnd::Item) => {
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    blocks
}

/// The block without its closed comments; `None` where it has none.
pub(super) fn without_comments(raw: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = raw;
    let mut found = false;
    while let Some(open) = rest.find("<!--") {
        let inner = rest.get(open + 4..)?;
        let Some(close) = inner.find("-->") else { break };
        out.push_str(rest.get(..open)?);
        rest = inner.get(close + 3..)?;
        found = true;
    }
    out.push_str(rest);
    found.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::strip_block_comments;

    fn strip(text: &str) -> String {
        strip_block_comments(text).unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn a_comment_goes_with_its_line() {
        assert_eq!(strip("a\n<!-- x\n\ny -->\nb\n"), "a\nb\n");
        assert_eq!(strip("<!-- x --> after\nb\n"), " after\nb\n");
        assert_eq!(strip("a\r\n<!-- x -->\r\nb\r\n"), "a\nb\n");
    }

    #[test]
    fn other_comments_stay() {
        for text in [
            "a <!-- x --> b",
            "- a\n  <!-- x -->\n",
            "> <!-- x -->\n",
            "```\n<!-- x -->\n```\n",
            "    <!-- x -->\n",
            "<!-- open\n",
            "<!--->\n",
        ] {
            assert_eq!(strip(text), text);
        }
    }
}
