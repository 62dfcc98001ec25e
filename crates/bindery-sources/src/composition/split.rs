//! Front matter and body, apart.

use crate::notice::{Notice, Position};

/// A file cut in two.
pub(crate) struct Split<'t> {
    /// The YAML between the fences. It starts on line 2.
    pub(crate) header: &'t str,
    /// Everything after the closing fence.
    pub(crate) body: &'t str,
    /// The line of the file on which the body starts, from 1.
    pub(crate) body_line: u32,
}

/// Cuts a text at its front matter: a first line of `---`, and the next line that is `---` again.
/// `None` if it has none, or none that ends.
pub(crate) fn split(text: &str) -> Option<Split<'_>> {
    let (first, rest) = text.split_once('\n')?;
    if !is_fence(first) {
        return None;
    }
    let mut offset = 0;
    for (index, line) in rest.split_inclusive('\n').enumerate() {
        if is_fence(line.trim_end_matches('\n')) {
            let header = rest.get(..offset)?;
            let body = rest.get(offset + line.len()..)?;
            let body_line = crate::notice::number(index).saturating_add(3);
            return Some(Split {
                header,
                body,
                body_line,
            });
        }
        offset += line.len();
    }
    None
}

/// The error for a file of which [`split`] says that its front matter does not end.
pub(crate) fn unclosed(code: &'static str, shown: &str) -> Notice {
    Notice::error(
        code,
        Position::line(shown, 1),
        "the front matter that starts here does not end",
    )
    .mend("close it with a line of `---`")
}

/// Whether a line opens or closes front matter; blanks after it are not seen in an editor.
pub(crate) fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}
