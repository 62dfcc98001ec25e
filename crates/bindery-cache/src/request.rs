//! A request as a cache sees it: segments in the provider's own order, and the settings that count.

mod anthropic;
mod block;
mod gemini;
mod openai;
mod reader;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::json::{self, Ends, Fields, Index};
use crate::typing::Typing;
use crate::{Format, Mark, PrefixChain, Region, Segment, Settings};
use reader::{Item, Reader};

/// A request, read. It keeps the body; everything else points into it.
#[derive(Debug, Clone)]
pub struct WireRequest {
    format: Format,
    body: Arc<str>,
    segments: Vec<Segment>,
    items: Vec<Item>,
    chain: PrefixChain,
    settings: Settings,
    automatic: Option<Mark>,
    session: Option<Arc<str>>,
    compared_with: Option<Arc<str>>,
}

/// Why a body cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not UTF-8.
    #[error("the body is not UTF-8 from byte {0} on: a request body is JSON in UTF-8; was it compressed?")]
    NotUtf8(usize),
    /// It is not JSON.
    #[error("the body is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// Its format cannot be told.
    #[error("the body looks like no known request: it has neither `messages` nor `input` nor `contents`")]
    UnknownFormat,
}

/// How requests are read: the patterns by which foreign text is typed.
#[derive(Debug, Clone)]
pub struct RequestReader {
    typing: Typing,
}

impl RequestReader {
    /// A reader that types text by these patterns.
    pub fn new(typing: Typing) -> Self {
        Self { typing }
    }

    /// Reads a body.
    pub fn read(&self, format: Format, body: &[u8]) -> Result<WireRequest, ReadError> {
        self.read_after(format, body, None)
    }

    /// Reads a body that continues an earlier one. What is the same, message by message, is neither typed
    /// nor hashed again; the result is the same as that of [`RequestReader::read`].
    pub fn read_after(
        &self,
        format: Format,
        body: &[u8],
        previous: Option<&WireRequest>,
    ) -> Result<WireRequest, ReadError> {
        let body = std::str::from_utf8(body).map_err(|error| ReadError::NotUtf8(error.valid_up_to()))?;
        let body: Arc<str> = body.into();
        let previous = previous.filter(|previous| previous.format == format);
        let fields: Fields<'_> = serde_json::from_str(&body)?;
        // A body that goes on is taken over slice by slice, and little of it is looked into.
        let index = if previous.is_some() {
            Index::default()
        } else {
            Index::of(&body)
        };
        let ends = if previous.is_some() {
            Ends::NONE
        } else {
            index.ends(&body)
        };
        let mut reader = Reader::new(&body, ends, &self.typing, format, previous);
        match format {
            Format::Anthropic => anthropic::read(&mut reader, &fields),
            Format::OpenaiResponses => openai::read_responses(&mut reader, &fields),
            Format::OpenaiChat | Format::Deepseek => openai::read_chat(&mut reader, &fields),
            Format::Gemini => gemini::read(&mut reader, &fields),
        }
        let mut settings = Settings::read(&fields);
        let read = reader.finish();
        for (name, present) in read.features {
            if present {
                settings.set(name, "present");
            }
        }
        let automatic = fields.get("cache_control").and_then(block::mark);
        let session = session(format, &fields);
        let compared_with = compared_with(&fields);
        let chain = match previous {
            Some(previous) => {
                let mut chain = previous.chain.start(read.same_start);
                chain.append(read.segments.iter().skip(read.same_start));
                chain
            }
            None => PrefixChain::of(&read.segments),
        };
        Ok(WireRequest {
            format,
            segments: read.segments,
            items: read.items,
            chain,
            settings,
            automatic,
            session,
            compared_with,
            body: body.clone(),
        })
    }
}

impl WireRequest {
    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The body as it was posted.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The segments in the order of the prefix.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The rolling hash over the segments.
    pub fn chain(&self) -> &PrefixChain {
        &self.chain
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Settings to add to: for what travels in headers.
    pub fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Anthropic's top-level mark: the provider places it on the last block that takes one.
    pub fn automatic_mark(&self) -> Option<Mark> {
        self.automatic
    }

    /// What the body says about the session it belongs to.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The id of the response that the provider is asked to compare with, where its diagnosis is asked for.
    pub fn compared_with(&self) -> Option<&str> {
        self.compared_with.as_deref()
    }

    /// The marked segments, by index, in order.
    pub fn marks(&self) -> impl Iterator<Item = (usize, Mark)> {
        self.segments
            .iter()
            .enumerate()
            .filter_map(|(at, segment)| Some((at, segment.mark?)))
    }

    /// The raw JSON of a segment.
    pub fn raw(&self, segment: &Segment) -> &str {
        self.body.get(segment.range.clone()).unwrap_or_default()
    }

    /// What a segment says: its text where it has one, else its JSON.
    pub fn text(&self, segment: &Segment) -> Cow<'_, str> {
        match segment.text.clone().and_then(|range| self.body.get(range)) {
            Some(raw) => json::string(raw).unwrap_or(Cow::Borrowed(raw)),
            None => Cow::Borrowed(self.raw(segment)),
        }
    }

    /// The byte of the body that holds a byte of a segment's text.
    pub fn body_offset(&self, segment: &Segment, text_offset: usize) -> usize {
        match segment
            .text
            .clone()
            .and_then(|range| Some((range.start, self.body.get(range)?)))
        {
            Some((start, raw)) => start + json::raw_offset(raw, text_offset),
            None => segment.range.start + text_offset.min(segment.range.len()),
        }
    }

    /// The same request with other marks. The body stays as it is: see [`crate::plan::Plan::apply`].
    #[must_use]
    pub fn with_marks(&self, marks: &[(usize, Mark)]) -> Self {
        let mut out = self.clone();
        out.automatic = None;
        for (at, segment) in out.segments.iter_mut().enumerate() {
            segment.mark = marks
                .iter()
                .find(|(marked, _)| *marked == at)
                .map(|(_, mark)| *mark);
        }
        out
    }

    /// The same request with other segments, which nothing in the body stands for.
    pub(crate) fn with_segments(&self, segments: Vec<Segment>) -> Self {
        Self {
            chain: PrefixChain::of(&segments),
            segments,
            items: Vec::new(),
            ..self.clone()
        }
    }

    /// The same request with Anthropic's top-level mark.
    #[must_use]
    pub fn with_automatic_mark(mut self) -> Self {
        self.automatic = Some(Mark { ttl: None });
        self
    }

    /// The region of the boundary behind `depth` segments.
    pub(crate) fn region_at(&self, depth: usize) -> Region {
        depth
            .checked_sub(1)
            .and_then(|last| self.segments.get(last))
            .map_or(Region::Tools, |segment| segment.region)
    }

    fn item_at(&self, index: usize) -> Option<(&Item, &str)> {
        let item = self.items.get(index)?;
        Some((item, self.body.get(item.range.clone())?))
    }

    fn segments_of(&self, range: Range<usize>) -> &[Segment] {
        self.segments.get(range).unwrap_or_default()
    }
}

/// The session a body names: Anthropic's `metadata.user_id` in the forms that Claude Code writes, OpenAI's
/// cache key or conversation.
fn session(format: Format, fields: &Fields<'_>) -> Option<Arc<str>> {
    if format == Format::Anthropic {
        let metadata = Fields::of(fields.get("metadata")?)?;
        let user = metadata.text("user_id")?;
        if let Some(inner) = Fields::parse(&user) {
            return Some(inner.text("session_id")?.as_ref().into());
        }
        return user.split_once("_session_").map(|(_, session)| session.into());
    }
    let metadata = fields.get("client_metadata").and_then(Fields::of);
    let named = metadata.and_then(|fields| fields.text("thread_id").or_else(|| fields.text("session_id")));
    named
        .or_else(|| fields.text("session_id"))
        .or_else(|| fields.text("prompt_cache_key"))
        .map(|session| session.as_ref().into())
}

fn compared_with(fields: &Fields<'_>) -> Option<Arc<str>> {
    let anthropic = fields.get("diagnostics").and_then(Fields::of);
    let openai = fields.get("prompt_cache_options").and_then(Fields::of);
    let id = anthropic
        .and_then(|fields| fields.text("previous_message_id"))
        .or_else(|| openai.and_then(|fields| fields.text("comparison_response_id")))?;
    Some(id.as_ref().into())
}

#[cfg(test)]
mod tests;
