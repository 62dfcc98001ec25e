//! Writes planned breakpoints into a body, and leaves every other byte as it is.

use std::ops::Range;

use super::Plan;
use crate::json::{self, Fields};
use crate::{Format, Mark, Segment, Ttl, WireRequest};

/// Why a plan cannot be written into a body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The format has no breakpoints.
    #[error("{0} has no breakpoints to write")]
    NoBreakpoints(Format),
    /// A planned segment is not there, or is nothing that can carry one.
    #[error("segment {0} cannot carry a breakpoint in this body: was the plan made for another request?")]
    NotThere(usize),
}

/// Bytes to put in place of a range.
type Edit = (Range<usize>, String);

impl Plan {
    /// The request's body with exactly the planned breakpoints.
    pub fn apply(&self, request: &WireRequest) -> Result<String, ApplyError> {
        let field = match request.format() {
            Format::Anthropic => "cache_control",
            Format::OpenaiResponses | Format::OpenaiChat => "prompt_cache_breakpoint",
            other => return Err(ApplyError::NoBreakpoints(other)),
        };
        if let Some(beyond) = self
            .marks
            .iter()
            .find(|planned| planned.segment >= request.segments().len())
        {
            return Err(ApplyError::NotThere(beyond.segment));
        }
        let mut edits: Vec<Edit> = Vec::new();
        for (at, segment) in request.segments().iter().enumerate() {
            let wanted = self
                .marks
                .iter()
                .find(|planned| planned.segment == at)
                .map(|planned| planned.mark);
            if wanted != segment.mark {
                edits.push(edit(request, segment, field, wanted).ok_or(ApplyError::NotThere(at))?);
            }
        }
        let fields = Fields::of(request.body().trim()).filter(|_| field == "cache_control");
        if let Some(value) = fields.as_ref().and_then(|fields| fields.get(field)) {
            edits.push((
                field_range(request.body(), json::range(request.body(), value), field),
                String::new(),
            ));
        }
        edits.sort_by_key(|(range, _)| range.start);
        let mut out = String::with_capacity(request.body().len() + 64 * edits.len());
        let mut from = 0;
        for (range, text) in edits {
            out.push_str(request.body().get(from..range.start).unwrap_or_default());
            out.push_str(&text);
            from = range.end;
        }
        out.push_str(request.body().get(from..).unwrap_or_default());
        Ok(out)
    }
}

fn edit(request: &WireRequest, segment: &Segment, field: &str, wanted: Option<Mark>) -> Option<Edit> {
    let raw = request.raw(segment);
    let value = wanted.map(|mark| value(field, mark));
    if raw.starts_with('"') {
        // A bare string has no field: it becomes a list of one block.
        let kind = if field == "cache_control" {
            "text"
        } else {
            "input_text"
        };
        return Some((
            segment.range.clone(),
            format!(r#"[{{"type":"{kind}","text":{raw},"{field}":{}}}]"#, value?),
        ));
    }
    let fields = Fields::of(raw)?;
    match (fields.get(field), value) {
        (Some(old), Some(new)) => Some((json::range(request.body(), old), new)),
        (Some(old), None) => Some((
            field_range(request.body(), json::range(request.body(), old), field),
            String::new(),
        )),
        (None, Some(new)) => {
            let end = segment.range.start + raw.trim_end().len() - 1;
            let comma = if fields.iter().next().is_some() { "," } else { "" };
            Some((end..end, format!(r#"{comma}"{field}":{new}"#)))
        }
        // The mark is on a part inside: leave it.
        (None, None) => Some((segment.range.start..segment.range.start, String::new())),
    }
}

fn value(field: &str, mark: Mark) -> String {
    match (field, mark.ttl.map(Ttl::name)) {
        ("cache_control", None) => r#"{"type":"ephemeral"}"#.to_owned(),
        ("cache_control", Some(ttl)) => format!(r#"{{"type":"ephemeral","ttl":"{ttl}"}}"#),
        _ => r#"{"mode":"explicit"}"#.to_owned(),
    }
}

/// The range of a whole field, with one comma beside it.
fn field_range(body: &str, value: Range<usize>, field: &str) -> Range<usize> {
    let before = body.get(..value.start).unwrap_or_default();
    let key = before.rfind(&format!("\"{field}\"")).unwrap_or(value.start);
    let head = body.get(..key).unwrap_or_default().trim_end();
    if head.ends_with(',') {
        return head.len() - 1..value.end;
    }
    let tail = body.get(value.end..).unwrap_or_default();
    let spaces = tail.len() - tail.trim_start().len();
    let comma = usize::from(tail.trim_start().starts_with(','));
    key..value.end + if comma == 1 { spaces + comma } else { 0 }
}
