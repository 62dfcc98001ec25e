//! Markdown links between files.

use std::path::{Path, PathBuf};

use bindery_sources::tree::Spelling;
use pulldown_cmark::{Event, Parser, Tag};

use super::codes::Code;
use super::diagnostic::{Diagnostic, Fix};
use super::imports::respelled;
use super::subject::{Subject, SubjectText};
use super::tables::Tables;

/// A link to a file, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    /// The path as written, without fragment.
    pub(super) written: String,
    /// Where the link begins, in bytes of the text.
    start: usize,
    /// Where it ends.
    end: usize,
}

/// The links of a text that mean files: no address, no anchor alone.
pub(super) fn links(text: &str) -> Vec<Link> {
    let mut out = Vec::new();
    for (event, range) in Parser::new(text).into_offset_iter() {
        let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else {
            continue;
        };
        let written = dest_url.split(['#', '?']).next().unwrap_or_default();
        let is_address = written.contains(':') || written.starts_with("//") || written.starts_with('<');
        // Templates and placeholders are no paths.
        let is_pattern = written.contains(['{', '}', '*', '$', '<', '>']);
        if !written.is_empty() && !is_address && !is_pattern {
            out.push(Link {
                written: written.to_owned(),
                start: range.start,
                end: range.end,
            });
        }
    }
    out
}

/// The file that a link means; `/x` is taken from the project's root, as forges do.
pub(super) fn target(link: &Link, file: &Path, root: &Path) -> PathBuf {
    let path = decoded(&link.written);
    match path.strip_prefix('/') {
        Some(inner) => root.join(inner),
        None => file.parent().unwrap_or(root).join(path),
    }
}

/// Percent escapes resolved; what is no escape stays.
fn decoded(written: &str) -> String {
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let byte = hex
            .filter(|_| *first == b'%')
            .and_then(|pair| u8::from_str_radix(pair, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() {
            after.get(2..).unwrap_or_default()
        } else {
            after
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(super) fn check(subject: &Subject, _: &Tables, out: &mut Vec<Diagnostic>) {
    let root = subject.tree.root();
    if !subject.tree.is_complete() {
        return;
    }
    for (shown, text) in subject
        .instructions()
        .into_iter()
        .filter(|(_, text)| text.path.starts_with(root))
    {
        for link in links(&text.text) {
            let target = target(&link, &text.path, root);
            if subject.tree.spelling(&target) == Spelling::Exact || subject.outside_tree.contains(&target) {
                continue;
            }
            let before = text.text.get(..link.start).unwrap_or_default();
            let line = u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX);
            out.push(
                match respelled(subject, text.path.parent().unwrap_or(root), &link.written) {
                    Some((new, meant)) => {
                        let message = format!(
                            "`{}` leads to nothing where case counts; the file is `{meant}`",
                            link.written
                        );
                        let one = Diagnostic::new(Code::LinkMisspelled, shown.clone(), line, message);
                        one.mend(format!("write `{new}`")).fix(fix(text, &link, new))
                    }
                    None => Diagnostic::new(
                        Code::LinkDead,
                        shown.clone(),
                        line,
                        format!("`{}` leads to nothing", link.written),
                    )
                    .mend("correct the path, or remove the link: a model that follows it wastes a step"),
                },
            );
        }
    }
}

fn fix(text: &SubjectText, link: &Link, new: String) -> Option<Fix> {
    let said = text.text.get(link.start..link.end)?;
    // The target stands last: the text before it may be the same word.
    let at = link.start + said.rfind(&link.written)?;
    let range = at..at + link.written.len();
    text.is_utf8().then(|| Fix {
        range,
        old: link.written.clone(),
        new,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_are_links() {
        let text =
            "[a](x.md#y) ![i](<a b.png>) [w](https://e.org) [m](mailto:a@b) [h](#t) `[c](c.md)` [t]({{x}})";
        let found: Vec<String> = links(text).into_iter().map(|link| link.written).collect();
        assert_eq!(found, ["x.md", "a b.png"]);
        assert_eq!(decoded("a%20b%zz%"), "a b%zz%");
    }
}
