//! From expressions to the tables of a scanner: keywords, sets and groups by number.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::filter::{self, Filter};
use super::load::PatternError;
use super::needs;
use super::program::Program;
use super::tables::{Anchor, Body, Grid, GroupRow, Keyword, Need, Rows, TrialRow, written};
use super::tokens::{self, UNLIMITED};
use super::{Expression, Form};
use crate::heads::{self, key};

/// Sets of keywords that an expression is asked for: with more, more words would have to be noted.
const MOST_NEEDS: usize = 3;

/// Expressions by their anchors, whether these lead, whether they are all of the first segment, whether
/// something must follow them, and whether that is the sign of an address: an expression that is worth a
/// try at every place would have the others of its group tried as often.
type Drafts = BTreeMap<(Vec<Keyword>, [bool; 4]), Draft>;

/// A group, and its anchors as the expressions spell them.
#[derive(Default)]
struct Draft {
    trials: Vec<TrialRow>,
    anchors: BTreeSet<Vec<u8>>,
}

/// A keyword with blanks between its words only: however these are separated, it is one keyword.
fn flat(word: &[u8]) -> Vec<u8> {
    word.iter().copied().map(heads::flat).collect()
}

/// Numbers in order of first use.
pub(super) struct Numbering<T>(BTreeMap<T, u16>);

impl<T: Ord + Clone> Numbering<T> {
    pub(super) fn of(&mut self, item: &T) -> Result<u16, PatternError> {
        if let Some(number) = self.0.get(item) {
            return Ok(*number);
        }
        let next = small(self.0.len())?;
        self.0.insert(item.clone(), next);
        Ok(next)
    }
}

impl<T> Numbering<T> {
    fn in_order(&self) -> Vec<&T> {
        let mut all: Vec<(u16, &T)> = self.0.iter().map(|(item, number)| (*number, item)).collect();
        all.sort_unstable_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, item)| item).collect()
    }
}

/// The parts of expressions, in order of first use.
#[derive(Default)]
struct Bodies {
    numbers: BTreeMap<Arc<str>, u16>,
    programs: Vec<Program>,
    /// The most words of each.
    words: Vec<u8>,
}

impl Bodies {
    fn of(&mut self, body: &Arc<str>) -> Result<u16, PatternError> {
        if let Some(number) = self.numbers.get(body) {
            return Ok(*number);
        }
        let next = small(self.programs.len())?;
        let program = Program::compile(body).map_err(PatternError::Engine)?;
        self.words.push(tokens::most(&program));
        self.programs.push(program);
        self.numbers.insert(body.clone(), next);
        Ok(next)
    }

    fn words_of(&self, body: u16) -> u8 {
        self.words.get(usize::from(body)).copied().unwrap_or(UNLIMITED)
    }
}

fn small(number: usize) -> Result<u16, PatternError> {
    u16::try_from(number).map_err(|_| PatternError::Engine("too many words or expressions".to_owned()))
}

impl Grid<'static> {
    pub(super) fn compile<'b>(
        expressions: impl Iterator<Item = &'b (usize, Form, Expression)>,
    ) -> Result<Self, PatternError> {
        let mut keywords = Numbering(BTreeMap::new());
        let mut sets = Numbering(BTreeMap::new());
        let mut bodies = Bodies::default();
        let mut drafts: Drafts = BTreeMap::new();
        for (pattern, _, expression) in expressions {
            let mut numbers = |words: &[Vec<u8>]| -> Result<Vec<Keyword>, PatternError> {
                let words: BTreeSet<Vec<u8>> = words.iter().map(|word| flat(word)).collect();
                words.iter().map(|word| keywords.of(word)).collect()
            };
            let anchors = numbers(&expression.anchors)?;
            let mut segments = Vec::with_capacity(expression.segments.len());
            let mut rare: Vec<(&[Vec<u8>], u8)> = Vec::new();
            let mut within = 0_u8;
            for segment in &expression.segments {
                let gap = u8::try_from(segment.gap).unwrap_or(u8::MAX);
                let body = bodies.of(&segment.body)?;
                segments.push((gap, body));
                // `UNLIMITED` stays what it is.
                within = within.saturating_add(gap).saturating_add(bodies.words_of(body));
                rare.extend(segment.needs.iter().map(|keys| (keys.as_slice(), within)));
            }
            // The first of them is asked first; of the same keywords, the nearest.
            rare.sort_by_cached_key(|(keys, within)| (needs::weight_of(keys), *keys, *within));
            rare.dedup_by_key(|(keys, _)| *keys);
            rare.truncate(MOST_NEEDS);
            let mut needs = Vec::with_capacity(rare.len());
            for (keys, within) in rare {
                let set = sets.of(&numbers(keys)?)?;
                needs.push(Need { set, within });
            }
            let trial = TrialRow {
                pattern: small(*pattern)?,
                needs,
                blanks: expression.blanks,
                segments,
            };
            let kind = [
                expression.leading,
                expression.bare,
                trial.needs.is_empty(),
                expression.has_at,
            ];
            let draft = drafts.entry((anchors, kind)).or_default();
            draft.trials.push(trial);
            draft.anchors.extend(expression.anchors.iter().cloned());
        }
        Self::gather(&keywords, &sets.0, drafts, &bodies.programs)
    }

    fn gather(
        keywords: &Numbering<Vec<u8>>,
        sets: &BTreeMap<Vec<Keyword>, u16>,
        drafts: Drafts,
        programs: &[Program],
    ) -> Result<Self, PatternError> {
        let by_number = keywords.in_order();
        let mut anchored = vec![Vec::new(); by_number.len()];
        let mut groups = Vec::with_capacity(drafts.len());
        let mut nexts = Numbering(BTreeMap::new());
        for (((_, [leading, .., has_at]), draft), number) in drafts.into_iter().zip(0..) {
            let trials = draft.trials;
            let firsts = trials.iter().filter_map(|trial| trial.segments.first());
            let firsts: Vec<&Program> = firsts
                .filter_map(|(_, body)| programs.get(usize::from(*body)))
                .collect();
            let filter = Filter::new(&firsts, filter::GROUP_STATES);
            let group = GroupRow {
                leading,
                has_at,
                filter,
                any_of: any_of(&trials),
                trials,
            };
            for word in &draft.anchors {
                let keyword = keywords.0.get(&flat(word)).copied().map(usize::from);
                if let Some(row) = keyword.and_then(|keyword| anchored.get_mut(keyword)) {
                    let anchor = Anchor::new(number, &group, word, &mut nexts)?;
                    if !row.contains(&anchor) {
                        row.push(anchor);
                    }
                }
            }
            groups.push(group);
        }
        let mut in_sets = vec![Vec::new(); by_number.len()];
        for (words, set) in sets {
            for keyword in words {
                if let Some(row) = in_sets.get_mut(usize::from(*keyword)) {
                    row.push(*set);
                }
            }
        }
        let bodies = programs.iter().map(|program| {
            Ok(Body {
                filter: Filter::new(&[program], filter::BODY_STATES),
                program: Cow::Owned(written(program)?),
            })
        });
        Ok(Self {
            bodies: bodies.collect::<Result<_, PatternError>>()?,
            groups,
            keywords: by_number.iter().map(|word| key(word)).collect(),
            anchored: Rows::new(anchored),
            nexts: nexts.in_order().into_iter().copied().collect(),
            sets: Rows::new(in_sets),
            set_count: u16::try_from(sets.len()).unwrap_or(u16::MAX),
        })
    }
}

/// The first need of each expression, as far away as any has it; nothing if one of them has none.
fn any_of(trials: &[TrialRow]) -> Vec<Need> {
    let mut firsts: BTreeMap<u16, u8> = BTreeMap::new();
    for trial in trials {
        let Some(need) = trial.needs.first() else {
            return Vec::new();
        };
        let within = firsts.entry(need.set).or_default();
        *within = need.within.max(*within);
    }
    let need = |(set, within)| Need { set, within };
    firsts.into_iter().map(need).collect()
}
