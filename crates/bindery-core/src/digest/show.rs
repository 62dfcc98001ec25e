//! How a digest stands in the conversation, and how it names what it is of.

use super::{Digested, Shape};
use crate::ContentHash;

/// The words around it. Text that people edit lives in files.
const HEAD: &str = include_str!("../../../../sections/runtime/large-result.md");

/// What names kept content in a conversation: `blob:` and the first sixteen digits of its hash, which are
/// enough to tell the contents of one session apart.
pub fn reference(hash: &ContentHash) -> String {
    let digits: String = hash.to_string().chars().take(16).collect();
    format!("blob:{digits}")
}

impl Digested {
    /// The text that stands in the result's place.
    pub fn text(&self, kept: &ContentHash) -> String {
        let head = HEAD
            .trim_end()
            .replace("{{size}}", &self.size())
            .replace("{{shown}}", &self.shown)
            .replace("{{reference}}", &reference(kept));
        format!("{head}\n{}", self.body)
    }

    /// How much there was, in words.
    pub fn size(&self) -> String {
        let what = match self.shape {
            Shape::Json => "JSON",
            Shape::Diff => "a diff",
            Shape::Tests => "test output",
            Shape::Log => "a log",
            Shape::Text => "text",
        };
        let line = if self.lines == 1 { "line" } else { "lines" };
        format!("{} {line}, {} bytes of {what}", self.lines, self.bytes)
    }
}
