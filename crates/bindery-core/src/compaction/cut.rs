//! Where a history may be cut.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::log::{Seq, SessionState};
use crate::{Kind, Lane, Message, Part, Role};

/// What gives way, and what of it stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Every event whose message or result gives way.
    pub shadowed: Vec<Seq>,
    /// Their messages, each with its first event.
    pub messages: Vec<(Seq, Message)>,
    /// Messages among them that stand word for word in the replacement: instructions and other context,
    /// the latest of each.
    pub carried: Vec<Message>,
    /// How many messages follow and stay as they are.
    pub stays: usize,
}

/// Why there is no cut.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoCut {
    /// A call has no result yet.
    #[error("the call `{0}` has no result yet; compaction waits for it")]
    OpenCall(Arc<str>),
    /// Nothing before the newest messages could give way.
    #[error("there is nothing to summarise before the newest messages")]
    Nothing,
}

/// The cut that leaves about `recent` tokens of the newest messages: before a turn where that leaves enough
/// of them, otherwise between two steps of one. The newest step always stays.
pub fn cut(state: &SessionState, recent: u64, count: &dyn Fn(&Message) -> u64) -> Result<Cut, NoCut> {
    if let Some(call) = state.pending_calls().first() {
        return Err(NoCut::OpenCall(call.id.clone()));
    }
    let entries: Vec<(&[Seq], &Message)> = state.surface().entries().collect();
    let at = place(&entries, recent, count).ok_or(NoCut::Nothing)?;
    let (before, after) = entries.split_at_checked(at).ok_or(NoCut::Nothing)?;
    if !before.iter().any(|(_, message)| is_traffic(message)) {
        return Err(NoCut::Nothing);
    }
    // One event may stand behind several messages: an earlier replacement does.
    let mut shadowed: Vec<Seq> = before
        .iter()
        .flat_map(|(events, _)| events.iter().copied())
        .collect();
    shadowed.sort_unstable();
    shadowed.dedup();
    let first = |events: &[Seq]| events.first().copied().unwrap_or(Seq::FIRST);
    Ok(Cut {
        shadowed,
        messages: before
            .iter()
            .map(|(events, message)| (first(events), (*message).clone()))
            .collect(),
        carried: carried(before, after),
        stays: after.len(),
    })
}

/// The index of the first message that stays.
fn place(entries: &[(&[Seq], &Message)], recent: u64, count: &dyn Fn(&Message) -> u64) -> Option<usize> {
    let mut tokens: u64 = 0;
    let mut step = None;
    let mut turn = None;
    for at in (1..entries.len()).rev() {
        let (_, message) = entries.get(at)?;
        tokens = tokens.saturating_add(count(message));
        let Some(border) = border(entries, at) else {
            continue;
        };
        if tokens > recent && step.is_some() {
            break;
        }
        step = Some(at);
        if border == Border::Turn && tokens <= recent && tokens >= recent / 3 {
            turn = Some(at);
        }
        if tokens > recent {
            break;
        }
    }
    turn.or(step)
}

#[derive(PartialEq, Eq)]
enum Border {
    Turn,
    Step,
}

/// What begins at a message, if anything does.
fn border(entries: &[(&[Seq], &Message)], at: usize) -> Option<Border> {
    let (_, message) = entries.get(at)?;
    let (_, before) = entries.get(at.checked_sub(1)?)?;
    match (before.role, message.role) {
        (Role::Assistant, Role::User) if !holds_results(message) => Some(Border::Turn),
        // The turn before broke off after its tools had run.
        (Role::User, Role::User) if holds_results(before) && !holds_results(message) => Some(Border::Turn),
        // Between the results of one step and the answer that begins the next.
        (Role::User, Role::Assistant) if holds_results(before) => Some(Border::Step),
        _ => None,
    }
}

fn holds_results(message: &Message) -> bool {
    matches!(message.parts.first(), Some(Part::ToolResult { .. }))
}

/// Whether a message is conversation or tool traffic, which may be summarised.
fn is_traffic(message: &Message) -> bool {
    message
        .fragments()
        .any(|fragment| fragment.lane != Lane::Context && fragment.kind != Kind::Summary)
}

/// Context that stands word for word: the latest of each key that does not stand in what stays.
fn carried(before: &[(&[Seq], &Message)], after: &[(&[Seq], &Message)]) -> Vec<Message> {
    let mut known: BTreeSet<&str> = after.iter().flat_map(|(_, message)| keys(message)).collect();
    let mut carried = Vec::new();
    for (_, message) in before.iter().rev() {
        if is_carried(message) && keys(message).any(|key| !known.contains(key)) {
            known.extend(keys(message));
            carried.push((*message).clone());
        }
    }
    carried.reverse();
    carried
}

fn keys(message: &Message) -> impl Iterator<Item = &str> {
    let context = message
        .fragments()
        .filter(|fragment| fragment.lane == Lane::Context);
    context.map(|fragment| &*fragment.key)
}

/// Snapshots are said again by whoever knows the present state.
fn is_carried(message: &Message) -> bool {
    let mut fragments = message.fragments().peekable();
    fragments.peek().is_some()
        && fragments.all(|fragment| {
            fragment.lane == Lane::Context
                && !matches!(
                    fragment.kind,
                    Kind::Snapshot | Kind::SnapshotCleared | Kind::Reminder
                )
        })
}
