//! Immutable text that remembers its content hash.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

/// A content hash: BLAKE3 over the UTF-8 bytes, without domain separation, so that anybody can
/// recompute it with `b3sum`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

/// How many bytes are gathered before they are hashed.
const SHORT: usize = 256;

impl ContentHash {
    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The hash of a sequence of fields, each length-prefixed so that no two sequences collide by
    /// moving bytes from one field to its neighbour. `domain` keeps different uses apart.
    pub fn of_fields<'a>(domain: &str, fields: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        // Short fields go in together: each update has a price of its own.
        let mut short = Vec::with_capacity(SHORT);
        short.extend_from_slice(domain.as_bytes());
        short.push(0);
        for field in fields {
            short.extend_from_slice(&(field.len() as u64).to_le_bytes());
            if short.len() + field.len() <= SHORT {
                short.extend_from_slice(field);
            } else {
                hasher.update(&short).update(field);
                short.clear();
            }
        }
        Self(*hasher.update(&short).finalize().as_bytes())
    }

    /// A hash that was computed before and stored.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The raw 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first twelve hexadecimal digits: enough to tell texts apart on a screen.
    pub fn short(&self) -> String {
        self.to_string().chars().take(12).collect()
    }
}

/// Hashes bytes that come one after another. A clone goes on from where the original stands.
#[derive(Clone, Default)]
pub struct ContentHasher(blake3::Hasher);

impl ContentHasher {
    /// Takes in more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of everything so far: that of [`ContentHash::of`] for the same bytes.
    pub fn hash(&self) -> ContentHash {
        ContentHash(*self.0.finalize().as_bytes())
    }
}

impl fmt::Debug for ContentHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ContentHasher").field(&self.hash()).finish()
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

impl Serialize for ContentHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Text that is not a content hash: not 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a content hash: 64 lower-case hexadecimal digits are expected")]
pub struct NotAHash(String);

impl FromStr for ContentHash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let wrong = || NotAHash(text.chars().take(80).collect());
        let digit = |c: u8| match c {
            b'0'..=b'9' => Ok(c - b'0'),
            b'a'..=b'f' => Ok(c - b'a' + 10),
            _ => Err(wrong()),
        };
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != 32 || !rest.is_empty() {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(bytes))
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// Immutable, cheaply cloned text. Its hash is computed once, when first asked for; clones share it,
/// so a text that nobody changed is never hashed again.
#[derive(Clone)]
pub struct Text(Arc<Inner>);

struct Inner {
    text: Box<str>,
    hash: OnceLock<ContentHash>,
}

impl Text {
    /// The text as a string slice.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The content hash, computed on first use.
    pub fn hash(&self) -> ContentHash {
        *self
            .0
            .hash
            .get_or_init(|| ContentHash::of(self.0.text.as_bytes()))
    }

    /// Whether both are the same revision: not merely equal, but never recomputed in between (or
    /// recomputed, found equal and backdated).
    pub fn same_revision(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// `newer`, unless it equals `self`: then `self`, so that an equal recomputation keeps its old
    /// revision and everything derived from it.
    #[must_use]
    pub fn backdate(&self, newer: Self) -> Self {
        if self.same_revision(&newer) || self.as_str() == newer.as_str() {
            self.clone()
        } else {
            newer
        }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Arc::new(Inner {
            text: text.into_boxed_str(),
            hash: OnceLock::new(),
        }))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl std::ops::Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.same_revision(other) || self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_equal_recomputation_keeps_its_revision() {
        let old = Text::from("same");
        assert!(old.backdate(Text::from("same")).same_revision(&old));
        assert_eq!(old.backdate(Text::from("other")).as_str(), "other");
    }

    #[test]
    fn a_hash_is_read_back_from_its_digits_and_nothing_else_is() {
        let hash = ContentHash::of(b"x");
        assert_eq!(hash.to_string().parse(), Ok(hash));
        for wrong in [
            String::new(),
            hash.to_string().to_uppercase(),
            format!("{hash}0"),
            hash.short(),
        ] {
            assert!(wrong.parse::<ContentHash>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn fields_do_not_run_into_each_other() {
        let hash = |fields: &[&[u8]]| ContentHash::of_fields("t", fields.iter().copied());
        assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"a", b"bc"]));
        assert_ne!(hash(&[b"ab"]), ContentHash::of_fields("u", [&b"ab"[..]]));
    }
}
