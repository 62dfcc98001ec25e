//! Calls and their results, in whichever format: every call has one result, every result a call.

use std::collections::BTreeMap;

use super::{Findings, ShapeRule};

/// Calls that wait for their results.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    /// Where each open call stands, by id.
    open: BTreeMap<String, String>,
    /// Every call so far, and whether it was answered.
    seen: BTreeMap<String, bool>,
}

impl OpenCalls {
    /// A call at a place.
    pub(super) fn call(&mut self, id: &str, at: &str, found: &mut Findings) {
        if id.is_empty() {
            found.add(ShapeRule::CallTwice, at, "the call has no id");
            return;
        }
        if self.seen.insert(id.to_owned(), false).is_some() {
            found.add(
                ShapeRule::CallTwice,
                at,
                format!("the id `{id}` was used by a call before"),
            );
        }
        self.open.insert(id.to_owned(), at.to_owned());
    }

    /// A result at a place.
    pub(super) fn result(&mut self, id: &str, at: &str, found: &mut Findings) {
        if self.open.remove(id).is_some() {
            self.seen.insert(id.to_owned(), true);
            return;
        }
        match self.seen.get(id) {
            Some(true) => {
                let message = format!("the call `{id}` has a result already");
                found.add(ShapeRule::AnsweredTwice, at, message);
            }
            Some(false) => {
                let message = format!("the result of call `{id}` does not follow the message that calls");
                found.add(ShapeRule::Orphan, at, message);
            }
            None => {
                let message = format!("no call has the id `{id}` that this result answers");
                found.add(ShapeRule::Orphan, at, message);
            }
        }
    }

    /// Here every call must have been answered.
    pub(super) fn settle(&mut self, found: &mut Findings) {
        for (id, at) in std::mem::take(&mut self.open) {
            let message = format!("the call `{id}` has no result where it must stand");
            found.add(ShapeRule::Unanswered, at, message);
        }
    }
}
