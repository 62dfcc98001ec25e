//! Blank texts, and white space at the end of the last answer.

use super::{RepairKind, Work};
use crate::{Fragment, Part, Role, Text};

/// No text is blank, no message without parts.
pub(super) fn pass(work: &mut Work<'_>) {
    work.leave_out(|_, _, _, part| match part {
        Part::Text(fragments) if fragments.iter().all(is_blank) => {
            Some((RepairKind::BlankText, "a text was empty or blank".to_owned()))
        }
        _ => None,
    });
}

/// A last answer does not end with white space: providers continue it, and refuse that.
pub(super) fn trailing(work: &mut Work<'_>) {
    let ends = work.messages.last().is_some_and(|message| {
        message.role == Role::Assistant
            && matches!(message.parts.last(), Some(Part::Text(fragments))
                if fragments.last().is_some_and(|last| last.text.ends_with(char::is_whitespace) || last.text.is_empty()))
    });
    if !ends {
        return;
    }
    let part = work
        .messages
        .last()
        .and_then(|message| message.parts.last())
        .cloned();
    work.note(
        RepairKind::TrailingSpace,
        part.as_ref(),
        "the last answer ended with white space",
    );
    let last = work
        .messages
        .to_mut()
        .last_mut()
        .and_then(|message| message.parts.last_mut());
    if let Some(Part::Text(fragments)) = last {
        while fragments.last().is_some_and(is_blank) {
            fragments.pop();
        }
        if let Some(last) = fragments.last_mut() {
            last.text = Text::from(last.text.trim_end());
        }
    }
}

fn is_blank(fragment: &Fragment) -> bool {
    fragment.text.trim().is_empty()
}
