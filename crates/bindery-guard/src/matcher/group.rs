//! Expressions with the same anchors.

use super::walk::{Step, Trial};
use super::{Hit, WINDOW, Work};
use crate::patterns::{Filter, GroupRow};

/// Expressions with the same anchors. Most places where an anchor stands fit none of them, and one
/// filter over all first segments tells that at once.
#[derive(Debug)]
pub(super) struct Group {
    leading: bool,
    has_at: bool,
    filter: Filter<'static>,
    trials: Vec<Trial>,
    any_of: Vec<u16>,
}

/// Bytes before an anchor where a match may begin.
const LEAD: usize = 64;

impl Group {
    pub(super) fn new(row: GroupRow<'static>) -> Self {
        Self {
            leading: row.leading,
            has_at: row.has_at,
            filter: row.filter,
            trials: row.trials.into_iter().map(Trial::new).collect(),
            any_of: row.any_of,
        }
    }

    /// Tries the members whose needs follow at one place, where an anchor of some length stands and
    /// takes the filter to some state. `steps` are those of all expressions.
    pub(super) fn run(
        &self,
        text: &[u8],
        (at, len, entered): (usize, usize, u8),
        (follows, steps): (impl Fn(&u16) -> bool, &[Step]),
        work: &mut Work,
        hits: &mut Vec<Hit>,
    ) {
        if !self.any_of.is_empty() && !self.any_of.iter().any(&follows) {
            return;
        }
        let may = |trial: &Trial| trial.needs().iter().all(&follows);
        if !self.trials.iter().any(may) {
            return;
        }
        let end = text.len().min(at + WINDOW);
        if self.has_at && memchr::memchr(b'@', text.get(at..end).unwrap_or_default()).is_none() {
            return;
        }
        work.add(end - at);
        if self.leading {
            if self
                .filter
                .may_go_on(entered, text.get(at + len..end).unwrap_or_default())
            {
                self.try_from(text, at, || std::iter::once(at), (may, steps), work, hits);
            }
            return;
        }
        let fits = |start: &usize| self.filter.may_match(text.get(*start..end).unwrap_or_default());
        let starts: Vec<usize> = (at.saturating_sub(LEAD)..=at).filter(fits).collect();
        if !starts.is_empty() {
            self.try_from(text, at, || starts.iter().copied(), (may, steps), work, hits);
        }
    }

    fn try_from<I: Iterator<Item = usize>>(
        &self,
        text: &[u8],
        at: usize,
        starts: impl Fn() -> I,
        (may, steps): (impl Fn(&Trial) -> bool, &[Step]),
        work: &mut Work,
        hits: &mut Vec<Hit>,
    ) {
        for trial in self.trials.iter().filter(|trial| may(trial)) {
            work.add(WINDOW.min(text.len()));
            if let Some(span) = trial.run(text, at, starts(), steps) {
                hits.push(Hit {
                    pattern: trial.pattern(),
                    span,
                });
            }
        }
    }

    /// As [`Group::run`], without a look at needs and filters.
    #[cfg(test)]
    pub(super) fn run_fully(&self, text: &[u8], at: usize, steps: &[Step], hits: &mut Vec<Hit>) {
        let first = if self.leading { at } else { at.saturating_sub(LEAD) };
        for trial in &self.trials {
            hits.extend(trial.run_fully(text, at, first..=at, steps).map(|span| Hit {
                pattern: trial.pattern(),
                span,
            }));
        }
    }
}
