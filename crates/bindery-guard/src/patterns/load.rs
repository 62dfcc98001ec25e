//! Reading of pattern files.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use thiserror::Error;

use super::expression::{Literals, Words, compile, parse};
use super::{BUILTIN, Expression, Form, InCode, OnTopic, Pattern};
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
    pub(crate) negations: Vec<String>,
    pub(crate) mentions: Vec<String>,
    pub(crate) described: Vec<String>,
    pub(crate) topics: Vec<String>,
    pub(crate) probes: Vec<String>,
    /// Words of the patterns that are also looked for in broken words.
    pub(crate) stems: BTreeSet<String>,
    /// Pattern index and examples (must match, must pass), for the tests.
    pub(crate) examples: Vec<(usize, Vec<String>, Vec<String>)>,
}

/// Reads `files` (name and text). Word groups of `common.toml` are visible in all of them.
pub(crate) fn load(files: &[(&str, &str)]) -> Result<PatternSet, PatternError> {
    let mut set = PatternSet::default();
    let mut common = Words::new();
    let mut known = Literals::default();
    for (name, text) in files {
        let file: File = toml::from_str(text).map_err(|error| PatternError::Shape {
            file: (*name).to_owned(),
            error,
        })?;
        let mut words = common.clone();
        words.extend(file.words);
        if *name == "common.toml" {
            common.clone_from(&words);
        }
        set.negations.extend(file.negations);
        set.mentions.extend(file.mentions);
        set.described.extend(file.described);
        set.topics.extend(file.topics);
        set.probes.extend(file.probes);
        if file.pattern.iter().any(|entry| entry.joined) {
            let texts = words
                .values()
                .flatten()
                .chain(file.pattern.iter().flat_map(|entry| &entry.any));
            set.stems.extend(texts.flat_map(|text| stems(text)));
        }
        let first = set.expressions.len();
        for entry in file.pattern {
            add(&mut set, name, &words, entry, &mut known)?;
        }
        // Those that ship with the product are parsed by a test.
        if !BUILTIN.contains(&(*name, *text)) {
            check(&set, first, name)?;
        }
    }
    Ok(set)
}

/// Parses the expressions from `first` on, whose errors would otherwise go unseen: they are parsed when
/// they are first needed.
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
    expression
        .split(|letter: char| !letter.is_ascii_lowercase())
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
    if set.patterns.iter().any(|pattern| *pattern.id == *entry.id) {
        return Err(PatternError::Twice {
            file: file.to_owned(),
            id: entry.id,
        });
    }
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
