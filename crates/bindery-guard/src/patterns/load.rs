//! Reading of pattern files.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use thiserror::Error;

use super::expression::{Words, compile, parse};
use super::literals::Literals;
use super::tables::Lists;
use super::{Expression, Form, InCode, OnTopic, Pattern};
use crate::finding::{Confidence, Kind, Severity};

/// Why a pattern file was refused.
#[derive(Debug, Error)]
pub enum PatternError {
    /// Not TOML of the expected shape.
    #[error("{file}: {error}")]
    Shape {
        /// The file as named by the caller.
        file: String,
        /// What the reader said, with line and column.
        error: toml::de::Error,
    },
    /// An expression cannot be used.
    #[error("{file}: pattern `{id}`: `{expression}`: {problem}")]
    Expression {
        /// The file as named by the caller.
        file: String,
        /// The pattern.
        id: String,
        /// The expression as written.
        expression: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Two patterns share a name.
    #[error("{file}: pattern `{id}` exists already")]
    Twice {
        /// The file as named by the caller.
        file: String,
        /// The pattern.
        id: String,
    },
    /// The search automaton could not be built.
    #[error("patterns cannot be compiled: {0}")]
    Engine(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    words: Words,
    /// Words before a match that turn it into its opposite.
    #[serde(default)]
    negations: Vec<String>,
    /// Words around a match that make it a mention.
    #[serde(default)]
    mentions: Vec<String>,
    /// Words directly before a match that make it a description.
    #[serde(default)]
    described: Vec<String>,
    /// Words of documents that discuss attacks.
    #[serde(default)]
    topics: Vec<String>,
    /// Words to look for backwards and rotated.
    #[serde(default)]
    probes: Vec<String>,
    #[serde(default)]
    pattern: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    kind: Kind,
    severity: Severity,
    #[serde(default = "medium")]
    confidence: Confidence,
    languages: Vec<String>,
    says: String,
    any: Vec<String>,
    /// Also looked for in words that were spelled or broken.
    #[serde(default)]
    joined: bool,
    #[serde(default)]
    code: InCode,
    #[serde(default)]
    topic: OnTopic,
    /// Examples that must match, for the tests.
    #[serde(rename = "match")]
    matches: Vec<String>,
    /// Examples that must not match, for the tests.
    #[serde(default)]
    pass: Vec<String>,
}

fn medium() -> Confidence {
    Confidence::Medium
}

/// Everything the files say, compiled.
#[derive(Debug, Default)]
pub(crate) struct PatternSet {
    pub(crate) patterns: Vec<Pattern>,
    /// Each expression with the index of its pattern.
    pub(crate) expressions: Vec<(usize, Form, Expression)>,
    /// Without the stems.
    pub(crate) words: Lists,
    /// Words of the patterns that are also looked for in broken words.
    pub(crate) stems: BTreeSet<String>,
    /// Pattern index and examples (must match, must pass), for the tests.
    pub(crate) examples: Vec<(usize, Vec<String>, Vec<String>)>,
}

/// Reads `files` (name and text). Word groups of `common.toml` are visible in all of them.
pub(crate) fn load(files: &[(&str, &str)]) -> Result<PatternSet, PatternError> {
    read(files, Words::new(), BTreeSet::new())
}

/// Reads `files` beside those of `shipped`, whose common word groups are visible in them, and whose
/// patterns have the names `taken`.
pub(crate) fn load_more<'a>(
    shipped: &[(&str, &str)],
    files: &[(&str, &str)],
    taken: impl Iterator<Item = &'a str>,
) -> Result<PatternSet, PatternError> {
    let mut common = Words::new();
    for (name, text) in shipped.iter().filter(|(name, _)| *name == COMMON) {
        common.extend(parse_file(name, text)?.words);
    }
    read(files, common, taken.map(str::to_owned).collect())
}

/// The file whose word groups are visible in all others.
const COMMON: &str = "common.toml";

fn parse_file(name: &str, text: &str) -> Result<File, PatternError> {
    toml::from_str(text).map_err(|error| PatternError::Shape {
        file: name.to_owned(),
        error,
    })
}

fn read(
    files: &[(&str, &str)],
    mut common: Words,
    mut taken: BTreeSet<String>,
) -> Result<PatternSet, PatternError> {
    let mut set = PatternSet::default();
    let mut known = Literals::default();
    for (name, text) in files {
        let file = parse_file(name, text)?;
        let mut words = common.clone();
        words.extend(file.words);
        if *name == COMMON {
            common.clone_from(&words);
        }
        set.words.negations.extend(file.negations);
        set.words.mentions.extend(file.mentions);
        set.words.described.extend(file.described);
        set.words.topics.extend(file.topics);
        set.words.probes.extend(file.probes);
        if file.pattern.iter().any(|entry| entry.joined) {
            let texts = words
                .values()
                .flatten()
                .chain(file.pattern.iter().flat_map(|entry| &entry.any));
            set.stems.extend(texts.flat_map(|text| stems(text)));
        }
        let first = set.expressions.len();
        for entry in file.pattern {
            if !taken.insert(entry.id.clone()) {
                return Err(PatternError::Twice {
                    file: (*name).to_owned(),
                    id: entry.id,
                });
            }
            add(&mut set, name, &words, entry, &mut known)?;
        }
        check(&set, first, name)?;
    }
    Ok(set)
}

/// Parses the expressions from `first` on.
fn check(set: &PatternSet, first: usize, file: &str) -> Result<(), PatternError> {
    for (pattern, _, expression) in set.expressions.iter().skip(first) {
        for segment in &expression.segments {
            parse(&segment.body).map_err(|problem| PatternError::Expression {
                file: file.to_owned(),
                id: set
                    .patterns
                    .get(*pattern)
                    .map_or_else(String::new, |pattern| pattern.id.to_string()),
                expression: segment.body.to_string(),
                problem,
            })?;
        }
    }
    Ok(())
}

/// The words of an expression: its runs of letters, four at least.
fn stems(expression: &str) -> impl Iterator<Item = String> {
    // The names of word groups are no words.
    let parts = expression.split('{').enumerate();
    let texts = parts.map(|(at, part)| match part.split_once('}') {
        Some((name, text)) if at > 0 && name.starts_with(|first: char| first.is_ascii_lowercase()) => text,
        _ => part,
    });
    texts
        .flat_map(|text| text.split(|letter: char| !letter.is_ascii_lowercase()))
        .filter(|run| run.len() >= 4)
        .map(str::to_owned)
}

fn add(
    set: &mut PatternSet,
    file: &str,
    words: &Words,
    entry: Entry,
    known: &mut Literals,
) -> Result<(), PatternError> {
    let index = set.patterns.len();
    let runs = entry
        .languages
        .iter()
        .all(|language| matches!(language.as_str(), "zh" | "ja" | "ko" | "any"));
    let mut forms = vec![if runs { Form::Run } else { Form::Words }];
    if entry.joined {
        forms.push(Form::Joined);
    }
    for form in forms {
        for expression in &entry.any {
            let refused = |problem| PatternError::Expression {
                file: file.to_owned(),
                id: entry.id.clone(),
                expression: expression.clone(),
                problem,
            };
            let compiled = compile(expression, words, form, known).map_err(refused)?;
            set.expressions.push((index, form, compiled));
        }
    }
    set.patterns.push(Pattern {
        id: Arc::from(entry.id),
        kind: entry.kind,
        severity: entry.severity,
        confidence: entry.confidence,
        says: Arc::from(entry.says),
        in_code: entry.code,
        on_topic: entry.topic,
    });
    set.examples.push((index, entry.matches, entry.pass));
    Ok(())
}
