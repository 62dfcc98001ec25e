//! Which parts of a long document fit a question: lexical retrieval (BM25) over its paragraphs.
//!
//! Pure: the same document, question and budget give the same excerpts. Words are compared as they are, in lower
//! case, without stemming and without a language: names, numbers and code are what questions about documents hold.

use std::ops::Range;

use bindery_core::CountTokens;
use bm25::{Embedder, EmbedderBuilder, Scorer, Tokenizer};

use super::Pages;

/// About so many bytes are an excerpt.
const SIZE: usize = 1_200;
/// The most bytes of one that has no place to be divided.
const MOST: usize = 2_400;

/// What of a document is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The excerpts, in the document's order. One, if all of it is shown.
    pub excerpts: Vec<Excerpt>,
    /// How many parts the document has.
    pub parts: usize,
    /// How they were chosen.
    pub chosen: Chosen,
}

/// How excerpts were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// All of it is shown.
    Whole,
    /// They have words of the question.
    ByQuestion,
    /// Nothing has: it is shown from its beginning.
    FromBeginning,
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The bytes of the document's text.
    pub bytes: Range<usize>,
    /// The lines, from 1, both inclusive.
    pub lines: (usize, usize),
    /// The page it begins on, from 1.
    pub page: Option<usize>,
}

/// What of a document is shown for a question, in about `most` tokens: all of it, if that fits.
pub fn select(pages: &Pages, question: &str, most: u64, counter: &dyn CountTokens) -> Selection {
    // A token has at least one byte: what is short enough need not be counted, and what is far too long neither.
    let bytes = pages.text.len() as u64;
    let fits = bytes <= most || bytes < most.saturating_mul(16) && counter.count(&pages.text).value <= most;
    let parts = divide(pages);
    if fits {
        return Selection {
            excerpts: joined(pages, (0..parts.len()).collect(), &parts),
            parts: parts.len(),
            chosen: Chosen::Whole,
        };
    }
    let ranked = rank(pages, &parts, question);
    let (order, chosen) = if ranked.is_empty() {
        ((0..parts.len()).collect(), Chosen::FromBeginning)
    } else {
        (ranked, Chosen::ByQuestion)
    };
    let mut taken = Vec::new();
    let mut room = most;
    for index in order {
        let text = parts.get(index).and_then(|part| pages.text.get(part.clone()));
        let tokens = counter.count(text.unwrap_or_default()).value;
        if tokens > room {
            break;
        }
        room -= tokens;
        taken.push(index);
    }
    taken.sort_unstable();
    Selection {
        excerpts: joined(pages, taken, &parts),
        parts: parts.len(),
        chosen,
    }
}

/// Parts of a text: paragraphs put together up to a size, never across a page, divided only where a line, or in a very
/// long line a word, ends.
fn divide(pages: &Pages) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut open: Option<Range<usize>> = None;
    let mut after_blank = false;
    let mut at = 0;
    for line in pages.text.split_inclusive('\n') {
        let begins = at;
        at += line.len();
        let new_page = pages.begins.binary_search(&begins).is_ok();
        let size = open.as_ref().map_or(0, ExactSizeIterator::len);
        let closes = new_page || size + line.len() > MOST || size >= SIZE || after_blank && size > SIZE / 2;
        if closes {
            parts.extend(open.take());
        }
        after_blank = line.trim().is_empty();
        open = Some(open.map_or(begins, |part| part.start)..at);
        if line.len() > MOST {
            open = None;
            parts.extend(pieces(&pages.text, begins..at));
        }
    }
    parts.extend(open);
    parts.retain(|part| {
        pages
            .text
            .get(part.clone())
            .is_some_and(|text| !text.trim().is_empty())
    });
    parts
}

/// A very long line in pieces.
fn pieces(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = line.start;
    while start < line.end {
        let mut end = text.floor_char_boundary((start + SIZE).min(line.end));
        let piece = text.get(start..end).unwrap_or_default();
        if end < line.end
            && let Some(space) = piece.rfind(char::is_whitespace).filter(|space| *space > SIZE / 2)
        {
            end = text.ceil_char_boundary(start + space + 1);
        }
        // A character is shorter than a piece, so this always goes on.
        let end = end.max(start + 1);
        out.push(start..end);
        start = end;
    }
    out
}

/// The parts that have words of the question, best first.
fn rank(pages: &Pages, parts: &[Range<usize>], question: &str) -> Vec<usize> {
    let texts: Vec<&str> = parts
        .iter()
        .map(|part| pages.text.get(part.clone()).unwrap_or_default())
        .collect();
    let embedder: Embedder<u64, Words> =
        EmbedderBuilder::with_tokenizer_and_fit_to_corpus(Words, &texts).build();
    let mut scorer = Scorer::<usize, u64>::new();
    for (index, text) in texts.iter().enumerate() {
        scorer.upsert(&index, embedder.embed(text));
    }
    let mut found = scorer.matches(&embedder.embed(question));
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    found.into_iter().map(|one| one.id).collect()
}

/// Neighbours become one excerpt, unless a page ends between them.
fn joined(pages: &Pages, taken: Vec<usize>, parts: &[Range<usize>]) -> Vec<Excerpt> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut before: Option<usize> = None;
    for index in taken {
        let Some(part) = parts.get(index) else { continue };
        let follows = before.is_some_and(|before| before + 1 == index);
        let same_page = |one: &Range<usize>| pages.page(one.start) == pages.page(part.start);
        match out.last_mut() {
            Some(last) if follows && same_page(last) => last.end = part.end,
            _ => out.push(part.clone()),
        }
        before = Some(index);
    }
    let mut lines = Lines::default();
    out.into_iter()
        .map(|bytes| {
            let first = lines.at(&pages.text, bytes.start);
            let last = lines.at(&pages.text, bytes.end.saturating_sub(1));
            Excerpt {
                page: pages.page(bytes.start),
                lines: (first, last),
                bytes,
            }
        })
        .collect()
}

/// Counts lines from where it stopped.
#[derive(Default)]
struct Lines {
    byte: usize,
    newlines: usize,
}

impl Lines {
    fn at(&mut self, text: &str, byte: usize) -> usize {
        let between = text.get(self.byte..byte).unwrap_or_default();
        self.newlines += between.matches('\n').count();
        self.byte = byte.max(self.byte);
        self.newlines + 1
    }
}

/// Letters and digits that stand together, in lower case; in scripts that put no space between words, each letter.
struct Words;

impl Tokenizer for Words {
    fn tokenize(&self, text: &str) -> Vec<String> {
        let runs = text.split(|c: char| !c.is_alphanumeric());
        let mut words = Vec::new();
        for run in runs.filter(|run| !run.is_empty()) {
            for word in run.split_inclusive(is_word_by_itself) {
                let mut letters = word.chars();
                let last = letters.next_back().filter(|last| is_word_by_itself(*last));
                let rest = if last.is_some() { letters.as_str() } else { word };
                if !rest.is_empty() {
                    words.push(rest.to_lowercase());
                }
                words.extend(last.map(String::from));
            }
        }
        words
    }
}

/// Han, kana and their like.
fn is_word_by_itself(letter: char) -> bool {
    matches!(letter, '\u{2e80}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
