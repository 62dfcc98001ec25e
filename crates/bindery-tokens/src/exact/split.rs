//! Pre-tokens: the pieces that the published regular expressions cut a text into before any byte
//! pair is merged. Written out as code because the expressions cost more than all the rest: both
//! to compile, at every start, and to run. The tests hold each against its expression.
//!
//! Source of the expressions: `tiktoken_ext/openai_public.py` of `tiktoken` 0.14.

use super::class::{LETTER, LOWER, NEWLINE, NUMBER, SPACE, UPPER};
use super::text::Text;

/// A rule set that cuts a text into pre-tokens.
pub(super) trait Split {
    /// The end of the pre-token that begins at `at`; greater than `at` while text is left.
    fn next(text: Text<'_>, at: usize) -> usize;
}

/// The rules of `cl100k_base`:
///
/// ```text
/// '(?i:[sdmt]|ll|ve|re)
/// [^\r\n\p{L}\p{N}]?+\p{L}++
/// \p{N}{1,3}+
///  ?[^\s\p{L}\p{N}]++[\r\n]*+
/// \s++$
/// \s*[\r\n]
/// \s+(?!\S)
/// \s
/// ```
pub(super) struct Cl100k;

impl Split for Cl100k {
    #[inline]
    fn next(text: Text<'_>, at: usize) -> usize {
        let Some((class, next)) = text.class(at) else {
            return text.len();
        };
        if let Some(end) = text.contraction(at) {
            return end;
        }
        if class & LETTER != 0 {
            return text.run_of(next, LETTER);
        }
        if class & NUMBER != 0 {
            return text.numbers(at);
        }
        if class & NEWLINE == 0 {
            let end = text.run_of(next, LETTER);
            if end > next {
                return end;
            }
        }
        if let Some(end) = symbols(text, at, class, next) {
            return text.run_of(end, NEWLINE);
        }
        let run = text.spaces(at);
        if run.end == text.len() {
            return run.end;
        }
        run.line_end
            .unwrap_or(if run.last > at { run.last } else { run.end })
    }
}

/// The rules of `o200k_base`:
///
/// ```text
/// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
/// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
/// \p{N}{1,3}
///  ?[^\s\p{L}\p{N}]+[\r\n/]*
/// \s*[\r\n]+
/// \s+(?!\S)
/// \s+
/// ```
pub(super) struct O200k;

impl Split for O200k {
    #[inline]
    fn next(text: Text<'_>, at: usize) -> usize {
        let Some((class, next)) = text.class(at) else {
            return text.len();
        };
        if let Some(end) = word(text, at, class, next) {
            return text.contraction(end).unwrap_or(end);
        }
        if class & NUMBER != 0 {
            return text.numbers(at);
        }
        if let Some(mut end) = symbols(text, at, class, next) {
            while let Some(b'\r' | b'\n' | b'/') = text.byte(end) {
                end += 1;
            }
            return end;
        }
        let run = text.spaces(at);
        if let Some(end) = run.line_end {
            return end;
        }
        if run.end == text.len() || run.last == at {
            run.end
        } else {
            run.last
        }
    }
}

/// ` ?[^\s\p{L}\p{N}]+`, for both rule sets.
#[inline]
fn symbols(text: Text<'_>, at: usize, class: u8, next: usize) -> Option<usize> {
    let start = if text.byte(at) == Some(b' ') { next } else { at };
    if start == at && class & (SPACE | LETTER | NUMBER) != 0 {
        return None;
    }
    let end = text.run_without(start, SPACE | LETTER | NUMBER);
    (end > start).then_some(end)
}

/// The first two rules of `o200k_base`, without the contraction. An expression engine tries the
/// first rule with a leading character, then without, before it tries the second either way; a
/// mark may be that leading character or part of the word.
#[inline]
fn word(text: Text<'_>, at: usize, class: u8, next: usize) -> Option<usize> {
    let leads = class & (LETTER | NUMBER | NEWLINE) == 0;
    let within = class & (UPPER | LOWER) != 0;
    match (leads, within) {
        (true, false) => {
            let after = Word::read(text, next);
            after.mixed().or_else(|| after.upper())
        }
        (false, true) => {
            let from = Word::read(text, at);
            from.mixed().or_else(|| from.upper())
        }
        (true, true) => {
            let (after, from) = (Word::read(text, next), Word::read(text, at));
            let mixed = after.mixed().or_else(|| from.mixed());
            mixed.or_else(|| after.upper()).or_else(|| from.upper())
        }
        (false, false) => None,
    }
}

/// What `U*L*` matches from a position, where `U` are the characters of the upper part and `L`
/// those of the lower part; some are in both.
#[derive(Clone, Copy)]
struct Word {
    start: usize,
    upper_end: usize,
    lower_end: usize,
    /// The end of the last character of the upper run that could be in the lower part as well.
    last_both: Option<usize>,
}

impl Word {
    #[inline]
    fn read(text: Text<'_>, start: usize) -> Self {
        let mut word = Self {
            start,
            upper_end: start,
            lower_end: start,
            last_both: None,
        };
        while let Some((class, next)) = text.class(word.upper_end)
            && class & UPPER != 0
        {
            word.upper_end = next;
            if class & LOWER != 0 {
                word.last_both = Some(next);
            }
        }
        word.lower_end = text.run_of(word.upper_end, LOWER);
        word
    }

    /// `U*L+`: greedy, so where no lower character follows, the upper run gives up all after its
    /// last character that is in both.
    #[inline]
    fn mixed(self) -> Option<usize> {
        if self.lower_end > self.upper_end {
            Some(self.lower_end)
        } else {
            self.last_both
        }
    }

    /// `U+L*`.
    #[inline]
    fn upper(self) -> Option<usize> {
        (self.upper_end > self.start).then_some(self.lower_end)
    }
}
