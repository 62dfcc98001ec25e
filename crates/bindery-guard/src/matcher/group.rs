//! Expressions by their anchors, in few blocks of memory: a text meets so many of them that what is read of each
//! must be small.

use super::walk::{Step, try_at};
use super::{Hit, WINDOW, Work};
use crate::patterns::{Body, Filter, GroupRow, Need, TrialRow};

/// Groups of expressions with the same anchors. Most places where an anchor stands fit none of a group, and
/// what must follow, and then one filter over all first segments, tell that at once.
#[derive(Debug)]
pub(super) struct Groups {
    rows: Vec<Group>,
    filters: Vec<Filter<'static>>,
    trials: Vec<Trial>,
    needs: Vec<Need>,
    segments: Vec<(u8, u16)>,
    steps: Vec<Step>,
}

/// Items of a list that lie together.
#[derive(Debug, Clone, Copy)]
struct Span {
    from: u32,
    len: u16,
}

#[derive(Debug)]
struct Group {
    /// Unless one of these follows, nothing can match; empty if that cannot be said.
    any_of: Span,
    trials: Span,
    leading: bool,
    has_at: bool,
}

#[derive(Debug)]
struct Trial {
    needs: Span,
    segments: Span,
    pattern: u16,
    blanks: u8,
}

/// A place where an anchor stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) at: usize,
    /// The length of the anchor.
    pub(super) len: usize,
    /// The state that it takes the filter of the group to.
    pub(super) state: u8,
}

/// Bytes before an anchor where a match may begin.
const LEAD: usize = 64;

impl Span {
    /// Adds `items` to a list.
    fn added<T>(list: &mut Vec<T>, items: impl IntoIterator<Item = T>) -> Self {
        let from = list.len();
        list.extend(items);
        Self {
            from: u32::try_from(from).unwrap_or(u32::MAX),
            len: u16::try_from(list.len() - from).unwrap_or(0),
        }
    }

    #[inline]
    fn of<T>(self, list: &[T]) -> &[T] {
        let from = self.from as usize;
        list.get(from..from + usize::from(self.len)).unwrap_or_default()
    }
}

impl Groups {
    pub(super) fn new(rows: Vec<GroupRow<'static>>, bodies: Vec<Body<'static>>) -> Self {
        let mut all = Self {
            rows: Vec::with_capacity(rows.len()),
            filters: Vec::with_capacity(rows.len()),
            trials: Vec::new(),
            needs: Vec::new(),
            segments: Vec::new(),
            steps: bodies.into_iter().map(Step::new).collect(),
        };
        for row in rows {
            let any_of = Span::added(&mut all.needs, row.any_of);
            let trials: Vec<Trial> = row.trials.into_iter().map(|row| all.trial(row)).collect();
            all.rows.push(Group {
                any_of,
                trials: Span::added(&mut all.trials, trials),
                leading: row.leading,
                has_at: row.has_at,
            });
            all.filters.push(row.filter);
        }
        all
    }

    fn trial(&mut self, row: TrialRow) -> Trial {
        Trial {
            needs: Span::added(&mut self.needs, row.needs),
            segments: Span::added(&mut self.segments, row.segments),
            pattern: row.pattern,
            blanks: row.blanks,
        }
    }

    /// Tries the members of a group whose needs follow at one place where an anchor of it stands.
    #[inline]
    pub(super) fn run(
        &self,
        (number, place): (u16, Place),
        text: &[u8],
        follows: impl Fn(&Need) -> bool,
        (work, hits): (&mut Work, &mut Vec<Hit>),
    ) {
        let Some(group) = self.rows.get(usize::from(number)) else {
            return;
        };
        let any_of = group.any_of.of(&self.needs);
        if !any_of.is_empty() && !any_of.iter().any(&follows) {
            return;
        }
        let may = |trial: &&Trial| trial.needs.of(&self.needs).iter().all(&follows);
        let mut trials = group.trials.of(&self.trials).iter().filter(may).peekable();
        if trials.peek().is_none() {
            return;
        }
        let at = place.at;
        let end = text.len().min(at + WINDOW);
        if group.has_at && memchr::memchr(b'@', text.get(at..end).unwrap_or_default()).is_none() {
            return;
        }
        work.add(end - at);
        let Some(filter) = self.filters.get(usize::from(number)) else {
            return;
        };
        let mut starts = Vec::new();
        if group.leading {
            let rest = text.get(at + place.len..end).unwrap_or_default();
            if !filter.may_go_on(place.state, rest) {
                return;
            }
        } else {
            let fits = |start: &usize| filter.may_match(text.get(*start..end).unwrap_or_default());
            starts.extend((at.saturating_sub(LEAD)..=at).filter(fits));
            if starts.is_empty() {
                return;
            }
        }
        let starts = if group.leading { &[at] } else { starts.as_slice() };
        for trial in trials {
            work.add(WINDOW.min(text.len()));
            let segments = trial.segments.of(&self.segments);
            if let Some(span) = try_at(text, at, starts, (segments, trial.blanks, &self.steps)) {
                hits.push(Hit {
                    pattern: usize::from(trial.pattern),
                    span,
                });
            }
        }
    }

    /// As [`Groups::run`], without a look at needs and filters.
    #[cfg(test)]
    pub(super) fn run_fully(&self, number: u16, text: &[u8], at: usize, hits: &mut Vec<Hit>) {
        let group = &self.rows[usize::from(number)];
        let first = if group.leading {
            at
        } else {
            at.saturating_sub(LEAD)
        };
        for trial in group.trials.of(&self.trials) {
            let segments = trial.segments.of(&self.segments);
            let span = super::walk::try_fully(text, at, first..=at, (segments, &self.steps));
            hits.extend(span.map(|span| Hit {
                pattern: usize::from(trial.pattern),
                span,
            }));
        }
    }
}
