//! The user begins.

use super::{RepairKind, Work};
use crate::{Authority, Fragment, Kind, Message, Role, Source, Trust, said};

/// What stands before an answer that nobody asked for. Text that people edit lives in files.
const NOTE: &str = include_str!("../../../../sections/runtime/no-beginning.md");

pub(super) fn pass(work: &mut Work<'_>) {
    let Some(first) = work
        .messages
        .first()
        .filter(|first| first.role == Role::Assistant)
    else {
        return;
    };
    let part = first.parts.first().cloned();
    work.note(
        RepairKind::BeginningMissing,
        part.as_ref(),
        "the conversation began with an answer; a note stands before it",
    );
    let fragment = Fragment {
        source: Source::Builtin {
            name: "runtime/no-beginning.md".into(),
        },
        ..said(
            "history:no-beginning",
            Kind::UserPrompt,
            Authority::User,
            Trust::Builtin,
            NOTE.trim_end(),
        )
    };
    let note = Message::text(Role::User, vec![fragment]).meta();
    work.messages.to_mut().insert(0, note);
}
