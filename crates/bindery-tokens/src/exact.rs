//! Exact counts by published vocabularies.
//!
//! Text is counted as ordinary text: what looks like a special token (`<|endoftext|>`) is counted
//! by its letters, as a provider that does not let users forge special tokens counts it.

mod class;
mod layout;
mod merge;
mod recent;
mod split;
mod text;
mod vocabulary;

use bindery_core::{CountTokens, TokenCount};

use merge::Merger;
use recent::Recent;
use split::{Cl100k, O200k, Split};
use text::Text;
use vocabulary::Vocabulary;

use crate::Encoding;

/// Counts by the tables of one [`Encoding`]. Costs nothing to make and nothing to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactCounter {
    encoding: Encoding,
}

impl ExactCounter {
    /// A counter for an encoding.
    pub fn new(encoding: Encoding) -> Self {
        Self { encoding }
    }

    /// The encoding it counts by.
    pub fn encoding(self) -> Encoding {
        self.encoding
    }

    /// The number of tokens that the encoding makes of a text.
    pub fn tokens(self, text: &str) -> u64 {
        match self.encoding {
            Encoding::O200kBase => count::<O200k>(&vocabulary::O200K, text),
            Encoding::Cl100kBase => count::<Cl100k>(&vocabulary::CL100K, text),
        }
    }
}

impl CountTokens for ExactCounter {
    fn count(&self, text: &str) -> TokenCount {
        TokenCount::exact(self.tokens(text))
    }

    fn name(&self) -> &str {
        self.encoding.name()
    }
}

fn count<S: Split>(vocabulary: &Vocabulary, text: &str) -> u64 {
    let text = Text::new(text);
    let bytes = text.bytes();
    let (mut merger, mut recent) = (Merger::default(), Recent::for_text(bytes.len()));
    let (mut at, mut tokens) = (0, 0);
    while at < bytes.len() {
        // A rule set always advances; should it not, a byte is still taken, so that this ends.
        let end = S::next(text, at).max(at + 1);
        tokens += if vocabulary.rank(bytes, at, end).is_some() {
            1
        } else {
            recent.count(bytes, at, end, || merger.count(vocabulary, bytes, at, end))
        };
        at = end;
    }
    tokens
}

#[cfg(test)]
mod tests;
