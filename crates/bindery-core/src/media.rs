//! Images, and documents as their makers wrote them: what a conversation holds beside text.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::digest::reference;
use crate::{ContentHash, Text, TokenCount};

/// An image, or a document in a form that only some providers read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Media {
    /// What it is: `image/png`, `application/pdf`, …
    pub media_type: Arc<str>,
    /// What it is called, for people and for the model.
    pub name: Arc<str>,
    /// Its bytes, or where the provider finds them.
    pub source: MediaSource,
    /// Its width and height in pixels, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pixels: Option<(u32, u32)>,
}

/// Where the bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum MediaSource {
    /// Here.
    Bytes {
        /// The bytes as base64: what goes over the wire.
        data: Text,
        /// The hash of the bytes themselves, under which they are kept.
        hash: ContentHash,
        /// How many bytes.
        bytes: u64,
    },
    /// Elsewhere: the provider fetches them.
    Url(Arc<str>),
}

/// What an image costs at most where its size is unknown, in tokens ("vision" of Anthropic's reference: larger ones
/// are scaled down to about this).
const MOST_TOKENS: u64 = 1_600;
/// So many pixels are a token (the same page).
const PIXELS_A_TOKEN: u64 = 750;

impl Media {
    /// From bytes.
    pub fn of_bytes(
        media_type: impl Into<Arc<str>>,
        name: impl Into<Arc<str>>,
        bytes: &[u8],
        pixels: Option<(u32, u32)>,
    ) -> Self {
        Self {
            media_type: media_type.into(),
            name: name.into(),
            source: MediaSource::Bytes {
                data: STANDARD.encode(bytes).into(),
                hash: ContentHash::of(bytes),
                bytes: bytes.len() as u64,
            },
            pixels,
        }
    }

    /// From an address that the provider is to ask.
    pub fn at_url(media_type: impl Into<Arc<str>>, url: impl Into<Arc<str>>) -> Self {
        let url = url.into();
        Self {
            media_type: media_type.into(),
            name: url.clone(),
            source: MediaSource::Url(url),
            pixels: None,
        }
    }

    /// Whether it is an image.
    pub fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }

    /// The bytes, where they are here and whole.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match &self.source {
            MediaSource::Bytes { data, .. } => STANDARD.decode(data.as_bytes()).ok(),
            MediaSource::Url(_) => None,
        }
    }

    /// What it takes up of a window: an estimate, by the pixels of an image.
    pub fn tokens(&self) -> TokenCount {
        let tokens = self.pixels.map_or(MOST_TOKENS, |(width, height)| {
            (u64::from(width) * u64::from(height))
                .div_ceil(PIXELS_A_TOKEN)
                .clamp(1, MOST_TOKENS)
        });
        TokenCount::estimate(tokens)
    }
}

/// What stands where it cannot be shown: name, kind, size, and the reference under which it is kept.
impl fmt::Display for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_image() { "image" } else { "document" };
        // A name comes from outside: it may neither end the brackets nor open a line of its own.
        let name: String = self
            .name
            .chars()
            .map(|c| {
                if c.is_control() || c == '[' || c == ']' {
                    ' '
                } else {
                    c
                }
            })
            .take(120)
            .collect();
        write!(f, "[{what} {}, {}", name.trim(), self.media_type)?;
        if let Some((width, height)) = self.pixels {
            write!(f, ", {width}×{height}")?;
        }
        match &self.source {
            MediaSource::Bytes { hash, bytes, .. } => write!(f, ", {bytes} bytes, {}]", reference(hash)),
            MediaSource::Url(_) => f.write_str("]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_one_line_and_names_where_the_bytes_are() {
        let media = Media::of_bytes("image/png", "a]\nb.png", b"x", Some((1_000, 750)));
        let hash = reference(&ContentHash::of(b"x"));
        assert_eq!(
            media.to_string(),
            format!("[image a  b.png, image/png, 1000×750, 1 bytes, {hash}]")
        );
        assert_eq!(media.tokens(), TokenCount::estimate(1_000));
        assert_eq!(media.bytes().as_deref(), Some(&b"x"[..]));
        let far = Media::at_url("image/png", "https://example.org/a.png");
        assert_eq!(far.to_string(), "[image https://example.org/a.png, image/png]");
        assert_eq!((far.tokens().value, far.bytes()), (1_600, None));
    }

    #[test]
    fn it_survives_the_log() {
        for media in [
            Media::of_bytes("image/png", "a", b"\x00\xff", None),
            Media::at_url("image/gif", "https://example.org/a.gif"),
        ] {
            let json = serde_json::to_string(&media).unwrap();
            assert_eq!(serde_json::from_str::<Media>(&json).unwrap(), media);
        }
    }
}
