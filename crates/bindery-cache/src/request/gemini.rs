//! Gemini `generateContent`. The order of its prefix is not published; tools, system, contents is assumed.

use bindery_core::Authority;

use super::reader::{Place, Reader};
use crate::Region;
use crate::json::Fields;

pub(super) fn read<'a>(reader: &mut Reader<'a>, body: &Fields<'a>) {
    for tool in body.items("tools") {
        reader.item(Region::Tools, None, tool, |reader| reader.tool(tool));
    }
    let system = ["systemInstruction", "system_instruction"]
        .into_iter()
        .find_map(|name| body.get(name));
    for part in system
        .and_then(Fields::of)
        .map(|fields| fields.items("parts"))
        .unwrap_or_default()
    {
        let place = Place {
            region: Region::System,
            speaker: Authority::System,
            message: None,
        };
        reader.item(Region::System, None, part, |reader| reader.block(place, part));
    }
    for (index, raw) in body.items("contents").into_iter().enumerate() {
        let Some(fields) = Fields::of(raw) else { continue };
        let speaker = match fields.text("role").as_deref() {
            Some("model") => Authority::Assistant,
            Some("function") => Authority::Tool,
            _ => Authority::User,
        };
        let place = Place {
            region: Region::Messages,
            speaker,
            message: Some(index),
        };
        reader.item(Region::Messages, Some(index), raw, |reader| {
            fields
                .items("parts")
                .into_iter()
                .for_each(|part| reader.block(place, part));
        });
    }
}
