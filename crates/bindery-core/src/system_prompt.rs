//! The rendered system prompt and its three views. They are three readings of one value, never parsed
//! back out of a string.

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize};

use crate::marker::BOUNDARY;
use crate::render::hash_of;
use crate::{ContentHash, Fragment, Group, RenderCache, Text};

/// What stands between two sections.
pub const SEPARATOR: &str = "\n\n";

/// A rendered system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Parts")]
pub struct SystemPrompt {
    fragments: Vec<Fragment>,
    static_len: usize,
    tail: Vec<Fragment>,
    prefix: Text,
}

/// What a rendered system prompt is made of: everything else is derived.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    #[serde(default)]
    fragments: Vec<Fragment>,
    #[serde(default)]
    tail: Vec<Fragment>,
}

impl Default for SystemPrompt {
    fn default() -> Self {
        Self::from_fragments(Vec::new(), Vec::new())
    }
}

impl From<Parts> for SystemPrompt {
    fn from(parts: Parts) -> Self {
        Self::from_fragments(parts.fragments, parts.tail)
    }
}

impl Serialize for SystemPrompt {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("SystemPrompt", 2)?;
        out.serialize_field("fragments", &self.fragments)?;
        out.serialize_field("tail", &self.tail)?;
        out.end()
    }
}

/// A block of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Block<'a> {
    /// Text with one cache policy.
    Text {
        /// `static` for what every session of this composition shares, `session` for the rest.
        scope: BlockScope,
        /// The fragments, joined by blank lines.
        fragments: &'a [Fragment],
        /// Lines that follow the last fragment after a blank line.
        tail: &'a [Fragment],
    },
    /// What divides the static from the rest. Exists only where both do; adapters consume it.
    Boundary,
}

/// Who can share a block's cache entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockScope {
    /// Everybody with this composition.
    Static,
    /// This session.
    Session,
}

impl SystemPrompt {
    /// A prompt that was rendered before, from its section fragments in order (static ones first) and
    /// its tail lines: how a log gives back the very value that a request was made of.
    pub fn from_fragments(fragments: Vec<Fragment>, tail: Vec<Fragment>) -> Self {
        Self::new(fragments, tail, &RenderCache::default())
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.fragments.is_empty() && self.tail.is_empty()
    }

    /// From fragments in order, static ones first.
    pub(crate) fn new(fragments: Vec<Fragment>, tail: Vec<Fragment>, cache: &RenderCache) -> Self {
        let static_len = fragments
            .iter()
            .take_while(|fragment| fragment.group == Group::Static)
            .count();
        let statics = fragments.get(..static_len).unwrap_or_default();
        let key = hash_of("static", statics);
        let prefix = cache.derive("block", &[&key.as_bytes()[..]], || join(statics));
        Self {
            fragments,
            static_len,
            tail,
            prefix,
        }
    }

    /// All section fragments, in order.
    pub fn fragments(&self) -> &[Fragment] {
        &self.fragments
    }

    /// The section fragments before the boundary.
    pub fn static_fragments(&self) -> &[Fragment] {
        self.fragments.get(..self.static_len).unwrap_or_default()
    }

    /// The section fragments after the boundary.
    pub fn dynamic_fragments(&self) -> &[Fragment] {
        self.fragments.get(self.static_len..).unwrap_or_default()
    }

    /// Tail lines, added after the cacheable prefix was taken.
    pub fn tail(&self) -> &[Fragment] {
        &self.tail
    }

    /// The blocks, with a boundary only where there is something on both sides of it.
    pub fn blocks(&self) -> Vec<Block<'_>> {
        let mut out = Vec::new();
        if self.static_len > 0 {
            out.push(Block::Text {
                scope: BlockScope::Static,
                fragments: self.static_fragments(),
                tail: &[],
            });
        }
        let (fragments, tail) = (self.dynamic_fragments(), self.tail());
        if !fragments.is_empty() || !tail.is_empty() {
            if !out.is_empty() {
                out.push(Block::Boundary);
            }
            out.push(Block::Text {
                scope: BlockScope::Session,
                fragments,
                tail,
            });
        }
        out
    }

    /// What the model sees: every block, joined by blank lines, without the boundary.
    pub fn full_text(&self) -> String {
        let blocks = self.blocks();
        let texts: Vec<String> = blocks.iter().filter_map(Block::text).collect();
        texts.join(SEPARATOR)
    }

    /// The text before the boundary: the part of the prompt that every session of this composition
    /// shares. [`SystemPrompt::full_text`] begins with it.
    pub fn cacheable_prefix(&self) -> &Text {
        &self.prefix
    }

    /// The hash of the cacheable prefix.
    pub fn prefix_hash(&self) -> ContentHash {
        self.prefix.hash()
    }
}

impl Block<'_> {
    /// The block's text; `None` for the boundary.
    pub fn text(&self) -> Option<String> {
        let Self::Text { fragments, tail, .. } = self else {
            return None;
        };
        let mut out = join(fragments);
        if !tail.is_empty() {
            if !out.is_empty() {
                out.push_str(SEPARATOR);
            }
            let lines: Vec<&str> = tail.iter().map(|line| line.text.as_str()).collect();
            out.push_str(&lines.join("\n"));
        }
        Some(out)
    }

    /// What stands in a list of blocks for people: the text, or the boundary's literal.
    pub fn shown(&self) -> String {
        self.text().unwrap_or_else(|| BOUNDARY.to_owned())
    }
}

fn join(fragments: &[Fragment]) -> String {
    let texts: Vec<&str> = fragments.iter().map(|fragment| fragment.text.as_str()).collect();
    texts.join(SEPARATOR)
}
