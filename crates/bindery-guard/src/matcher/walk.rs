//! Trying one expression at one place.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use super::WINDOW;
use super::automaton::Automaton;
use crate::patterns::{SegmentRow, TrialRow};

/// An expression, ready to be tried. Its automata are built when they are first needed: most texts
/// need few of them.
#[derive(Debug)]
pub(super) struct Trial {
    pattern: usize,
    segments: Vec<Step>,
    needs: Vec<u16>,
}

#[derive(Debug)]
struct Step {
    gap: usize,
    program: Cow<'static, [u8]>,
    automaton: OnceLock<Option<Automaton>>,
}

/// Most tries of all segments of one expression at one place.
const MOST_TRIES: usize = 160;

impl Trial {
    pub(super) fn new(row: TrialRow<'static>) -> Self {
        let step = |segment: SegmentRow<'static>| Step {
            gap: usize::from(segment.gap),
            program: segment.program,
            automaton: OnceLock::new(),
        };
        Self {
            pattern: usize::from(row.pattern),
            segments: row.segments.into_iter().map(step).collect(),
            needs: row.needs,
        }
    }

    pub(super) fn pattern(&self) -> usize {
        self.pattern
    }

    /// Keyword sets, one of each must follow the anchor.
    pub(super) fn needs(&self) -> &[u16] {
        &self.needs
    }

    /// The match with its anchor at `at` that begins at the first of `starts` to reach beyond it, if
    /// there is one.
    pub(super) fn run(
        &self,
        text: &[u8],
        at: usize,
        starts: impl Iterator<Item = usize>,
    ) -> Option<Range<usize>> {
        let end = text.len().min(at + WINDOW);
        let (first, rest) = self.segments.split_first()?;
        let automaton = first.automaton()?;
        let (start, reached) = starts.into_iter().find_map(|start| {
            let reached = automaton.end(text, start..end)?;
            (reached > at).then_some((start, reached))
        })?;
        let mut tries = MOST_TRIES;
        let reached = follow(rest, text, reached..end, &mut tries)?;
        Some(start..reached)
    }
}

impl Step {
    fn automaton(&self) -> Option<&Automaton> {
        self.automaton
            .get_or_init(|| Automaton::new(&self.program))
            .as_ref()
    }
}

/// Where the segments end if they follow from the start of `window`, each after at most its gap of words.
fn follow(segments: &[Step], text: &[u8], window: Range<usize>, tries: &mut usize) -> Option<usize> {
    let Some((next, rest)) = segments.split_first() else {
        return Some(window.start);
    };
    let automaton = next.automaton()?;
    let mut place = window.start;
    for _ in 0..=next.gap {
        *tries = tries.checked_sub(1)?;
        if let Some(reached) = automaton.end(text, place..window.end)
            && let Some(end) = follow(rest, text, reached..window.end, tries)
        {
            return Some(end);
        }
        place = skip_word(text.get(..window.end)?, place)?;
    }
    None
}

/// After the word at `at` and what separates it from the next one; nothing at the end of a sentence.
fn skip_word(text: &[u8], at: usize) -> Option<usize> {
    let mut place = at;
    while let Some(byte) = text.get(place) {
        let blank_follows = text
            .get(place + 1)
            .is_none_or(|next| matches!(next, b' ' | b'\n'));
        match byte {
            b' ' | b'\n' | b'/' => break,
            b'.' | b'!' | b'?' if blank_follows => return None,
            _ => place += 1,
        }
    }
    let blanks = text
        .get(place..)?
        .iter()
        .take_while(|byte| is_between(**byte))
        .count();
    (place > at && blanks > 0).then_some(place + blanks)
}

fn is_between(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\n'
            | b'*'
            | b'_'
            | b'`'
            | b'>'
            | b'"'
            | b'\''
            | b'#'
            | b'+'
            | b','
            | b';'
            | b':'
            | b'('
            | b')'
            | b'/'
            | b'-'
    )
}
