//! Every call has exactly one result, right behind the message that calls.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{RepairKind, Work};
use crate::{Authority, Fragment, Kind, Message, Part, Role, Source, Trust, said};

/// What stands where a result is missing. Text that people edit lives in files.
const MISSING: &str = include_str!("../../../../sections/runtime/no-result.md");

/// A place: message, part.
type Place = (usize, usize);

pub(super) fn pass(work: &mut Work<'_>) {
    let results = first_results(&work.messages);
    let order = Order::of(&work.messages, &results);
    if order.is_sound() {
        return;
    }
    for (place, part, why) in &order.left_out {
        let kind = match why {
            Why::Orphan => RepairKind::OrphanResult,
            Why::Second => RepairKind::SecondResult,
        };
        let text = match why {
            Why::Orphan => "a result answered no call that stands before it",
            Why::Second => "the call has a result already",
        };
        debug_assert!(matches!(part, Part::ToolResult { .. }), "{place:?}");
        work.note(kind, Some(part), text);
    }
    let gone: BTreeSet<Place> = order.left_out.iter().map(|(place, ..)| *place).collect();
    let mut out = Vec::with_capacity(work.messages.len() + order.mend.len());
    let messages = std::mem::take(work.messages.to_mut());
    let mut taken: BTreeMap<Place, Part> = BTreeMap::new();
    let moving: BTreeSet<Place> = order.moving(&results);
    for (at, message) in messages.iter().enumerate() {
        for (index, part) in message.parts.iter().enumerate() {
            if moving.contains(&(at, index)) {
                taken.insert((at, index), part.clone());
            }
        }
    }
    for (at, mut message) in messages.into_iter().enumerate() {
        let mut index = 0;
        message.parts.retain(|_| {
            let place = (at, index);
            index += 1;
            !gone.contains(&place) && !moving.contains(&place)
        });
        let calls = message.parts.clone();
        if !message.parts.is_empty() {
            out.push(message);
        }
        if order.mend.contains(&at) {
            out.push(answers(work, &calls, &results, &mut taken));
        }
    }
    work.messages = out.into();
}

/// The message of results that was missing or scattered.
fn answers(
    work: &mut Work<'_>,
    calls: &[Part],
    results: &BTreeMap<Arc<str>, Place>,
    taken: &mut BTreeMap<Place, Part>,
) -> Message {
    let mut parts = Vec::new();
    for call in calls {
        let Part::ToolCall { id, name, .. } = call else {
            continue;
        };
        let found = results.get(id).and_then(|place| taken.remove(place));
        if let Some(result) = found {
            work.note(
                RepairKind::ResultMoved,
                Some(&result),
                format!("the result of `{id}` did not stand right behind its call"),
            );
            parts.push(result);
        } else {
            work.note(
                RepairKind::ResultMissing,
                Some(call),
                format!("the call `{id}` of `{name}` had no result"),
            );
            parts.push(missing(id));
        }
    }
    Message {
        role: Role::User,
        parts,
        is_meta: false,
    }
}

/// A result that says that there is none.
fn missing(id: &Arc<str>) -> Part {
    let fragment = said(
        format!("history:no-result:{id}"),
        Kind::ToolResult,
        Authority::Tool,
        Trust::Builtin,
        MISSING.trim_end(),
    );
    Part::ToolResult {
        id: id.clone(),
        content: Fragment {
            source: Source::Builtin {
                name: "runtime/no-result.md".into(),
            },
            ..fragment
        },
        is_error: true,
    }
}

/// The first result of each call that stands behind it.
fn first_results(messages: &[Message]) -> BTreeMap<Arc<str>, Place> {
    let mut called: BTreeSet<&Arc<str>> = BTreeSet::new();
    let mut found = BTreeMap::new();
    for (at, message) in messages.iter().enumerate() {
        for (index, part) in message.parts.iter().enumerate() {
            match part {
                Part::ToolCall { id, .. } => drop(called.insert(id)),
                Part::ToolResult { id, .. } if called.contains(id) => {
                    found.entry(id.clone()).or_insert((at, index));
                }
                _ => {}
            }
        }
    }
    found
}

/// Why a result goes.
enum Why {
    Orphan,
    Second,
}

/// What has to be done.
struct Order {
    left_out: Vec<(Place, Part, Why)>,
    /// The messages whose results have to be put behind them.
    mend: BTreeSet<usize>,
    /// The ids that those call.
    ids: Vec<Arc<str>>,
}

impl Order {
    fn of(messages: &[Message], results: &BTreeMap<Arc<str>, Place>) -> Self {
        let mut order = Self {
            left_out: Vec::new(),
            mend: BTreeSet::new(),
            ids: Vec::new(),
        };
        for (at, message) in messages.iter().enumerate() {
            let mut ids = Vec::new();
            for (index, part) in message.parts.iter().enumerate() {
                match part {
                    Part::ToolCall { id, .. } => ids.push(id),
                    Part::ToolResult { id, .. } => {
                        let place = (at, index);
                        match results.get(id) {
                            Some(first) if *first == place => {}
                            Some(first) if *first < place => {
                                order.left_out.push((place, part.clone(), Why::Second));
                            }
                            _ => order.left_out.push((place, part.clone(), Why::Orphan)),
                        }
                    }
                    Part::Text(_) | Part::Reasoning { .. } | Part::Media { .. } => {}
                }
            }
            if !ids.is_empty() && !stand_behind(messages, at, &ids, results) {
                order.mend.insert(at);
                order.ids.extend(ids.into_iter().cloned());
            }
        }
        order
    }

    fn is_sound(&self) -> bool {
        self.left_out.is_empty() && self.mend.is_empty()
    }

    /// The results that leave their places.
    fn moving(&self, results: &BTreeMap<Arc<str>, Place>) -> BTreeSet<Place> {
        self.ids
            .iter()
            .filter_map(|id| results.get(id).copied())
            .collect()
    }
}

/// Whether the results of these calls open the user's turn behind message `at`.
fn stand_behind(
    messages: &[Message],
    at: usize,
    ids: &[&Arc<str>],
    results: &BTreeMap<Arc<str>, Place>,
) -> bool {
    let turn = messages.iter().enumerate().skip(at + 1);
    let turn = turn.take_while(|(_, message)| message.role == Role::User);
    let parts = turn.flat_map(|(at, message)| {
        message
            .parts
            .iter()
            .enumerate()
            .map(move |(i, part)| ((at, i), part))
    });
    let opening = parts.take_while(|(_, part)| matches!(part, Part::ToolResult { .. }));
    let places: BTreeSet<Place> = opening.map(|(place, _)| place).collect();
    ids.iter()
        .all(|id| results.get(*id).is_some_and(|place| places.contains(place)))
}
