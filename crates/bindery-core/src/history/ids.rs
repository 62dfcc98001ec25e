//! Every call has an id of its own.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::{RepairKind, Work};
use crate::{Message, Part};

/// What a call without an id is called.
const NAMELESS: &str = "call";

pub(super) fn pass(work: &mut Work<'_>) {
    let mut seen = BTreeSet::new();
    let mut twice = |part: &Part| match part {
        Part::ToolCall { id, .. } => id.is_empty() || !seen.insert(id.clone()),
        _ => false,
    };
    let mut parts = work.messages.iter().flat_map(|message| &message.parts);
    if !parts.any(&mut twice) {
        return;
    }
    let mut naming = Naming::of(&work.messages);
    let mut renamed = Vec::new();
    for message in work.messages.to_mut() {
        naming.message(message, &mut renamed);
    }
    for (part, why) in renamed {
        work.note(RepairKind::CallRenamed, Some(&part), why);
    }
}

/// Which names calls have, and which of them wait for results.
struct Naming {
    /// Every id that stands anywhere: no new one may be one of these.
    known: BTreeSet<Arc<str>>,
    taken: BTreeSet<Arc<str>>,
    /// By the id that was written: the names that wait for a result, in order.
    open: BTreeMap<Arc<str>, VecDeque<Arc<str>>>,
}

impl Naming {
    fn of(messages: &[Message]) -> Self {
        let calls = messages.iter().flat_map(|message| &message.parts);
        let known = calls.filter_map(|part| match part {
            Part::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        Self {
            known: known.collect(),
            taken: BTreeSet::new(),
            open: BTreeMap::new(),
        }
    }

    fn message(&mut self, message: &mut Message, renamed: &mut Vec<(Part, String)>) {
        // A call in a later message takes over: results that come now are its.
        let calls = message.parts.iter().filter_map(|part| match part {
            Part::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        for id in calls.collect::<Vec<_>>() {
            self.open.remove(&id);
        }
        for part in &mut message.parts {
            let before = part.clone();
            match part {
                Part::ToolCall { id, .. } => {
                    let name = self.name(id);
                    self.open.entry(id.clone()).or_default().push_back(name.clone());
                    if name != *id {
                        renamed.push((
                            before,
                            format!("the call id `{id}` was taken; it is `{name}` now"),
                        ));
                        *id = name;
                    }
                }
                Part::ToolResult { id, .. } => {
                    let waits = self.open.get_mut(id).and_then(VecDeque::pop_front);
                    if let Some(name) = waits {
                        *id = name;
                    }
                }
                Part::Text(_) | Part::Reasoning { .. } | Part::Media { .. } => {}
            }
        }
    }

    fn name(&mut self, id: &Arc<str>) -> Arc<str> {
        if !id.is_empty() && self.taken.insert(id.clone()) {
            return id.clone();
        }
        let base = if id.is_empty() { NAMELESS } else { id };
        let mut number = 2_u64;
        loop {
            // Only letters, digits, `_` and `-` are taken in ids everywhere.
            let name: Arc<str> = format!("{base}-{number}").into();
            if !self.known.contains(&name) && self.taken.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }
}
