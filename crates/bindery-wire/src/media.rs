//! Which images and documents a provider reads, and how many.
//!
//! Sources: Anthropic's "vision" and "PDF support" pages (5 MB of base64 an image, 600 images a request and 100
//! where the window has 200,000 tokens, 32 MB a request), OpenAI's "images and vision" guide (PNG, JPEG, WebP and
//! GIF; 20 MB an image, 500 images and 50 MB of them a request) and its "file inputs" guide (PDF, 50 MB a
//! request); DeepSeek's Chat Completions reference has text content alone. Where pages of different years differ,
//! the smaller number stands here.

use std::fmt;
use std::sync::Arc;

use bindery_core::{Media, MediaSource, Message, Part};

use crate::Provider;
use crate::request::{Note, Request};

/// What a provider reads beside text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediaLimits {
    /// The kinds of images.
    pub images: &'static [&'static str],
    /// The kinds of documents that it reads as they are.
    pub documents: &'static [&'static str],
    /// The most images of a request.
    pub most: usize,
    /// The most characters of base64 that one of them may have.
    pub largest: usize,
    /// The most characters of base64 of all together.
    pub total: usize,
}

const PNG_JPEG_GIF_WEBP: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];
const PDF: &[&str] = &["application/pdf"];
const MB: usize = 1 << 20;

const ANTHROPIC: MediaLimits = MediaLimits {
    images: PNG_JPEG_GIF_WEBP,
    documents: PDF,
    most: 600,
    largest: 5 * MB,
    total: 31 * MB,
};

const OPENAI: MediaLimits = MediaLimits {
    images: PNG_JPEG_GIF_WEBP,
    documents: PDF,
    most: 500,
    largest: 20 * MB,
    total: 50 * MB,
};

/// Why something cannot be shown to a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MediaRefusal {
    /// It reads text alone.
    TextOnly(Provider),
    /// It does not read this kind.
    Kind(Provider, Arc<str>),
    /// It is empty.
    Empty,
    /// It is too large: characters of base64, and the most.
    Large(usize, usize),
    /// There are too many: how many, and the most.
    Many(usize, usize),
    /// All together are too large: characters of base64, and the most.
    Together(usize, usize),
}

impl fmt::Display for MediaRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TextOnly(provider) => write!(f, "{provider} reads neither images nor documents, only text"),
            Self::Kind(provider, kind) => write!(f, "{provider} does not read `{}`", kind.escape_debug()),
            Self::Empty => f.write_str("it is empty"),
            Self::Large(size, most) => {
                write!(f, "{size} characters of base64, and {most} are the most")
            }
            Self::Many(count, most) => write!(f, "{count} images, and {most} are the most"),
            Self::Together(size, most) => {
                write!(f, "{size} characters of base64 together, and {most} are the most")
            }
        }
    }
}

impl MediaLimits {
    /// Why this one is refused, if it is.
    pub(crate) fn refuse(&self, provider: Provider, kind: &str, data: Option<usize>) -> Option<MediaRefusal> {
        let (known, most) = if kind.starts_with("image/") {
            (self.images, self.largest)
        } else {
            (self.documents, self.total)
        };
        if !known.contains(&kind) {
            return Some(MediaRefusal::Kind(provider, kind.into()));
        }
        match data {
            Some(0) => Some(MediaRefusal::Empty),
            Some(size) if size > most => Some(MediaRefusal::Large(size, most)),
            _ => None,
        }
    }
}

impl Provider {
    /// What it reads beside text; `None` for text alone.
    pub fn media(self) -> Option<MediaLimits> {
        match self {
            Self::Anthropic => Some(ANTHROPIC),
            Self::OpenaiResponses | Self::OpenaiChat => Some(OPENAI),
            Self::Deepseek => None,
        }
    }

    /// Why it would not read this one behind the messages that stand, if it would not. To be asked before
    /// something enters: what entered is sent with every request.
    pub fn refuses_media(self, media: &Media, before: &[Message]) -> Option<MediaRefusal> {
        let Some(limits) = self.media() else {
            return Some(MediaRefusal::TextOnly(self));
        };
        if let Some(why) = limits.refuse(self, &media.media_type, length(media)) {
            return Some(why);
        }
        let (mut images, mut total) = (0, 0);
        let all = before.iter().flat_map(Message::media).map(|one| &**one);
        for one in all.chain([media]) {
            images += usize::from(one.is_image());
            total += length(one).unwrap_or_default();
        }
        if images > limits.most {
            return Some(MediaRefusal::Many(images, limits.most));
        }
        (total > limits.total).then_some(MediaRefusal::Together(total, limits.total))
    }

    /// Whether this one is written as it is; otherwise its description stands in its place.
    pub(crate) fn shows(self, media: &Media) -> bool {
        // Chat Completions takes the bytes of documents, and no addresses of them.
        let nowhere = self == Self::OpenaiChat && !media.is_image() && length(media).is_none();
        !nowhere
            && self
                .media()
                .is_some_and(|limits| limits.refuse(self, &media.media_type, length(media)).is_none())
    }
}

/// The characters of base64, where the bytes are here.
fn length(media: &Media) -> Option<usize> {
    match &media.source {
        MediaSource::Bytes { data, .. } => Some(data.len()),
        MediaSource::Url(_) => None,
    }
}

/// The code of the note about what is described and not shown.
pub(crate) const DESCRIBED: &str = "media-described";

/// A note where descriptions stand in the place of images or documents.
pub(crate) fn described(request: &Request<'_>, provider: Provider) -> Option<Note> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let fragments = parts.filter_map(|part| match part {
        Part::Media { fragment, media } if !provider.shows(media) => Some(fragment.key.clone()),
        _ => None,
    });
    note(fragments.collect())
}

/// The note about these; none for none.
pub(crate) fn note(fragments: Vec<Arc<str>>) -> Option<Note> {
    (!fragments.is_empty()).then(|| Note {
        code: DESCRIBED,
        message:
            "this provider does not read what stands there: it is told what it is, and under which reference \
                  it is kept"
                .to_owned(),
        fragments,
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use bindery_core::{Source, SystemPrompt};

    use super::*;
    use crate::{Params, shape_problems};

    fn shown(parts: Vec<Media>) -> Message {
        let source = || Source::Setting {
            name: "--attach".into(),
        };
        let mut message = Message::user("message:1.0", "What is this?");
        let parts = parts
            .into_iter()
            .enumerate()
            .map(|(at, media)| Part::media(format!("message:1.{}", at + 1), source(), media));
        message.parts.extend(parts);
        message
    }

    #[test]
    fn each_provider_gets_what_it_reads_and_is_told_of_the_rest() {
        let messages = [shown(vec![
            Media::of_bytes("image/png", "a.png", b"png", Some((2, 3))),
            Media::at_url("image/jpeg", "https://example.org/b.jpg"),
            Media::of_bytes("application/pdf", "c.pdf", b"%PDF-", None),
            Media::of_bytes("image/bmp", "d.bmp", b"BM", None),
        ])];
        let (system, params) = (SystemPrompt::default(), Params::new("m", 64));
        let mut out = String::new();
        for provider in Provider::ALL {
            let request = Request {
                system: &system,
                tools: &[],
                messages: &messages,
                params: &params,
            };
            let encoded = provider.encode(&request).unwrap();
            let body: serde_json::Value = serde_json::from_slice(&encoded.body).unwrap();
            assert_eq!(shape_problems(provider, &body), [], "{provider}");
            for span in encoded.spans.spans() {
                let text = span.text(&encoded.body).unwrap();
                assert!(!text.contains("data:"), "{provider}: {text}");
            }
            let messages = body.get("messages").or(body.get("input")).unwrap();
            writeln!(out, "{provider}: {messages:#}").unwrap();
            for note in encoded.notes {
                writeln!(out, "{}: {:?}", note.code, note.fragments).unwrap();
            }
        }
        insta::assert_snapshot!(out);
    }

    #[test]
    fn what_would_be_refused_is_told_before_it_enters() {
        let image = || Media::of_bytes("image/png", "a.png", b"png", None);
        let why = |provider: Provider, media: &Media, before: &[Message]| {
            provider
                .refuses_media(media, before)
                .map(|why| why.to_string())
                .unwrap_or_default()
        };
        assert_eq!(why(Provider::Anthropic, &image(), &[]), "");
        assert_eq!(
            why(Provider::Deepseek, &image(), &[]),
            "deepseek reads neither images nor documents, only text"
        );
        let bitmap = Media::of_bytes("image/bmp", "a", b"x", None);
        assert_eq!(
            why(Provider::OpenaiChat, &bitmap, &[]),
            "openai-chat does not read `image/bmp`"
        );
        let nothing = Media::of_bytes("image/png", "a", b"", None);
        assert_eq!(why(Provider::Anthropic, &nothing, &[]), "it is empty");
        let large = Media::of_bytes("image/png", "a", &vec![0; 4 << 20], None);
        assert_eq!(
            why(Provider::Anthropic, &large, &[]),
            "5592408 characters of base64, and 5242880 are the most"
        );
        assert_eq!(why(Provider::OpenaiResponses, &large, &[]), "");
        let many = [shown((0..500).map(|_| image()).collect())];
        assert_eq!(
            why(Provider::OpenaiChat, &image(), &many),
            "501 images, and 500 are the most"
        );
        let heavy = [shown((0..9).map(|_| large.clone()).collect())];
        assert_eq!(
            why(Provider::OpenaiChat, &large, &heavy),
            "55924080 characters of base64 together, and 52428800 are the most"
        );
    }
}
