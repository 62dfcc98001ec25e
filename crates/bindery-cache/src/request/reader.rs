//! Collects segments while a body is walked, and takes over what an earlier request already knows.

use std::ops::Range;

use bindery_core::Authority;

use super::block::MARK;
use crate::json::{self, Ends};
use crate::typing::Typing;
use crate::{Form, Format, Region, Segment, WireRequest};

/// An entry of one of the body's lists: a tool, a system block, a message, an item.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) range: Range<usize>,
    pub(super) region: Region,
    pub(super) message: Option<usize>,
    pub(super) segments: Range<usize>,
}

/// What is known of the entry being read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) region: Region,
    pub(super) speaker: Authority,
    pub(super) message: Option<usize>,
}

/// The collector.
pub(super) struct Reader<'a> {
    pub(super) body: &'a str,
    pub(super) ends: Ends<'a>,
    pub(super) typing: &'a Typing,
    pub(super) format: Format,
    /// Where marks may stand.
    marks: Vec<usize>,
    previous: Option<&'a WireRequest>,
    pub(super) out: Vec<Segment>,
    items: Vec<Item>,
    same_start: Option<usize>,
}

/// What was collected.
pub(super) struct Read {
    pub(super) segments: Vec<Segment>,
    pub(super) items: Vec<Item>,
    /// How many segments from the first were taken over.
    pub(super) same_start: usize,
    pub(super) features: [(&'static str, bool); 3],
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        body: &'a str,
        ends: Ends<'a>,
        typing: &'a Typing,
        format: Format,
        previous: Option<&'a WireRequest>,
    ) -> Self {
        Self {
            body,
            ends,
            typing,
            format,
            marks: memchr::memmem::find_iter(body.as_bytes(), MARK).collect(),
            previous,
            out: Vec::new(),
            items: Vec::new(),
            same_start: previous.is_none().then_some(0),
        }
    }

    /// Whether a mark may stand somewhere inside a slice of the body.
    pub(super) fn has_mark(&self, raw: &str) -> bool {
        let range = json::range(self.body, raw);
        let next = self.marks.partition_point(|mark| *mark < range.start);
        self.marks.get(next).is_some_and(|mark| *mark < range.end)
    }

    /// Reads one entry with `read`, unless the earlier request has the same bytes at the same place.
    pub(super) fn item(
        &mut self,
        region: Region,
        message: Option<usize>,
        raw: &'a str,
        read: impl FnOnce(&mut Self),
    ) {
        let range = json::range(self.body, raw);
        let first = self.out.len();
        if self.known(message, raw) == Some(region) {
            self.take_over(&range);
        } else {
            self.same_start.get_or_insert(first);
            read(self);
            if let Some(last) = self.out.get_mut(first..).and_then(<[Segment]>::last_mut) {
                last.ends_message = true;
            }
        }
        self.items.push(Item {
            range,
            region,
            message,
            segments: first..self.out.len(),
        });
    }

    /// The region of the next entry, if the earlier request has the same bytes at the same place.
    pub(super) fn known(&self, message: Option<usize>, raw: &str) -> Option<Region> {
        let (old, old_raw) = self.previous?.item_at(self.items.len())?;
        let same = old.message == message && old.segments.start == self.out.len() && old_raw == raw;
        same.then_some(old.region)
    }

    fn take_over(&mut self, range: &Range<usize>) {
        let found = self
            .previous
            .and_then(|previous| Some((previous, previous.item_at(self.items.len())?.0)));
        let Some((previous, old)) = found else {
            return;
        };
        let shift = |part: &Range<usize>| {
            let at = |byte: usize| byte - old.range.start + range.start;
            at(part.start)..at(part.end)
        };
        self.out.extend(
            previous
                .segments_of(old.segments.clone())
                .iter()
                .map(|segment| Segment {
                    range: shift(&segment.range),
                    text: segment.text.as_ref().map(shift),
                    ..segment.clone()
                }),
        );
    }

    pub(super) fn finish(self) -> Read {
        let has = |form: Form| self.out.iter().any(|segment| segment.form == form);
        let named = |name: &str| {
            self.out.iter().any(|segment| {
                segment.form == Form::ToolOutsidePrefix
                    && segment.name.as_deref().is_some_and(|tool| tool.starts_with(name))
            })
        };
        let cites = self.out.iter().any(|segment| {
            segment.form == Form::Document
                && self
                    .body
                    .get(segment.range.clone())
                    .is_some_and(|raw| raw.contains("\"citations\""))
        });
        let features = [
            ("images", has(Form::Image)),
            ("citations", cites),
            ("web_search", named("web_search")),
        ];
        Read {
            features,
            same_start: self.same_start.unwrap_or(self.out.len()),
            segments: self.out,
            items: self.items,
        }
    }
}
