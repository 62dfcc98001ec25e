//! Another session, recalled by name: what was asked and answered, newest first to be kept, within a bound.

use bindery_core::{Context, Kind, Message, Part, Role, Source, Trust};
use bindery_sources::gate::Gate;
use bindery_store::{LogReader, SessionId, StoreError, load};

use crate::admission::outside;

/// The most bytes of another session that are recalled.
const MOST_BYTES: usize = 16_000;
/// The most bytes of one message.
const MOST_MESSAGE: usize = 2_000;

/// What was recalled.
pub struct Recalled {
    /// The context, to be registered: a message of its own, entered once.
    pub context: Context,
    /// How many messages it holds.
    pub messages: usize,
    /// How many older ones were left out.
    pub left_out: usize,
}

/// Recalls a session: prompts and answers, without tools, context and thoughts. What was said there passes
/// `gate` on its way in.
pub fn recall(id: &SessionId, log: &dyn LogReader, gate: &Gate) -> Result<Recalled, StoreError> {
    let state = load(log)?;
    let said: Vec<String> = state.messages().iter().filter_map(line).collect();
    let mut room = MOST_BYTES;
    let fits = |line: &&String| room.checked_sub(line.len()).map(|left| room = left).is_some();
    let mut kept: Vec<&String> = said.iter().rev().take_while(fits).collect();
    kept.reverse();
    let left_out = said.len() - kept.len();
    let mut text = kept
        .iter()
        .map(|line| line.as_str())
        .collect::<Vec<_>>()
        .join("\n\n");
    if left_out > 0 {
        text = format!("({left_out} older messages left out)\n\n{text}");
    }
    let source = Source::Plugin {
        name: format!("session {id}").into(),
    };
    let text = outside(
        gate,
        &format!("context:session:{id}"),
        &format!("session {id}"),
        &text,
    );
    let context = Context::new(format!("session:{id}"), text)
        .message(Kind::SessionReference)
        .order(1000)
        .from_source(source, Trust::External);
    Ok(Recalled {
        context,
        messages: kept.len(),
        left_out,
    })
}

/// A message that somebody said, in one piece; none for what the harness or tools said.
fn line(message: &Message) -> Option<String> {
    if message.is_meta {
        return None;
    }
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(fragments) => Some(fragments),
        _ => None,
    });
    let texts: Vec<&str> = texts.flatten().map(|fragment| fragment.text.as_str()).collect();
    let text = texts.join("\n\n");
    if text.trim().is_empty() {
        return None;
    }
    let who = match message.role {
        Role::User => "User",
        Role::Assistant => "Agent",
    };
    let end = text.floor_char_boundary(MOST_MESSAGE);
    let cut = if end < text.len() { " […]" } else { "" };
    Some(format!("{who}: {}{cut}", text.get(..end).unwrap_or_default()))
}
