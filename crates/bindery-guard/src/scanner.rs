//! A scanner: patterns compiled once, used for any number of texts.

use std::borrow::Cow;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

use crate::broken::Stems;
use crate::decode::mirror;
use crate::finding::{Kind, Reading, Severity};
use crate::heads::{HEADS, Heads, key};
use crate::judge;
use crate::matcher::{Anchoring, Hit, Matcher, Sighting, Work};
use crate::patterns::{self, BUILTIN, Grid, Lists, Pattern, PatternError, Tables};
use crate::starts;
use crate::survey::{Survey, Word};

/// What the build script made of the shipped files.
pub(crate) static SHIPPED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/patterns.bin"));

/// Compiled patterns. A scan with them shares nothing and may run on any thread.
#[derive(Debug)]
pub struct Scanner {
    patterns: Vec<Pattern>,
    words: Lists,
    parts: Vec<Part>,
    stems: Stems,
    topics: OnceLock<Option<AhoCorasick>>,
    /// The keywords of the first part and the mirrored words.
    dictionary: Heads<Word, 3>,
}

/// The expressions of some files.
#[derive(Debug)]
struct Part {
    /// Number of their first pattern.
    first: usize,
    plain: Matcher,
    /// A [`Grid`], written out: most texts have no broken words.
    joined_grid: Cow<'static, [u8]>,
    joined: OnceLock<Matcher>,
}

impl Part {
    fn joined(&self) -> &Matcher {
        self.joined.get_or_init(|| {
            // Bytes that cannot be read back are no grid; a test of the shipped patterns would show it.
            let grid = match &self.joined_grid {
                Cow::Borrowed(bytes) => postcard::from_bytes::<Grid<'static>>(bytes).ok(),
                Cow::Owned(bytes) => postcard::from_bytes::<Grid>(bytes).ok().map(Grid::into_owned),
            };
            Matcher::new(grid.unwrap_or_default(), Anchoring::Anywhere)
        })
    }
}

impl Scanner {
    /// The patterns that ship with the product.
    ///
    /// # Errors
    /// None with the shipped files, which the build compiles.
    pub fn builtin() -> Result<Self, PatternError> {
        Ok(Self::of(vec![shipped()?]))
    }

    /// The shipped patterns and `more` files, each a name for messages and a text.
    ///
    /// # Errors
    /// A file that is no pattern file, or an expression that cannot be searched in linear time.
    pub fn new(more: &[(&str, &str)]) -> Result<Self, PatternError> {
        let shipped = shipped()?;
        if more.is_empty() {
            return Ok(Self::of(vec![shipped]));
        }
        let known = shipped.patterns.iter().map(|pattern| &*pattern.id);
        let more = patterns::load_more(BUILTIN, more, known)?;
        Ok(Self::of(vec![shipped, Tables::compile(more)?]))
    }

    /// Only the patterns of `files`. Word groups of a file named `common.toml` are visible in all.
    ///
    /// # Errors
    /// As [`Scanner::new`].
    pub fn from_files(files: &[(&str, &str)]) -> Result<Self, PatternError> {
        Ok(Self::of(vec![Tables::compile(patterns::load(files)?)?]))
    }

    fn of(all: Vec<Tables<'static>>) -> Self {
        let mut patterns = Vec::new();
        let mut words = Lists::default();
        let mut parts = Vec::with_capacity(all.len());
        for tables in all {
            parts.push(Part {
                first: patterns.len(),
                plain: Matcher::new(tables.plain, Anchoring::AtWords),
                joined_grid: tables.joined,
                joined: OnceLock::new(),
            });
            patterns.extend(tables.patterns);
            words.extend(tables.words);
        }
        let stems = Stems::new(words.stems.iter().map(String::as_str));
        let keywords = parts
            .first()
            .into_iter()
            .flat_map(|part| part.plain.at_words().entries())
            .map(|entry| (entry.key(), Word::Keyword(entry.value)));
        let dictionary = Heads::new(HEADS, keywords.chain(mirrored(&words.probes)));
        Self {
            dictionary,
            stems,
            topics: OnceLock::new(),
            patterns,
            words,
            parts,
        }
    }

    /// All rules, in the order of the pattern files.
    pub fn rules(&self) -> Vec<Rule> {
        let rule = |pattern: &Pattern| Rule {
            id: pattern.id.to_string(),
            kind: pattern.kind,
            severity: pattern.severity,
            says: pattern.says.to_string(),
        };
        self.patterns.iter().map(rule).collect()
    }

    pub(crate) fn words(&self) -> &Lists {
        &self.words
    }

    pub(crate) fn pattern(&self, number: usize) -> Option<&Pattern> {
        self.patterns.get(number)
    }

    /// All hits in a folded text.
    pub(crate) fn plain_hits(&self, text: &[u8], work: &mut Work) -> Vec<Hit> {
        self.hits(|part| part.plain.hits(text, work))
    }

    /// As [`Scanner::plain_hits`], without short cuts.
    #[cfg(test)]
    pub(crate) fn plain_hits_fully(&self, text: &[u8]) -> Vec<Hit> {
        self.hits(|part| part.plain.hits_fully(text))
    }

    /// All hits in a text without anything but letters and digits.
    pub(crate) fn joined_hits(&self, text: &[u8], work: &mut Work) -> Vec<Hit> {
        self.hits(|part| part.joined().hits(text, work))
    }

    fn hits(&self, mut of: impl FnMut(&Part) -> Vec<Hit>) -> Vec<Hit> {
        let numbered = |part| {
            let hits: Vec<Hit> = of(part);
            hits.into_iter().map(|hit| Hit {
                pattern: part.first + hit.pattern,
                ..hit
            })
        };
        self.parts.iter().flat_map(numbered).collect()
    }

    pub(crate) fn stems(&self) -> &Stems {
        &self.stems
    }

    /// Whether a folded document discusses attacks.
    pub(crate) fn is_on_topic(&self, text: &[u8]) -> bool {
        let topics = self
            .topics
            .get_or_init(|| AhoCorasick::new(&self.words.topics).ok());
        topics
            .as_ref()
            .is_some_and(|topics| judge::is_on_topic(text, topics))
    }

    /// Looks at all words of a folded text.
    pub(crate) fn survey(&self, text: &[u8]) -> Survey {
        let mut found = Survey::default();
        let Some(part) = self.parts.first() else {
            return found;
        };
        starts::each(text, |start| {
            if start.is_wide() {
                part.plain.note_wide(start, &mut found.sightings);
                return;
            }
            self.dictionary.each_start(start.bytes, |word, len| match word {
                Word::Keyword(keyword) => found.sightings.push(Sighting::new(start, keyword, len)),
                Word::Mirrored(reading) => found.mirrored.push((start.at, reading)),
            });
            if start.len > 0 {
                found.suspects.look(text, start, &self.stems);
            }
        });
        found
    }

    /// All hits in a folded text that was surveyed.
    pub(crate) fn surveyed_hits(&self, text: &[u8], survey: &Survey, work: &mut Work) -> Vec<Hit> {
        self.hits(|part| {
            if part.first == 0 {
                part.plain.hits_at(text, &survey.sightings, work)
            } else {
                part.plain.hits(text, work)
            }
        })
    }
}

/// Words that show a text that is written backwards or rotated.
fn mirrored(probes: &[String]) -> impl Iterator<Item = ((u64, u8), Word)> {
    let backwards = probes
        .iter()
        .map(|word| (mirror::reverse(word), Reading::Reversed));
    let rotated = probes.iter().map(|word| (mirror::rot13(word), Reading::Rot13));
    backwards
        .chain(rotated)
        .filter(|(word, _)| word.is_ascii())
        .map(|(word, reading)| (key(word.as_bytes()), Word::Mirrored(reading)))
}

fn shipped() -> Result<Tables<'static>, PatternError> {
    postcard::from_bytes(SHIPPED).map_err(|error| PatternError::Engine(error.to_string()))
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
