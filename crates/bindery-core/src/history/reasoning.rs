//! Reasoning is of use, and taken, only before what it led to.

use std::collections::BTreeSet;

use super::{RepairKind, Work};
use crate::{Part, Role};

pub(super) fn pass(work: &mut Work<'_>) {
    let mut nowhere: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut leads = false;
    for (at, message) in work.messages.iter().enumerate().rev() {
        if message.role == Role::User {
            leads = false;
            continue;
        }
        for (index, part) in message.parts.iter().enumerate().rev() {
            match part {
                Part::Reasoning { .. } if !leads => drop(nowhere.insert((at, index))),
                Part::Reasoning { .. } => {}
                Part::Text(_) | Part::ToolCall { .. } | Part::ToolResult { .. } | Part::Media { .. } => {
                    leads = true;
                }
            }
        }
    }
    if nowhere.is_empty() {
        return;
    }
    work.leave_out(|at, index, _, _| {
        let gone = nowhere.contains(&(at, index));
        gone.then(|| {
            (
                RepairKind::ReasoningLedNowhere,
                "reasoning was followed by neither text nor call".to_owned(),
            )
        })
    });
}
