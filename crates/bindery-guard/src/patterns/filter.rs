//! A quick look at a place where an anchor stands: most such places fit no expression, and a few bytes
//! show it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::program::{Instruction, Program};

/// A small automaton that never says no where one of its programs would match, and says no to nearly
/// everything else: what it was not worth a state for counts as a yes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Filter<'a> {
    start: u8,
    /// The bytes with which a match may start.
    first: Bytes,
    width: u8,
    /// The column of each byte.
    #[serde(borrow)]
    columns: Cow<'a, [u8]>,
    /// The next state by state and column.
    #[serde(borrow)]
    next: Cow<'a, [u8]>,
}

/// Nothing can match any more.
const NO: u8 = 0;
/// A match is possible.
const YES: u8 = 1;
/// The first state that is neither.
const FIRST: u8 = 2;
/// Most states of a filter for a group of expressions; enough to tell the first words after an anchor.
pub(super) const GROUP_STATES: usize = 250;
/// Most states of a filter for one part of an expression.
pub(super) const BODY_STATES: usize = 64;

type States = BTreeSet<(usize, u32)>;

impl Filter<'static> {
    /// A filter for the places where any of `programs` matches, with `most` states (at most 250).
    pub(crate) fn new(programs: &[&Program], most: usize) -> Self {
        let starts = programs
            .iter()
            .enumerate()
            .map(|(at, program)| (at, program.start))
            .collect();
        let mut known = Known {
            most,
            ..Known::default()
        };
        let mut rows: Vec<[u8; 256]> = Vec::new();
        let start = known.number(closure(programs, starts));
        let mut at = 0;
        while let Some(states) = known.open.get(at).cloned() {
            at += 1;
            let mut row = [NO; 256];
            let mut targets = BTreeMap::new();
            for (from, to) in stretches(programs, &states) {
                let reached = step(programs, &states, from);
                if reached.is_empty() {
                    continue;
                }
                let next = *targets
                    .entry(reached)
                    .or_insert_with_key(|reached| known.number(closure(programs, reached.clone())));
                if let Some(part) = row.get_mut(usize::from(from)..=usize::from(to)) {
                    part.fill(next);
                }
            }
            rows.push(row);
        }
        Self::from_rows(start, &rows)
    }

    /// Folds bytes that no state tells apart into one column.
    fn from_rows(start: u8, rows: &[[u8; 256]]) -> Self {
        let mut distinct: BTreeMap<Vec<u8>, u8> = BTreeMap::new();
        let mut shown: Vec<Vec<u8>> = Vec::new();
        let mut columns = Vec::with_capacity(256);
        for byte in 0..256 {
            let column: Vec<u8> = rows.iter().filter_map(|row| row.get(byte).copied()).collect();
            let next = u8::try_from(shown.len()).unwrap_or(u8::MAX);
            columns.push(*distinct.entry(column.clone()).or_insert_with(|| {
                shown.push(column);
                next
            }));
        }
        let next = (0..rows.len())
            .flat_map(|row| shown.iter().filter_map(move |column| column.get(row).copied()))
            .collect();
        let mut filter = Self {
            start,
            first: Bytes::ALL,
            width: u8::try_from(shown.len()).unwrap_or(u8::MAX),
            columns: columns.into(),
            next: Cow::Owned(next),
        };
        filter.first = filter.next(start);
        filter
    }
}

impl Filter<'_> {
    /// The same without borrowed bytes.
    pub(crate) fn into_owned(self) -> Filter<'static> {
        Filter {
            start: self.start,
            first: self.first,
            width: self.width,
            columns: Cow::Owned(self.columns.into_owned()),
            next: Cow::Owned(self.next.into_owned()),
        }
    }

    /// Whether a match may start at the start of `text`.
    #[inline]
    pub(crate) fn may_match(&self, text: &[u8]) -> bool {
        // For most places one byte is enough.
        text.first().is_none_or(|first| self.first.has(*first)) && self.may_go_on(self.start, text)
    }

    /// Whether a match may go on with `text` in a state that [`Filter::after`] told.
    #[inline]
    pub(crate) fn may_go_on(&self, state: u8, text: &[u8]) -> bool {
        self.run(state, text) == YES
    }

    /// The state after a match began with `text`.
    pub(crate) fn after(&self, text: &[u8]) -> u8 {
        self.run(self.start, text)
    }

    /// The bytes with which a match may go on in a state.
    pub(crate) fn next(&self, state: u8) -> Bytes {
        (0..=u8::MAX)
            .filter(|byte| self.step(state, *byte) != NO)
            .fold(Bytes(0), Bytes::with)
    }

    /// The state after one byte.
    #[inline]
    pub(crate) fn step(&self, state: u8, byte: u8) -> u8 {
        if state <= YES {
            return state;
        }
        let column = self.columns.get(usize::from(byte)).copied().unwrap_or(0);
        let row = usize::from(state - FIRST) * usize::from(self.width);
        self.next.get(row + usize::from(column)).copied().unwrap_or(YES)
    }

    fn run(&self, mut state: u8, text: &[u8]) -> u8 {
        for byte in text {
            if state <= YES {
                break;
            }
            state = self.step(state, *byte);
        }
        state
    }
}

/// A set of bytes; some that share their last six bits with one of them belong to it, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Bytes(u64);

impl Bytes {
    pub(crate) const ALL: Self = Self(u64::MAX);

    fn with(self, byte: u8) -> Self {
        Self(self.0 | 1 << (byte & 63))
    }

    /// Whether the byte may belong to the set.
    #[inline]
    pub(crate) fn has(self, byte: u8) -> bool {
        self.0 >> (byte & 63) & 1 == 1
    }
}

/// Sets of states by number.
#[derive(Default)]
struct Known {
    numbers: BTreeMap<States, u8>,
    open: Vec<States>,
    most: usize,
}

impl Known {
    /// The number of a set of states: yes if it matches or there is no room for it.
    fn number(&mut self, states: Option<States>) -> u8 {
        let Some(states) = states else {
            return YES;
        };
        if let Some(number) = self.numbers.get(&states) {
            return *number;
        }
        let next = u8::try_from(self.open.len() + usize::from(FIRST));
        let Some(next) = next.ok().filter(|_| self.open.len() < self.most) else {
            return YES;
        };
        self.numbers.insert(states.clone(), next);
        self.open.push(states);
        next
    }
}

/// All states reached without a byte, wherever the place is; nothing if one of them matches.
fn closure(programs: &[&Program], from: States) -> Option<States> {
    let mut seen = from.clone();
    let mut open: Vec<(usize, u32)> = from.into_iter().collect();
    let mut kept = States::new();
    while let Some((program, state)) = open.pop() {
        let next = match instruction(programs, program, state)? {
            Instruction::Match => return None,
            Instruction::Fail => continue,
            Instruction::Look(_, next) => std::slice::from_ref(next),
            Instruction::Either(ways) => ways.as_slice(),
            Instruction::Byte(..) | Instruction::Bytes(_) => {
                kept.insert((program, state));
                continue;
            }
        };
        for next in next {
            if seen.insert((program, *next)) {
                open.push((program, *next));
            }
        }
    }
    Some(kept)
}

/// Bytes that the states do not tell apart, from first to last, in order.
fn stretches(programs: &[&Program], states: &States) -> Vec<(u8, u8)> {
    let mut starts = BTreeSet::from([0_u8]);
    let mut note = |from: u8, to: u8| {
        starts.insert(from);
        starts.extend(to.checked_add(1));
    };
    for (program, state) in states {
        match instruction(programs, *program, *state) {
            Some(Instruction::Byte(from, to, _)) => note(*from, *to),
            Some(Instruction::Bytes(rows)) => rows.iter().for_each(|(from, to, _)| note(*from, *to)),
            _ => {}
        }
    }
    let ends = starts.iter().skip(1).map(|next| next - 1).chain([u8::MAX]);
    starts.iter().copied().zip(ends).collect()
}

fn step(programs: &[&Program], states: &States, byte: u8) -> States {
    let mut reached = States::new();
    for (program, state) in states {
        let fits = |row: &&(u8, u8, u32)| row.0 <= byte && byte <= row.1;
        match instruction(programs, *program, *state) {
            Some(Instruction::Byte(from, to, next)) if (*from..=*to).contains(&byte) => {
                reached.insert((*program, *next));
            }
            Some(Instruction::Bytes(rows)) => {
                reached.extend(rows.iter().find(fits).map(|row| (*program, row.2)));
            }
            _ => {}
        }
    }
    reached
}

fn instruction<'p>(programs: &[&'p Program], program: usize, state: u32) -> Option<&'p Instruction> {
    programs
        .get(program)?
        .instructions
        .get(usize::try_from(state).ok()?)
}
