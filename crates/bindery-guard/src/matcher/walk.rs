//! Trying one expression at one place.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::WINDOW;
use super::automaton::Automaton;
use crate::patterns::{Body, Filter};

/// What a part of an expression looks for. Its automaton is built when it is first needed: most texts
/// need few of them.
#[derive(Debug)]
pub(super) struct Step {
    filter: Filter<'static>,
    program: Cow<'static, [u8]>,
    automaton: OnceLock<Option<Box<Automaton>>>,
    /// How often the automaton was done without.
    spared: AtomicU32,
}

/// How often an automaton is done without before it is built: from then on it is the quicker way.
const MOST_SPARED: u32 = 8;

/// Most tries of all segments of one expression at one place.
const MOST_TRIES: usize = 160;

/// The match of an expression with its anchor at `at` that begins at the first of `starts` to reach beyond it,
/// if there is one. The expression is its segments, each with the gap before it, and the most blanks in its first
/// one, see [`crate::patterns::TrialRow`].
pub(super) fn try_at(
    text: &[u8],
    at: usize,
    starts: &[usize],
    (segments, blanks, steps): (&[(u8, u16)], u8, &[Step]),
) -> Option<Range<usize>> {
    let end = text.len().min(at + WINDOW);
    let ((_, first), rest) = segments.split_first()?;
    let first = steps.get(usize::from(*first))?;
    if blanks > 0 && !may_come(rest, steps, text.get(at..end)?, blanks) {
        return None;
    }
    if first.is_worth_asking() && !may_follow(rest, steps, text.get(at..end)?) {
        return None;
    }
    let (start, reached) = starts.iter().find_map(|start| {
        let reached = first.end(text, *start..end)?;
        (reached > at).then_some((*start, reached))
    })?;
    let reached = Walk::new(text, end, steps).follow(rest, reached)?;
    Some(start..reached)
}

/// As [`try_at`], with nothing but the automata.
#[cfg(test)]
pub(super) fn try_fully(
    text: &[u8],
    at: usize,
    starts: impl Iterator<Item = usize>,
    (segments, steps): (&[(u8, u16)], &[Step]),
) -> Option<Range<usize>> {
    let end = text.len().min(at + WINDOW);
    let ((_, first), rest) = segments.split_first()?;
    let (start, reached) = starts.into_iter().find_map(|start| {
        let reached = steps[usize::from(*first)].end_fully(text, start..end)?;
        (reached > at).then_some((start, reached))
    })?;
    let reached = Walk::new(text, end, steps).follow(rest, reached)?;
    Some(start..reached)
}

impl Step {
    /// As [`Step::end`], without the filter.
    #[cfg(test)]
    fn end_fully(&self, text: &[u8], window: Range<usize>) -> Option<usize> {
        let automaton = self.automaton.get_or_init(|| Automaton::new(&self.program));
        automaton.as_ref()?.end(text, window)
    }

    pub(super) fn new(body: Body<'static>) -> Self {
        Self {
            filter: body.filter,
            program: body.program,
            automaton: OnceLock::new(),
            spared: AtomicU32::new(0),
        }
    }

    /// Whether looking at the later segments first may spare building the automaton.
    fn is_worth_asking(&self) -> bool {
        self.automaton.get().is_none() && self.spared.fetch_add(1, Ordering::Relaxed) < MOST_SPARED
    }

    /// The end of the match that starts at the start of `window`.
    fn end(&self, text: &[u8], window: Range<usize>) -> Option<usize> {
        if !self.filter.may_match(text.get(window.clone())?) {
            return None;
        }
        let automaton = self.automaton.get_or_init(|| Automaton::new(&self.program));
        automaton.as_ref()?.end(text, window)
    }
}

/// Whether the next segment may stand behind an anchor, with at most `blanks` blanks in and after it, and
/// its gap. What stands between words is read more generously here than by [`Walk`], so that nothing is
/// passed over.
fn may_come(segments: &[(u8, u16)], steps: &[Step], window: &[u8], blanks: u8) -> bool {
    let Some((gap, step)) = segments.first() else {
        return true;
    };
    let Some(step) = steps.get(usize::from(*step)) else {
        return false;
    };
    let most = u32::from(*gap) + u32::from(blanks);
    let (mut seen, mut was_between, mut after_blank) = (0, false, false);
    for (place, byte) in window.iter().enumerate() {
        let class = GAPS.get(usize::from(*byte)).copied().unwrap_or(0);
        let between = class != 0;
        if (was_between || between) && step.filter.may_match(window.get(place..).unwrap_or_default()) {
            return true;
        }
        if class & BLANK != 0 && !after_blank {
            after_blank = true;
            seen += 1;
        }
        if !between && after_blank {
            after_blank = false;
            if seen >= most {
                return false;
            }
        }
        was_between = between;
    }
    false
}

/// Whether all segments may stand in the window, one after the other. Asked before an automaton is built,
/// which takes as long as some dozens of tries.
fn may_follow(segments: &[(u8, u16)], steps: &[Step], window: &[u8]) -> bool {
    let mut from = 0;
    segments.iter().all(|(_, step)| {
        let Some(step) = steps.get(usize::from(*step)) else {
            return false;
        };
        let fits = |place: &usize| step.filter.may_match(window.get(*place..).unwrap_or_default());
        let found = (from..window.len()).find(fits);
        from = found.unwrap_or(from);
        found.is_some()
    })
}

/// The way through the segments after the first.
struct Walk<'a> {
    text: &'a [u8],
    end: usize,
    steps: &'a [Step],
    tries: usize,
}

impl<'a> Walk<'a> {
    fn new(text: &'a [u8], end: usize, steps: &'a [Step]) -> Self {
        Self {
            text,
            end,
            steps,
            tries: MOST_TRIES,
        }
    }

    /// Where the segments end if they follow from `place` on, each after at most its gap of words.
    fn follow(&mut self, segments: &[(u8, u16)], mut place: usize) -> Option<usize> {
        let Some(((gap, step), rest)) = segments.split_first() else {
            return Some(place);
        };
        let step = self.steps.get(usize::from(*step))?;
        for _ in 0..=*gap {
            self.tries = self.tries.checked_sub(1)?;
            if let Some(reached) = step.end(self.text, place..self.end)
                && let Some(end) = self.follow(rest, reached)
            {
                return Some(end);
            }
            place = skip_word(self.text.get(..self.end)?, place)?;
        }
        None
    }
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
    GAPS.get(usize::from(byte)).is_some_and(|gap| gap & BETWEEN != 0)
}

/// Stands between words.
const BETWEEN: u8 = 1;
/// May stand between words where [`may_come`] looks.
const MARK: u8 = 2;
/// Ends a word.
const BLANK: u8 = 4;

const GAPS: [u8; 256] = {
    let mut gaps = [0; 256];
    let mut byte = 0_u8;
    loop {
        gaps[byte as usize] = match byte {
            b' ' | b'\n' => BETWEEN | MARK | BLANK,
            b'*' | b'_' | b'`' | b'>' | b'"' | b'\'' | b'#' | b'+' | b',' | b';' | b':' | b'(' | b')'
            | b'/' | b'-' => BETWEEN | MARK,
            b'=' | b'\\' | b'|' => MARK,
            _ => 0,
        };
        if byte == u8::MAX {
            break gaps;
        }
        byte += 1;
    }
};
