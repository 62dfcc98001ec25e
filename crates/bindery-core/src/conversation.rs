//! How runtime context and conversation become the messages of one request.

use crate::{Fragment, Message, Part, Role, RuntimeContext};

/// The messages of a request that has no log behind it: context messages and the snapshot open the
/// conversation, then the history, and reminders close it.
///
/// Everything that may persist stands first, so that a second request with one more message has the
/// same bytes before it; reminders, which are gone in the next request, stand last.
pub fn conversation(context: &RuntimeContext, history: &[Message]) -> Vec<Message> {
    let mut out = Vec::with_capacity(history.len() + 3);
    out.extend(meta(
        context.messages.iter().map(|fragment| vec![fragment.clone()]),
    ));
    out.extend(meta(
        context.snapshot.iter().map(|snapshot| snapshot.fragments.clone()),
    ));
    out.extend_from_slice(history);
    out.extend(meta(
        context.reminders.iter().map(|fragment| vec![fragment.clone()]),
    ));
    out
}

/// One message from the harness with a part for each group of fragments; none for no groups.
fn meta(groups: impl Iterator<Item = Vec<Fragment>>) -> Option<Message> {
    let parts: Vec<Part> = groups.map(Part::Text).collect();
    (!parts.is_empty()).then_some(Message {
        role: Role::User,
        parts,
        is_meta: true,
    })
}
