//! OpenAI's two formats. Leading system and developer messages are the system region: that is how the
//! providers and everybody's placement treat them.

use bindery_core::Authority;

use super::reader::{Place, Reader};
use crate::json::{self, Fields};
use crate::{Form, Region};

/// Chat Completions: tools, messages.
pub(super) fn read_chat<'a>(reader: &mut Reader<'a>, body: &Fields<'a>) {
    for tool in body.items("tools") {
        reader.item(Region::Tools, None, tool, |reader| reader.tool(tool));
    }
    let mut region = Region::System;
    for (index, raw) in body.items_within("messages", reader.ends).into_iter().enumerate() {
        if let Some(known) = reader.known(Some(index), raw) {
            region = known;
            reader.item(known, Some(index), raw, |_| {});
            continue;
        }
        let Some(fields) = Fields::within(raw, reader.ends) else {
            continue;
        };
        let place = place(&mut region, index, fields.text("role").as_deref());
        reader.item(place.region, place.message, raw, |reader| {
            read_chat_message(reader, place, raw, &fields);
        });
    }
}

fn read_chat_message<'a>(reader: &mut Reader<'a>, place: Place, raw: &'a str, fields: &Fields<'a>) {
    if place.speaker == Authority::Tool {
        reader.tool_message(place, raw, fields);
        return;
    }
    if let Some(thought) = fields
        .get("reasoning_content")
        .filter(|raw| *raw != "null" && *raw != "\"\"")
    {
        reader.opaque(
            place,
            thought,
            &[("reasoning_content", thought)],
            Form::Thinking,
            None,
            None,
        );
    }
    match fields.get("content") {
        Some(content) if content.starts_with('[') => {
            json::items_within(content, reader.ends)
                .unwrap_or_default()
                .into_iter()
                .for_each(|part| reader.block(place, part));
        }
        // An answer that only calls tools has no text.
        None | Some("null") => {}
        Some("\"\"") if fields.get("tool_calls").is_some() => {}
        Some(content) => reader.bare_text(place, content),
    }
    for call in fields.items("tool_calls") {
        let Some(of_call) = Fields::of(call) else { continue };
        let function = of_call.get("function").and_then(Fields::of);
        let name = function.and_then(|fields| fields.text("name"));
        let seen: Vec<(&str, &str)> = of_call.iter().collect();
        reader.opaque(place, call, &seen, Form::ToolCall, None, name.as_deref());
    }
    if let (Some(mark), Some(last)) = (
        fields.get("cache_control").and_then(super::block::mark),
        reader.out.last_mut(),
    ) {
        last.mark = last.mark.or(Some(mark));
    }
}

impl<'a> Reader<'a> {
    fn tool_message(&mut self, place: Place, raw: &'a str, fields: &Fields<'a>) {
        self.block(place, raw);
        if let Some(last) = self.out.last_mut() {
            last.form = Form::ToolResult;
            last.name = fields.text("name").map(|name| name.as_ref().into());
        }
    }
}

/// Responses: tools, instructions, input.
pub(super) fn read_responses<'a>(reader: &mut Reader<'a>, body: &Fields<'a>) {
    for tool in body.items("tools") {
        reader.item(Region::Tools, None, tool, |reader| reader.tool(tool));
    }
    let instructions = Place {
        region: Region::System,
        speaker: Authority::System,
        message: None,
    };
    if let Some(text) = body.get("instructions").filter(|raw| *raw != "null") {
        reader.item(Region::System, None, text, |reader| {
            reader.bare_text(instructions, text);
        });
    }
    let mut region = Region::System;
    match body.get("input") {
        Some(text) if text.starts_with('"') => {
            let place = place(&mut region, 0, Some("user"));
            reader.item(place.region, place.message, text, |reader| {
                reader.bare_text(place, text);
            });
        }
        Some(input) => {
            for (index, raw) in json::items_within(input, reader.ends)
                .unwrap_or_default()
                .into_iter()
                .enumerate()
            {
                if let Some(known) = reader.known(Some(index), raw) {
                    region = known;
                    reader.item(known, Some(index), raw, |_| {});
                    continue;
                }
                let Some(fields) = Fields::within(raw, reader.ends) else {
                    continue;
                };
                let role = fields.text("role").or_else(|| fields.text("type"));
                let place = place(&mut region, index, role.as_deref());
                reader.item(place.region, place.message, raw, |reader| {
                    read_item(reader, place, raw, &fields);
                });
            }
        }
        None => {}
    }
}

fn read_item<'a>(reader: &mut Reader<'a>, place: Place, raw: &'a str, fields: &Fields<'a>) {
    let content = fields
        .get("content")
        .filter(|_| fields.text("type").is_none_or(|kind| kind == "message"));
    match content {
        Some(text) if text.starts_with('"') => reader.bare_text(place, text),
        Some(parts) => {
            json::items_within(parts, reader.ends)
                .unwrap_or_default()
                .into_iter()
                .for_each(|part| reader.block(place, part));
        }
        None => reader.block(place, raw),
    }
}

/// Who speaks, and whether the leading instructions are over.
fn place(region: &mut Region, index: usize, role: Option<&str>) -> Place {
    let speaker = match role {
        Some("system") => Authority::System,
        Some("developer" | "additional_tools") => Authority::Developer,
        Some("tool") => Authority::Tool,
        Some(role) if role.ends_with("_output") => Authority::Tool,
        Some("user") => Authority::User,
        _ => Authority::Assistant,
    };
    if !matches!(speaker, Authority::System | Authority::Developer) {
        *region = Region::Messages;
    }
    Place {
        region: *region,
        speaker,
        message: Some(index),
    }
}
