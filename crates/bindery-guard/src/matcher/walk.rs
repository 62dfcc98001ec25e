//! Trying one expression at one place.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use super::WINDOW;
use crate::patterns::{Expression, parse};

/// An expression, ready to be tried. Its automata are built when they are first needed: most texts
/// need few of them.
#[derive(Debug)]
pub(super) struct Trial {
    pattern: usize,
    leading: bool,
    segments: Vec<Step>,
    needs: Vec<usize>,
}

#[derive(Debug)]
struct Step {
    gap: usize,
    body: Arc<str>,
    regex: OnceLock<Option<Regex>>,
}

/// Bytes before an anchor where a match may begin.
const LEAD: usize = 64;
/// Most tries of all segments of one expression at one place.
const MOST_TRIES: usize = 160;

impl Trial {
    pub(super) fn new(pattern: usize, expression: &Expression, needs: Vec<usize>) -> Self {
        let step = |segment: &crate::patterns::Segment| Step {
            gap: segment.gap,
            body: segment.body.clone(),
            regex: OnceLock::new(),
        };
        Self {
            pattern,
            leading: expression.leading,
            segments: expression.segments.iter().map(step).collect(),
            needs,
        }
    }

    pub(super) fn pattern(&self) -> usize {
        self.pattern
    }

    /// Keyword sets, one of each must follow the anchor.
    pub(super) fn needs(&self) -> &[usize] {
        &self.needs
    }

    /// The match with its anchor at `at`, if there is one.
    pub(super) fn run(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let end = text.len().min(at + WINDOW);
        let (first, rest) = self.segments.split_first()?;
        let regex = first.regex()?;
        let (start, reached) = if self.leading {
            let found = regex.search_half(&Input::new(text).span(at..end).anchored(Anchored::Yes))?;
            (at, found.offset())
        } else {
            let found = regex.find(Input::new(text).span(at.saturating_sub(LEAD)..end))?;
            (found.start(), found.end())
        };
        let mut tries = MOST_TRIES;
        let reached = follow(rest, text.get(..end)?, text, reached, &mut tries)?;
        Some(start..reached)
    }
}

impl Step {
    fn regex(&self) -> Option<&Regex> {
        let build = || {
            let config = Regex::config().utf8_empty(false);
            Regex::builder()
                .configure(config)
                .build_from_hir(&parse(&self.body).ok()?)
                .ok()
        };
        self.regex.get_or_init(build).as_ref()
    }
}

/// Where the segments end if they follow from `at`, each after at most its gap of words.
fn follow(segments: &[Step], window: &[u8], text: &[u8], at: usize, tries: &mut usize) -> Option<usize> {
    let Some((next, rest)) = segments.split_first() else {
        return Some(at);
    };
    let regex = next.regex()?;
    let mut place = at;
    for _ in 0..=next.gap {
        *tries = tries.checked_sub(1)?;
        let input = Input::new(text).span(place..window.len()).anchored(Anchored::Yes);
        if let Some(found) = regex.search_half(&input)
            && let Some(end) = follow(rest, window, text, found.offset(), tries)
        {
            return Some(end);
        }
        place = skip_word(window, place)?;
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
