//! Reads one block of any format: its form, its text, its mark and its hash.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use bindery_core::ContentHash;
use serde_json::Value;

use super::reader::{Place, Reader};
use crate::json::{self, Fields};
use crate::typing::Typing;
use crate::{Form, Format, Mark, Region, Segment, Ttl};

/// Fields that the model never sees.
const UNSEEN: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];

/// How a mark of Anthropic's is written.
pub(super) const MARK: &str = "\"cache_control\"";

/// Of items of the Responses API, these too: names that the client or the server gave the item itself.
const UNSEEN_OF_ITEMS: [&str; 2] = ["id", "status"];

/// The lifetime that a `cache_control` or `prompt_cache_breakpoint` value asks for; `None` for no mark.
pub(super) fn mark(raw: &str) -> Option<Mark> {
    let fields = Fields::of(raw)?;
    Some(Mark {
        ttl: fields.text("ttl").and_then(|name| Ttl::read(&name)),
    })
}

/// The mark of a block: its own, or one on a part inside of it.
fn block_mark(fields: &Fields<'_>, holds_one: bool) -> Option<Mark> {
    let own = UNSEEN.into_iter().find_map(|name| mark(fields.get(name)?));
    if own.is_some() || !holds_one {
        return own;
    }
    let inside = fields.items("content");
    inside
        .iter()
        .rev()
        .find_map(|part| mark(Fields::of(part)?.get("cache_control")?))
}

/// The form of a block, by its type in any of the formats.
pub(super) fn form(kind: &str) -> Form {
    match kind {
        "text" | "input_text" | "output_text" | "refusal" | "message" => Form::Text,
        "image" | "image_url" | "input_image" => Form::Image,
        "document" | "file" | "input_file" => Form::Document,
        "thinking" | "redacted_thinking" | "reasoning" => Form::Thinking,
        "tool_use" | "server_tool_use" | "mcp_tool_use" | "function_call" | "custom_tool_call"
        | "function" => Form::ToolCall,
        "tool_result" | "mcp_tool_result" => Form::ToolResult,
        "additional_tools" => Form::Tool,
        other if other.ends_with("_call_output") => Form::ToolResult,
        other if other.ends_with("_tool_result") => Form::ServerToolResult,
        other if other.ends_with("_call") => Form::ToolCall,
        _ => Form::Other,
    }
}

impl<'a> Reader<'a> {
    /// A text that stands there as a bare string.
    pub(super) fn bare_text(&mut self, place: Place, raw: &'a str) {
        let Some(text) = json::string(raw) else {
            self.block(place, raw);
            return;
        };
        let range = json::range(self.body, raw);
        self.text(place, range.clone(), range, &text, None);
    }

    /// A block that is an object.
    pub(super) fn block(&mut self, place: Place, raw: &'a str) {
        let Some(fields) = Fields::within(raw, self.ends) else {
            if raw != "null" {
                self.opaque(place, raw, &[("", raw)], Form::Other, None, None);
            }
            return;
        };
        let kind = fields.text("type").unwrap_or_else(|| implied_type(&fields));
        let form = form(&kind);
        let mark = block_mark(&fields, self.has_mark(raw));
        let text = fields
            .get("text")
            .filter(|_| form == Form::Text || &*kind == "text");
        let only_text = text.filter(|_| !has_more_to_say(&fields));
        if let Some((raw_text, text)) = only_text.and_then(|raw| Some((raw, json::string(raw)?))) {
            let (whole, inner) = (json::range(self.body, raw), json::range(self.body, raw_text));
            self.text(place, whole, inner, &text, mark);
            return;
        }
        let name = ["name", "server_label"]
            .into_iter()
            .find_map(|field| fields.text(field));
        let seen: Vec<(&str, &str)> = fields
            .iter()
            .filter(|(key, value)| self.is_seen(key, value))
            .collect();
        self.opaque(place, raw, &seen, form, mark, name.as_deref());
        if let Some(inner) = result_text(&fields) {
            let range = json::range(self.body, inner);
            self.set_result_text(&range, inner);
        }
    }

    fn is_seen(&self, key: &str, value: &str) -> bool {
        let item = self.format == Format::OpenaiResponses && UNSEEN_OF_ITEMS.contains(&key);
        !UNSEEN.contains(&key) && !item && value != "null"
    }

    /// Text, wherever it stands.
    pub(super) fn text(
        &mut self,
        place: Place,
        range: Range<usize>,
        inner: Range<usize>,
        text: &str,
        mark: Option<Mark>,
    ) {
        let form = if text.is_empty() {
            Form::EmptyText
        } else {
            Form::Text
        };
        let hash = self.hash(place, "text", [text.as_bytes()]);
        self.out.push(Segment {
            region: place.region,
            speaker: place.speaker,
            form,
            range,
            text: Some(inner),
            hash,
            mark,
            message: place.message,
            ends_message: false,
            name: None,
            pieces: self.typing.cut(place.region, place.speaker, text),
        });
    }

    /// Anything else: the hash goes over the fields as they stand there, in their order.
    pub(super) fn opaque(
        &mut self,
        place: Place,
        raw: &'a str,
        seen: &[(&str, &str)],
        form: Form,
        mark: Option<Mark>,
        name: Option<&str>,
    ) {
        let marked = self.has_mark(raw);
        let values: Vec<(&str, Cow<'_, str>)> = seen
            .iter()
            .map(|(key, value)| {
                (
                    *key,
                    if marked {
                        without_marks(value)
                    } else {
                        Cow::Borrowed(*value)
                    },
                )
            })
            .collect();
        let hash = self.hash(
            place,
            "block",
            values
                .iter()
                .flat_map(|(key, value)| [key.as_bytes(), value.as_bytes()]),
        );
        let name: Option<Arc<str>> = name.map(Into::into);
        let pieces = Typing::whole(form, place.speaker, name.as_deref(), raw.len());
        self.out.push(Segment {
            region: place.region,
            speaker: place.speaker,
            form,
            range: json::range(self.body, raw),
            text: None,
            hash,
            mark,
            message: place.message,
            ends_message: false,
            name,
            pieces,
        });
    }

    /// Gives the segment read last the text inside of it: agents put reminders into tool results.
    fn set_result_text(&mut self, range: &Range<usize>, raw: &str) {
        let (Some(text), Some(last)) = (json::string(raw), self.out.last_mut()) else {
            return;
        };
        last.text = Some(range.clone());
        last.pieces = self.typing.cut_result(last.name.as_deref(), &text);
    }

    fn hash<'b>(
        &self,
        place: Place,
        kind: &'b str,
        fields: impl IntoIterator<Item = &'b [u8]>,
    ) -> ContentHash {
        // Two blocks of one message are not two messages.
        let opens = place.message.is_some()
            && self
                .out
                .last()
                .is_none_or(|last| last.message != place.message || last.region != place.region);
        let start = [if opens { "opens" } else { "" }, place.speaker.name(), kind];
        ContentHash::of_fields("segment", start.into_iter().map(str::as_bytes).chain(fields))
    }

    /// A tool definition.
    pub(super) fn tool(&mut self, raw: &'a str) {
        let place = Place {
            region: Region::Tools,
            speaker: bindery_core::Authority::Developer,
            message: None,
        };
        let Some(fields) = Fields::of(raw) else {
            self.block(place, raw);
            return;
        };
        let kind = fields.text("type").unwrap_or_default();
        let function = fields.get("function").and_then(Fields::of);
        let name = fields
            .text("name")
            .or_else(|| function.as_ref().and_then(|fields| fields.text("name")))
            .or_else(|| fields.text("server_label"))
            .unwrap_or_else(|| kind.clone());
        let deferred = fields.get("defer_loading") == Some("true");
        // Anthropic's web search is a feature switch: it changes the system prompt, not the tools.
        let switch = self.format == Format::Anthropic && kind.starts_with("web_search_");
        let form = if deferred || switch {
            Form::ToolOutsidePrefix
        } else {
            Form::Tool
        };
        let seen: Vec<(&str, &str)> = fields
            .iter()
            .filter(|(key, value)| self.is_seen(key, value))
            .collect();
        let inner = function
            .as_ref()
            .and_then(|fields| mark(fields.get("cache_control")?));
        let mark = block_mark(&fields, self.has_mark(raw)).or(inner);
        self.opaque(place, raw, &seen, form, mark, Some(&name));
    }
}

/// Blocks without a type: OpenAI's messages, Gemini's parts.
fn implied_type<'a>(fields: &Fields<'a>) -> Cow<'a, str> {
    let has = |name| fields.get(name).is_some();
    Cow::Borrowed(match () {
        () if fields.get("thought") == Some("true") => "thinking",
        () if has("text") => "text",
        () if has("functionCall") => "function_call",
        () if has("functionResponse") => "function_call_output",
        () if has("inlineData") || has("inline_data") => "image",
        () if has("fileData") || has("file_data") => "file",
        () => "",
    })
}

/// Whether a text block says more than its text (citations, annotations with content).
fn has_more_to_say(fields: &Fields<'_>) -> bool {
    fields.iter().any(|(key, value)| {
        !matches!(key, "type" | "text" | "annotations" | "logprobs" | "id")
            && !UNSEEN.contains(&key)
            && !matches!(value, "null" | "[]")
    })
}

/// The one text of a tool's result, if it is one text.
fn result_text<'a>(fields: &Fields<'a>) -> Option<&'a str> {
    let content = fields.get("content").or_else(|| fields.get("output"))?;
    if content.starts_with('"') {
        return Some(content);
    }
    match json::items(content)?.as_slice() {
        [only] => Fields::of(only)?.get("text").filter(|text| text.starts_with('"')),
        _ => None,
    }
}

/// A value without the marks inside of it.
fn without_marks(raw: &str) -> Cow<'_, str> {
    if !raw.contains(MARK) {
        return Cow::Borrowed(raw);
    }
    match serde_json::from_str::<Value>(raw) {
        Ok(mut value) => {
            strip(&mut value);
            Cow::Owned(value.to_string())
        }
        Err(_) => Cow::Borrowed(raw),
    }
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.shift_remove("cache_control");
            map.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}
