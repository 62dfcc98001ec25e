//! Expressions with the same anchors.

use std::sync::{Arc, OnceLock};

use regex_syntax::hir::Hir;

use super::automaton::Automaton;
use super::walk::Trial;
use super::{Hit, WINDOW, Work};
use crate::patterns::{Expression, parse};

/// Expressions with the same anchors. Most places where an anchor stands fit none of them, and one
/// automaton over all first segments tells that at once.
#[derive(Debug)]
pub(super) struct Group {
    trials: Vec<Trial>,
    gate: Option<Gate>,
}

#[derive(Debug)]
struct Gate {
    /// The texts of the first segments, parsed when the group is first met.
    first_segments: Vec<Arc<str>>,
    automaton: OnceLock<Option<Automaton>>,
}

impl Group {
    pub(super) fn new(leading: bool, members: Vec<(&Expression, Trial)>) -> Self {
        let first_segments = members
            .iter()
            .filter_map(|(expression, _)| expression.segments.first());
        let first_segments: Vec<Arc<str>> = first_segments.map(|segment| segment.body.clone()).collect();
        let gate = (leading && first_segments.len() > 1).then(|| Gate {
            first_segments,
            automaton: OnceLock::new(),
        });
        Self {
            trials: members.into_iter().map(|(_, trial)| trial).collect(),
            gate,
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
        let mut open = self.gate.is_none();
        for trial in self.trials.iter().filter(|trial| may(trial)) {
            work.windows += WINDOW.min(text.len());
            if !open {
                let window = at..text.len().min(at + WINDOW);
                if self
                    .gate
                    .as_ref()
                    .and_then(Gate::automaton)
                    .is_some_and(|gate| !gate.fits(text, window))
                {
                    return;
                }
                open = true;
            }
            if let Some(span) = trial.run(text, at) {
                hits.push(Hit {
                    pattern: trial.pattern(),
                    span,
                });
            }
        }
    }
}

impl Gate {
    fn automaton(&self) -> Option<&Automaton> {
        self.automaton
            .get_or_init(|| {
                let parsed: Result<Vec<Hir>, _> =
                    self.first_segments.iter().map(|body| parse(body)).collect();
                Automaton::new(&Hir::alternation(parsed.ok()?))
            })
            .as_ref()
    }
}
