//! The span map: which bytes of a body came from which fragment.
//!
//! Spans are recorded while serde writes: [`Recorder`] is the writer and knows the offset, and the
//! wrappers below note it before and after a fragment's text goes through. So the body is written by
//! `serde_json` alone, once, and the map cannot disagree with it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bindery_core::{Fragment, Kind, Media, MediaSource, SEPARATOR, Tool};
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::Encoded;
use crate::request::Note;

/// How a fragment's text is written in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// As the content of a JSON string: cut out, put between quotes and parsed, it is the text.
    JsonString,
    /// As JSON itself: cut out, it is the text.
    Json,
}

/// Which part of a fragment a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SpanPart {
    /// The whole text.
    Text,
    /// A tool's name.
    Name,
    /// A tool's description.
    Description,
    /// A tool's input schema.
    Schema,
    /// The bytes of an image or document as base64, or its address.
    Data,
}

/// Bytes of a body that came from one fragment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The byte range of the body.
    pub range: Range<usize>,
    /// The fragment's key.
    pub key: Arc<str>,
    /// What the fragment is.
    pub kind: Kind,
    /// Which part of the fragment.
    pub part: SpanPart,
    /// How its text is written there.
    pub encoding: Encoding,
}

/// The spans of a body, in order, without overlap. Bytes in no span are structure: punctuation, field
/// names, roles, ids, separators between fragments.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct SpanMap(Vec<Span>);

impl SpanMap {
    /// The spans.
    pub fn spans(&self) -> &[Span] {
        &self.0
    }

    pub(crate) fn spans_mut(&mut self) -> &mut Vec<Span> {
        &mut self.0
    }

    /// The span that holds a byte of the body; `None` for structure.
    pub fn at(&self, byte: usize) -> Option<&Span> {
        let after = self.0.partition_point(|span| span.range.end <= byte);
        self.0.get(after).filter(|span| span.range.contains(&byte))
    }
}

impl Span {
    /// The fragment's text, cut out of the body. `None` if the body is not the one this span belongs to.
    pub fn text(&self, body: &[u8]) -> Option<String> {
        let cut = std::str::from_utf8(body.get(self.range.clone())?).ok()?;
        match self.encoding {
            Encoding::Json => Some(cut.to_owned()),
            Encoding::JsonString => serde_json::from_str(&format!("\"{cut}\"")).ok(),
        }
    }
}

/// Writes a body and remembers where fragments went.
#[derive(Default)]
pub(crate) struct Recorder {
    offset: Cell<usize>,
    conversation: Cell<usize>,
    spans: RefCell<Vec<Span>>,
}

impl Recorder {
    /// Serialises `body`, whose texts must be wrappers of this very recorder.
    pub(crate) fn encode(
        &self,
        body: &impl Serialize,
        notes: Vec<Note>,
    ) -> Result<Encoded, serde_json::Error> {
        let mut out = Vec::with_capacity(16 * 1024);
        serde_json::to_writer(
            Sink {
                out: &mut out,
                recorder: self,
            },
            body,
        )?;
        Ok(Encoded {
            body: out,
            spans: SpanMap(self.spans.take()),
            notes,
            conversation: self.conversation.get(),
        })
    }

    /// Elements of which the conversation begins at the index `before`.
    pub(crate) fn conversation<T>(&self, before: usize, elements: Vec<T>) -> Conversation<'_, T> {
        Conversation {
            recorder: self,
            before,
            elements,
        }
    }

    /// Text made of fragments, joined by blank lines.
    pub(crate) fn text<'r>(&'r self, fragments: &'r [Fragment]) -> Joined<'r> {
        self.joined(fragments)
    }

    /// Like [`Recorder::text`], of any fragments in order.
    pub(crate) fn joined<'r>(&'r self, fragments: impl IntoIterator<Item = &'r Fragment>) -> Joined<'r> {
        Joined {
            recorder: self,
            fragments: fragments
                .into_iter()
                .map(|fragment| (SEPARATOR, fragment))
                .collect(),
        }
    }

    /// The text of one fragment as a JSON string.
    pub(crate) fn string<'r>(&'r self, fragment: &'r Fragment) -> Spanned<'r, &'r str> {
        let mark = Mark {
            key: &fragment.key,
            kind: fragment.kind,
            part: SpanPart::Text,
        };
        Spanned {
            recorder: self,
            mark,
            encoding: Encoding::JsonString,
            value: &fragment.text,
        }
    }

    /// An image or document, or its address. Where it is to be a `data:` address, the words before the base64 are
    /// no part of it.
    pub(crate) fn media<'r>(
        &'r self,
        fragment: &'r Fragment,
        media: &'r Media,
        as_url: bool,
    ) -> MediaText<'r> {
        let (before, text) = match &media.source {
            MediaSource::Bytes { data, .. } if as_url => (data_url(media), data.as_str()),
            MediaSource::Bytes { data, .. } => (String::new(), data.as_str()),
            MediaSource::Url(url) => (String::new(), &**url),
        };
        let mark = Mark {
            key: &fragment.key,
            kind: fragment.kind,
            part: SpanPart::Data,
        };
        MediaText {
            recorder: self,
            mark,
            before,
            text,
        }
    }

    /// The text of one fragment as the JSON it is.
    pub(crate) fn json<'r>(
        &'r self,
        fragment: &'r Fragment,
        value: &'r RawValue,
    ) -> Spanned<'r, &'r RawValue> {
        let mark = Mark {
            key: &fragment.key,
            kind: fragment.kind,
            part: SpanPart::Text,
        };
        Spanned {
            recorder: self,
            mark,
            encoding: Encoding::Json,
            value,
        }
    }

    /// A tool's three texts.
    pub(crate) fn tool<'r>(&'r self, tool: &'r Tool) -> ToolTexts<'r> {
        let mark = |part| Mark {
            key: tool.fragment_key(),
            kind: Kind::ToolSchema,
            part,
        };
        let string = |part, value| Spanned {
            recorder: self,
            mark: mark(part),
            encoding: Encoding::JsonString,
            value,
        };
        ToolTexts {
            name: string(SpanPart::Name, tool.name()),
            description: string(SpanPart::Description, tool.description().as_str()),
            schema: Spanned {
                recorder: self,
                mark: mark(SpanPart::Schema),
                encoding: Encoding::Json,
                value: tool.parameters(),
            },
        }
    }

    fn record(&self, range: Range<usize>, mark: Mark<'_>, encoding: Encoding) {
        let Mark { key, kind, part } = mark;
        self.spans.borrow_mut().push(Span {
            range,
            key: key.clone(),
            kind,
            part,
            encoding,
        });
    }
}

/// The array that holds the conversation.
pub(crate) struct Conversation<'r, T> {
    recorder: &'r Recorder,
    before: usize,
    elements: Vec<T>,
}

impl<T: Serialize> Serialize for Conversation<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut array = serializer.serialize_seq(Some(self.elements.len()))?;
        for (at, element) in self.elements.iter().enumerate() {
            if at == self.before {
                self.recorder.conversation.set(self.recorder.offset.get());
            }
            array.serialize_element(element)?;
        }
        array.end()
    }
}

/// What a span is of.
#[derive(Clone, Copy)]
struct Mark<'r> {
    key: &'r Arc<str>,
    kind: Kind,
    part: SpanPart,
}

/// The texts of a tool, to be put under the names the API gives them.
pub(crate) struct ToolTexts<'r> {
    pub(crate) name: Spanned<'r, &'r str>,
    pub(crate) description: Spanned<'r, &'r str>,
    pub(crate) schema: Spanned<'r, &'r RawValue>,
}

struct Sink<'a> {
    out: &'a mut Vec<u8>,
    recorder: &'a Recorder,
}

impl io::Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.extend_from_slice(bytes);
        self.recorder.offset.set(self.out.len());
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A JSON string made of fragments, each preceded by its separator (the first one's is left out).
pub(crate) struct Joined<'r> {
    recorder: &'r Recorder,
    fragments: Vec<(&'static str, &'r Fragment)>,
}

impl<'r> Joined<'r> {
    /// Adds fragments as lines of one paragraph of their own.
    pub(crate) fn lines(mut self, fragments: &'r [Fragment]) -> Self {
        for (index, fragment) in fragments.iter().enumerate() {
            self.fragments
                .push((if index == 0 { SEPARATOR } else { "\n" }, fragment));
        }
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fragments
            .iter()
            .all(|(_, fragment)| fragment.text.is_empty())
    }
}

impl Serialize for Joined<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// `serde_json` writes what `collect_str` displays piece by piece, each escaped and written at once:
/// the offset before and after a piece is the piece's place in the body.
impl fmt::Display for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (separator, fragment)) in self.fragments.iter().enumerate() {
            if index > 0 {
                f.write_str(separator)?;
            }
            let start = self.recorder.offset.get();
            f.write_str(&fragment.text)?;
            let mark = Mark {
                key: &fragment.key,
                kind: fragment.kind,
                part: SpanPart::Text,
            };
            self.recorder
                .record(start..self.recorder.offset.get(), mark, Encoding::JsonString);
        }
        Ok(())
    }
}

/// How the address of bytes begins that are in it.
fn data_url(media: &Media) -> String {
    format!("data:{};base64,", media.media_type)
}

/// A JSON string with the bytes of an image or document.
pub(crate) struct MediaText<'r> {
    recorder: &'r Recorder,
    mark: Mark<'r>,
    before: String,
    text: &'r str,
}

impl Serialize for MediaText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for MediaText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.before.is_empty() {
            f.write_str(&self.before)?;
        }
        let start = self.recorder.offset.get();
        f.write_str(self.text)?;
        self.recorder
            .record(start..self.recorder.offset.get(), self.mark, Encoding::JsonString);
        Ok(())
    }
}

/// A JSON value that came from one fragment.
pub(crate) struct Spanned<'r, T> {
    recorder: &'r Recorder,
    mark: Mark<'r>,
    encoding: Encoding,
    value: T,
}

impl<T: Serialize> Serialize for Spanned<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let start = self.recorder.offset.get();
        let done = self.value.serialize(serializer)?;
        let whole = start..self.recorder.offset.get();
        let range = match self.encoding {
            Encoding::Json => whole,
            // Without the quotes.
            Encoding::JsonString => whole.start + 1..whole.end.saturating_sub(1),
        };
        self.recorder.record(range, self.mark, self.encoding);
        Ok(done)
    }
}
