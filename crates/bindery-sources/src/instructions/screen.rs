//! A client's own content filter, compiled when the first text asks for it.
//!
//! Unicode's word characters, repeated and nested as clients do it, make automata of many megabytes. A pattern
//! that names ASCII alone cannot tell one word character outside of ASCII from another, so it is matched on a
//! projection of the text: each such character as `_`, each such white space as a vertical tab, everything
//! else outside of ASCII as a control character.

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_automata::{Input, PatternSet};
use unicode_normalization::UnicodeNormalization;

use crate::dialect::{Screen, ScreenPattern};

/// The filter, ready to be asked.
#[derive(Debug)]
pub(super) struct Filter {
    first_characters: usize,
    invisible: Vec<char>,
    projected: Group,
    whole: Group,
    /// Patterns that are no regular expressions.
    pub(super) bad: Vec<String>,
}

/// Patterns that are matched together.
#[derive(Debug, Default)]
struct Group {
    regex: Option<Regex>,
    ids: Vec<String>,
}

impl Filter {
    /// Compiles a screen. A pattern that is no regular expression is named in `bad` and left out.
    pub(super) fn new(screen: &Screen) -> Self {
        let (ascii, other): (Vec<_>, Vec<_>) = screen
            .patterns
            .iter()
            .partition(|pattern| names_ascii_alone(&pattern.regex));
        let mut bad = Vec::new();
        let folded = syntax::Config::new().case_insensitive(true);
        Self {
            first_characters: usize::try_from(screen.first_characters).unwrap_or(usize::MAX),
            invisible: screen
                .invisible
                .iter()
                .filter_map(|code| char::from_u32(u32::from_str_radix(code, 16).ok()?))
                .collect(),
            projected: Group::new(&ascii, folded.unicode(false).utf8(false), &mut bad),
            whole: Group::new(&other, folded, &mut bad),
            bad,
        }
    }

    /// What the filter finds, by the client's names; nothing where the text passes.
    pub(super) fn findings(&self, text: &str) -> Vec<String> {
        let seen: String = text.chars().take(self.first_characters).collect();
        let mut found: Vec<String> = self
            .invisible
            .iter()
            .filter(|code| seen.contains(**code))
            .map(|code| format!("invisible U+{:04X}", u32::from(*code)))
            .collect();
        let normal: String = seen.nfkc().collect();
        self.projected.find(&project(&normal), &mut found);
        self.whole.find(&normal, &mut found);
        found
    }
}

impl Group {
    fn new(patterns: &[&ScreenPattern], config: syntax::Config, bad: &mut Vec<String>) -> Self {
        let build = |patterns: &[&ScreenPattern]| {
            let texts: Vec<&str> = patterns.iter().map(|pattern| pattern.regex.as_str()).collect();
            Regex::builder().syntax(config).build_many(&texts).ok()
        };
        if patterns.is_empty() {
            return Self::default();
        }
        let ids = |patterns: &[&ScreenPattern]| patterns.iter().map(|pattern| pattern.id.clone()).collect();
        if let Some(regex) = build(patterns) {
            return Self {
                regex: Some(regex),
                ids: ids(patterns),
            };
        }
        // Only a set that does not compile is looked through for the patterns that are to blame.
        let (good, wrong): (Vec<_>, Vec<_>) =
            patterns.iter().partition(|pattern| build(&[**pattern]).is_some());
        bad.extend(ids(&wrong) as Vec<String>);
        Self {
            regex: build(&good),
            ids: ids(&good),
        }
    }

    fn find(&self, text: &str, found: &mut Vec<String>) {
        let Some(regex) = &self.regex else { return };
        let mut hits = PatternSet::new(regex.pattern_len());
        regex.which_overlapping_matches(&Input::new(text), &mut hits);
        found.extend(
            hits.iter()
                .filter_map(|hit| self.ids.get(hit.as_usize()).cloned()),
        );
    }
}

/// Whether a pattern can tell characters outside of ASCII apart only as words and as white space, and none
/// of them from what stands for it in a projection.
fn names_ascii_alone(regex: &str) -> bool {
    let mut letters = regex.chars().peekable();
    let mut before = '\0';
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or_default();
        let is_told = match letter {
            '\\' => {
                letters.next();
                let is_low = letters.peek().is_some_and(|digit| matches!(digit, '2' | '3'));
                matches!(next, 's' | 'S' | 'w' | 'W' | 'b' | 'B' | 'n' | 'r' | 't')
                    || next.is_ascii_punctuation() && next != '_'
                    || next == 'x' && is_low
            }
            // Flags may change what the rest means, and named classes have the stand-ins in them.
            '(' if next == '?' => regex_is_group(&mut letters),
            '[' => next != ':',
            '-' => !(before <= '_' && '_' <= next) || before == '\0' || next == '\0',
            letter => letter.is_ascii() && !letter.is_control() && letter != '_',
        };
        if !is_told {
            return false;
        }
        before = letter;
    }
    true
}

/// Whether `(?` opens a group that captures nothing, the one form that changes nothing.
fn regex_is_group(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    letters.next();
    letters.peek() == Some(&':')
}

fn project(text: &str) -> String {
    let stand_in = |letter: char| match letter {
        letter if letter.is_ascii() => letter,
        letter if letter.is_whitespace() => '\u{b}',
        letter if letter.is_alphanumeric() => '_',
        _ => '\u{1}',
    };
    text.chars().map(stand_in).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(patterns: &[&str]) -> Filter {
        let patterns = patterns.iter().enumerate().map(|(number, regex)| ScreenPattern {
            id: number.to_string(),
            regex: (*regex).to_owned(),
        });
        Filter::new(&Screen {
            first_characters: 100,
            invisible: vec!["200B".to_owned()],
            patterns: patterns.collect(),
        })
    }

    #[test]
    fn patterns_of_ascii_see_words_and_white_space_outside_of_it() {
        let all = filter(&[
            r"\bignore\s+(?:\w+\s+){0,2}rules",
            r"caf\u{e9}",
            "(",
            r"\bnode\b",
            "a_b",
        ]);
        assert_eq!(all.bad, ["2"]);
        assert_eq!((all.projected.ids.len(), all.whole.ids.len()), (2, 2));
        assert_eq!(all.findings("Ignore die \u{fc}blichen\u{2028}RULES"), ["0"]);
        assert_eq!(all.findings("CAF\u{c9}"), ["1"]);
        assert_eq!(
            all.findings("\u{e9}node node\u{e9} no\u{200b}de"),
            ["invisible U+200B"]
        );
        assert_eq!(all.findings("\u{2014}node\u{2014}"), ["3"]);
        // What stands for a letter is no letter that a pattern could name.
        assert!(all.findings("a\u{e9}b").is_empty());
        assert_eq!(all.findings("a_b"), ["4"]);
    }

    #[test]
    fn what_could_tell_stand_ins_is_matched_on_the_text_itself() {
        for regex in [
            r"\d",
            r"\p{L}",
            "[A-z]",
            "[[:punct:]]",
            "(?u)a",
            r"\x5f",
            r"\xe9",
            "\u{e9}",
            r"\_",
            r"\x{e9}",
        ] {
            let told = names_ascii_alone(regex);
            assert!(!told, "{regex}");
        }
        for regex in [
            r"[\s-]?",
            "[^>]*",
            r"\$\{?\w*",
            r"[\x22\x27][\s\S]*?",
            "a-z",
            "[^\\n]",
        ] {
            assert!(names_ascii_alone(regex), "{regex}");
        }
    }
}
