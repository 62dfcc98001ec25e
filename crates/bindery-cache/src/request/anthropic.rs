//! Anthropic Messages: tools, system, messages.

use bindery_core::Authority;

use super::reader::{Place, Reader};
use crate::Region;
use crate::json::{self, Fields};

pub(super) fn read<'a>(reader: &mut Reader<'a>, body: &Fields<'a>) {
    for tool in body.items("tools") {
        reader.item(Region::Tools, None, tool, |reader| reader.tool(tool));
    }
    let place = Place {
        region: Region::System,
        speaker: Authority::System,
        message: None,
    };
    match body.get("system") {
        Some(text) if text.starts_with('"') => {
            reader.item(Region::System, None, text, |reader| reader.bare_text(place, text));
        }
        Some(blocks) => {
            for block in json::items(blocks).unwrap_or_default() {
                reader.item(Region::System, None, block, |reader| reader.block(place, block));
            }
        }
        None => {}
    }
    for (index, message) in body.items_within("messages", reader.ends).into_iter().enumerate() {
        reader.item(Region::Messages, Some(index), message, |reader| {
            read_message(reader, index, message);
        });
    }
}

fn read_message<'a>(reader: &mut Reader<'a>, index: usize, raw: &'a str) {
    let Some(fields) = Fields::within(raw, reader.ends) else {
        return;
    };
    let place = Place {
        region: Region::Messages,
        speaker: match fields.text("role").as_deref() {
            Some("assistant") => Authority::Assistant,
            Some("system") => Authority::System,
            _ => Authority::User,
        },
        message: Some(index),
    };
    let Some(content) = fields.get("content") else {
        return;
    };
    match json::items_within(content, reader.ends) {
        None => reader.bare_text(place, content),
        Some(blocks) => blocks.into_iter().for_each(|block| reader.block(place, block)),
    }
}
