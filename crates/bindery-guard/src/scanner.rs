//! A scanner: patterns compiled once, used for any number of texts.

use aho_corasick::AhoCorasick;

use crate::broken::Stems;
use crate::decode::mirror;
use crate::finding::{Kind, Reading, Severity};
use crate::judge;
use crate::matcher::{Anchoring, Matcher};
use crate::patterns::{self, BUILTIN, Form, PatternError, PatternSet};

/// Compiled patterns. Building takes some milliseconds; a scan with it shares nothing and may run on
/// any thread.
#[derive(Debug)]
pub struct Scanner {
    set: PatternSet,
    plain: Matcher,
    joined: Matcher,
    stems: Stems,
    topics: AhoCorasick,
    mirrored: AhoCorasick,
}

/// One rule, for lists and SARIF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Stable name.
    pub id: String,
    /// What it is about.
    pub kind: Kind,
    /// Severity before the place of a match is judged.
    pub severity: Severity,
    /// Completes "This text …".
    pub says: String,
}

impl Scanner {
    /// The patterns that ship with the product.
    ///
    /// # Errors
    /// None with the shipped files, which a test compiles.
    pub fn builtin() -> Result<Self, PatternError> {
        Self::new(&[])
    }

    /// The shipped patterns and `more` files, each a name for messages and a text.
    ///
    /// # Errors
    /// A file that is no pattern file, or an expression that cannot be searched in linear time.
    pub fn new(more: &[(&str, &str)]) -> Result<Self, PatternError> {
        let files: Vec<(&str, &str)> = BUILTIN.iter().chain(more).copied().collect();
        Self::from_files(&files)
    }

    /// Only the patterns of `files`. Word groups of a file named `common.toml` are visible in all.
    ///
    /// # Errors
    /// As [`Scanner::new`].
    pub fn from_files(files: &[(&str, &str)]) -> Result<Self, PatternError> {
        let set = patterns::load(files)?;
        let of_form = |joined: bool| -> Vec<_> {
            let chosen = set
                .expressions
                .iter()
                .filter(|(_, form, _)| (*form == Form::Joined) == joined);
            chosen
                .map(|(pattern, _, expression)| (*pattern, expression.clone()))
                .collect()
        };
        let plain = Matcher::new(&of_form(false), Anchoring::AtWords)?;
        let joined = Matcher::new(&of_form(true), Anchoring::Anywhere)?;
        let stems = Stems::new(set.stems.iter().map(String::as_str));
        let literal = |words: Vec<String>| {
            AhoCorasick::new(words).map_err(|error| PatternError::Engine(error.to_string()))
        };
        let topics = literal(set.topics.clone())?;
        let backwards = set.probes.iter().map(|word| mirror::reverse(word));
        let rotated = set.probes.iter().map(|word| mirror::rot13(word));
        let mirrored = literal(backwards.chain(rotated).collect())?;
        Ok(Self {
            set,
            plain,
            joined,
            stems,
            topics,
            mirrored,
        })
    }

    /// All rules, in the order of the pattern files.
    pub fn rules(&self) -> Vec<Rule> {
        let rule = |pattern: &patterns::Pattern| Rule {
            id: pattern.id.to_string(),
            kind: pattern.kind,
            severity: pattern.severity,
            says: pattern.says.to_string(),
        };
        self.set.patterns.iter().map(rule).collect()
    }

    pub(crate) fn set(&self) -> &PatternSet {
        &self.set
    }

    pub(crate) fn plain(&self) -> &Matcher {
        &self.plain
    }

    pub(crate) fn joined(&self) -> &Matcher {
        &self.joined
    }

    pub(crate) fn stems(&self) -> &Stems {
        &self.stems
    }

    pub(crate) fn is_on_topic(&self, text: &[u8]) -> bool {
        judge::is_on_topic(text, &self.topics)
    }

    /// Where words stand that make sense backwards or rotated, in order.
    pub(crate) fn mirrored<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = (usize, Reading)> + 'a {
        let words = self.set.probes.len();
        self.mirrored.find_iter(text).map(move |found| {
            let backwards = found.pattern().as_usize() < words;
            (
                found.start(),
                if backwards {
                    Reading::Reversed
                } else {
                    Reading::Rot13
                },
            )
        })
    }
}
