//! A call's input is a JSON object.

use serde_json::value::RawValue;

use super::{RepairKind, Work};
use crate::{Part, Text};

pub(super) fn pass(work: &mut Work<'_>) {
    let mut parts = work.messages.iter().flat_map(|message| &message.parts);
    if !parts.any(is_unreadable) {
        return;
    }
    let mut mended = Vec::new();
    for part in work
        .messages
        .to_mut()
        .iter_mut()
        .flat_map(|message| &mut message.parts)
    {
        if !is_unreadable(part) {
            continue;
        }
        let before = part.clone();
        if let Part::ToolCall { input, .. } = part {
            // The model must see what it wrote.
            input.text = Text::from(serde_json::json!({ "unreadable_input": &*input.text }).to_string());
            mended.push(before);
        }
    }
    for part in mended {
        work.note(
            RepairKind::UnreadableInput,
            Some(&part),
            "the input of a call was no JSON object; it stands in one now",
        );
    }
}

fn is_unreadable(part: &Part) -> bool {
    match part {
        Part::ToolCall { input, .. } => {
            !input.text.trim_start().starts_with('{')
                || serde_json::from_str::<&RawValue>(&input.text).is_err()
        }
        _ => false,
    }
}
