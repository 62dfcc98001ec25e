//! Expressions with the same anchors.

use super::walk::Trial;
use super::{Hit, WINDOW, Work};
use crate::patterns::{Filter, GroupRow};

/// Expressions with the same anchors. Most places where an anchor stands fit none of them, and one
/// filter over all first segments tells that at once.
#[derive(Debug)]
pub(super) struct Group {
    leading: bool,
    filter: Filter<'static>,
    trials: Vec<Trial>,
}

/// Bytes before an anchor where a match may begin.
const LEAD: usize = 64;

impl Group {
    pub(super) fn new(row: GroupRow<'static>) -> Self {
        Self {
            leading: row.leading,
            filter: row.filter,
            trials: row.trials.into_iter().map(Trial::new).collect(),
        }
    }

    /// Tries the members for which `may` holds at one place.
    pub(super) fn run(
        &self,
        text: &[u8],
        at: usize,
        may: impl Fn(&Trial) -> bool,
        work: &mut Work,
        hits: &mut Vec<Hit>,
    ) {
        let end = text.len().min(at + WINDOW);
        let fits = |start: &usize| self.filter.may_match(text.get(*start..end).unwrap_or_default());
        let earliest = if self.leading { at } else { at.saturating_sub(LEAD) };
        let starts: Vec<usize> = (earliest..=at).filter(fits).collect();
        if starts.is_empty() {
            return;
        }
        for trial in self.trials.iter().filter(|trial| may(trial)) {
            work.windows += WINDOW.min(text.len());
            if let Some(span) = trial.run(text, at, starts.iter().copied()) {
                hits.push(Hit {
                    pattern: trial.pattern(),
                    span,
                });
            }
        }
    }
}
