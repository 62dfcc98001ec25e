//! Calls and reasoning are the assistant's, results, images and documents the user's: the role decides.

use super::{RepairKind, Work};
use crate::{Part, Role};

pub(super) fn pass(work: &mut Work<'_>) {
    work.leave_out(|_, _, message, part| {
        let what = match (message.role, part) {
            (Role::User, Part::ToolCall { .. }) => "a call",
            (Role::User, Part::Reasoning { .. }) => "reasoning",
            (Role::Assistant, Part::ToolResult { .. }) => "a result",
            (Role::Assistant, Part::Media { .. }) => "an image or document",
            _ => return None,
        };
        let side = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        Some((
            RepairKind::WrongSide,
            format!("{what} stood on the {side}'s side"),
        ))
    });
}
