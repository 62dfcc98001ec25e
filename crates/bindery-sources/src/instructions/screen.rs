//! A client's own content filter, compiled.

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use unicode_normalization::UnicodeNormalization;

use crate::dialect::Screen;

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
        let (good, bad): (Vec<_>, Vec<_>) = screen
            .patterns
            .iter()
            .partition(|pattern| build(&[pattern.regex.as_str()]).is_ok());
        let texts: Vec<&str> = good.iter().map(|pattern| pattern.regex.as_str()).collect();
        Self {
            first_characters: usize::try_from(screen.first_characters).unwrap_or(usize::MAX),
            invisible: screen
                .invisible
                .iter()
                .filter_map(|code| char::from_u32(u32::from_str_radix(code, 16).ok()?))
                .collect(),
            patterns: build(&texts).ok(),
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
