//! A client's own content filter, compiled.

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use unicode_normalization::UnicodeNormalization;

use crate::dialect::{Screen, ScreenPattern};

fn texts_of<'p>(patterns: &[&'p ScreenPattern]) -> Vec<&'p str> {
    patterns.iter().map(|pattern| pattern.regex.as_str()).collect()
}

/// The filter, ready to be asked.
#[derive(Debug)]
pub(super) struct Filter {
    first_characters: usize,
    invisible: Vec<char>,
    patterns: Option<Regex>,
    ids: Vec<String>,
    pub(super) bad: Vec<String>,
}

impl Filter {
    /// Compiles a screen. A pattern that is no regular expression is named in `bad` and left out.
    pub(super) fn new(screen: &Screen) -> Self {
        let build = |patterns: &[&str]| {
            Regex::builder()
                .syntax(syntax::Config::new().case_insensitive(true))
                .build_many(patterns)
        };
        let all: Vec<&ScreenPattern> = screen.patterns.iter().collect();
        let whole = build(&texts_of(&all)).ok();
        // Only a set that does not compile is looked through for the patterns that are to blame.
        let is_good = |pattern: &&ScreenPattern| whole.is_some() || build(&[pattern.regex.as_str()]).is_ok();
        let (good, bad): (Vec<_>, Vec<_>) = all.into_iter().partition(is_good);
        let patterns = whole.or_else(|| build(&texts_of(&good)).ok());
        Self {
            first_characters: usize::try_from(screen.first_characters).unwrap_or(usize::MAX),
            invisible: screen
                .invisible
                .iter()
                .filter_map(|code| char::from_u32(u32::from_str_radix(code, 16).ok()?))
                .collect(),
            patterns,
            ids: good.iter().map(|pattern| pattern.id.clone()).collect(),
            bad: bad.iter().map(|pattern| pattern.id.clone()).collect(),
        }
    }

    /// What the filter finds, by the client's names; nothing where the text passes.
    pub(super) fn findings(&self, text: &str) -> Vec<String> {
        let seen: String = text.chars().take(self.first_characters).collect();
        let mut found: Vec<String> = Vec::new();
        for code in &self.invisible {
            if seen.contains(*code) {
                found.push(format!("invisible U+{:04X}", u32::from(*code)));
            }
        }
        let normal: String = seen.nfkc().collect();
        if let Some(patterns) = &self.patterns {
            let mut hits = regex_automata::PatternSet::new(patterns.pattern_len());
            patterns.which_overlapping_matches(&regex_automata::Input::new(&normal), &mut hits);
            found.extend(
                hits.iter()
                    .filter_map(|hit| self.ids.get(hit.as_usize()).cloned()),
            );
        }
        found
    }
}
