//! What waits to be said.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Intake, Seq};
use crate::Message;

/// The waiting messages, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inbox {
    items: Vec<InboxItem>,
    seen: BTreeSet<Arc<str>>,
}

/// A waiting message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxItem {
    /// The sender's name for it.
    pub id: Arc<str>,
    /// The event that brought it.
    pub seq: Seq,
    /// When it may enter.
    pub intake: Intake,
    /// What is said.
    pub message: Message,
}

/// Where a claim is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// Before the first step of a turn.
    Turn,
    /// Before a later step.
    Step,
}

impl Inbox {
    /// What waits, oldest first.
    pub fn items(&self) -> &[InboxItem] {
        &self.items
    }

    /// Whether an item of this id ever arrived: a second delivery of it is to be dropped.
    pub fn has_seen(&self, id: &str) -> bool {
        self.seen.contains(id)
    }

    /// Whether an idle session has a reason to begin a turn.
    pub fn wakes(&self) -> bool {
        self.items.iter().any(|item| item.intake != Intake::Inject)
    }

    /// What may enter now: everything for the next step, and at the beginning of a turn one that
    /// wants a turn of its own. In the order of arrival.
    pub fn claimable(&self, boundary: Boundary) -> Vec<&InboxItem> {
        let mut turns = usize::from(boundary == Boundary::Turn);
        self.items
            .iter()
            .filter(|item| match item.intake {
                Intake::Steer | Intake::Inject => true,
                Intake::FollowUp => turns.checked_sub(1).map(|left| turns = left).is_some(),
            })
            .collect()
    }

    pub(super) fn push(&mut self, item: InboxItem) {
        self.seen.insert(item.id.clone());
        self.items.push(item);
    }

    /// The first of `ids` that does not wait here, or that is named twice.
    pub(super) fn first_absent<'a>(&self, ids: &'a [Arc<str>]) -> Option<&'a Arc<str>> {
        let mut named = BTreeSet::new();
        ids.iter()
            .find(|id| !named.insert(*id) || !self.items.iter().any(|item| item.id == **id))
    }

    pub(super) fn remove(&mut self, ids: &[Arc<str>]) {
        self.items.retain(|item| !ids.contains(&item.id));
    }
}
