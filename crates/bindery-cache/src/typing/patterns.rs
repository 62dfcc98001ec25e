//! The patterns, as data.

use std::sync::Arc;

use bindery_core::{Kind, marker};
use serde::Deserialize;

/// How a reminder opens in what a tool returned.
pub(super) const REMINDER: &str = "<system-reminder";

/// The table that is built in, and its name in messages.
const BUILT_IN: (&str, &str) = (
    "patterns/requests.toml",
    include_str!("../../../../patterns/requests.toml"),
);

/// Compiled patterns. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Typing(Arc<Tables>);

#[derive(Debug)]
pub(super) struct Tables {
    pub(super) tags: Vec<Tag>,
    pub(super) lines: Vec<Line>,
    first_bytes: [bool; 128],
}

/// A table of patterns that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// It is not the TOML it should be.
    #[error("{file}: {error}")]
    Toml {
        /// The file.
        file: String,
        /// What is wrong, with line and column.
        error: Box<toml::de::Error>,
    },
    /// A pattern names a kind that does not exist.
    #[error("{file}: `{label}` has the unknown kind `{kind}`; kinds are written like `hook-context`")]
    Kind {
        /// The file.
        file: String,
        /// The pattern.
        label: String,
        /// The kind it names.
        kind: String,
    },
    /// A pattern that would match everything.
    #[error("{file}: `{label}` matches every line; give it a name or a beginning")]
    Empty {
        /// The file.
        file: String,
        /// The pattern.
        label: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "read to be refused if it is missing; one version exists")]
    version: u32,
    #[expect(dead_code, reason = "for the reader of the file")]
    read: String,
    #[expect(dead_code, reason = "for the reader of the file")]
    source: String,
    #[serde(default)]
    tag: Vec<TagRow>,
    #[serde(default)]
    line: Vec<LineRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TagRow {
    name: String,
    label: String,
    kind: String,
    #[serde(default)]
    in_results: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineRow {
    begins: String,
    holds: Option<String>,
    #[serde(default)]
    alone: bool,
    skip: Option<usize>,
    source: Option<SourcePlace>,
    label: String,
    kind: String,
    #[serde(default, rename = "where")]
    places: Vec<Side>,
    #[serde(default)]
    not_in: Vec<String>,
    #[serde(default)]
    in_results: bool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SourcePlace {
    Rest,
    Colon,
    Parenthesis,
}

/// Where a text stands, as patterns see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Side {
    System,
    User,
}

#[derive(Debug)]
pub(super) struct Tag {
    pub(super) opens: String,
    pub(super) closes: String,
    pub(super) label: Arc<str>,
    pub(super) kind: Kind,
    pub(super) in_results: bool,
    /// One of the engine's own markers.
    pub(super) own: bool,
}

#[derive(Debug)]
pub(super) struct Line {
    pub(super) begins: String,
    pub(super) holds: Option<String>,
    pub(super) alone: bool,
    /// How many bytes of the line stand before the source.
    pub(super) before_source: usize,
    pub(super) source: Option<SourcePlace>,
    pub(super) label: Arc<str>,
    pub(super) kind: Kind,
    pub(super) places: Vec<Side>,
    pub(super) not_in: Vec<String>,
    pub(super) in_results: bool,
}

impl Typing {
    /// The patterns that are built in.
    ///
    /// # Errors
    ///
    /// None that a released build can have: a test reads them.
    pub fn built_in() -> Result<Self, PatternError> {
        let (file, text) = BUILT_IN;
        Self::from_toml(file, text)
    }

    /// Patterns in TOML, shaped like those that are built in. The file's name is for messages.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, PatternError> {
        let rows: File = toml::from_str(text).map_err(|error| PatternError::Toml {
            file: file.to_owned(),
            error: Box::new(error),
        })?;
        let mut tags = own_tags();
        for row in rows.tag {
            let kind = kind(file, &row.label, &row.kind)?;
            filled(file, &row.label, &row.name)?;
            tags.push(Tag {
                opens: format!("<{}", row.name),
                closes: format!("</{}>", row.name),
                label: row.label.into(),
                kind,
                in_results: row.in_results,
                own: false,
            });
        }
        let mut lines = Vec::new();
        for row in rows.line {
            let kind = kind(file, &row.label, &row.kind)?;
            filled(file, &row.label, &row.begins)?;
            lines.push(Line {
                before_source: row.skip.unwrap_or(row.begins.len()),
                begins: row.begins,
                holds: row.holds,
                alone: row.alone,
                source: row.source,
                label: row.label.into(),
                kind,
                places: row.places,
                not_in: row.not_in,
                in_results: row.in_results,
            });
        }
        let mut first_bytes = [false; 128];
        let beginnings = lines
            .iter()
            .map(|line| &line.begins)
            .chain(tags.iter().map(|tag| &tag.opens));
        for first in beginnings.filter_map(|begins| begins.bytes().next()) {
            if let Some(known) = first_bytes.get_mut(usize::from(first)) {
                *known = true;
            }
        }
        Ok(Self(Arc::new(Tables {
            tags,
            lines,
            first_bytes,
        })))
    }

    pub(super) fn tables(&self) -> &Tables {
        &self.0
    }
}

impl Tables {
    /// Whether a line that begins so can match anything.
    pub(super) fn may_begin(&self, line: &str) -> bool {
        line.bytes()
            .next()
            .is_some_and(|first| self.first_bytes.get(usize::from(first)).copied().unwrap_or(true))
    }
}

/// The engine's own markers. The reminder's tag is Claude Code's, too, and stands in the table.
fn own_tags() -> Vec<Tag> {
    Kind::ALL
        .into_iter()
        .filter(|kind| *kind != Kind::Reminder)
        .filter_map(|kind| Some((kind, marker::tag(kind)?)))
        .map(|(kind, name)| Tag {
            opens: format!("<{name}"),
            closes: format!("</{name}>"),
            label: name.trim_start_matches("bindery-").into(),
            kind,
            in_results: false,
            own: true,
        })
        .collect()
}

fn kind(file: &str, label: &str, name: &str) -> Result<Kind, PatternError> {
    let named = |kind: &Kind| serde_json::to_value(kind).is_ok_and(|value| value == name);
    Kind::ALL
        .into_iter()
        .find(named)
        .ok_or_else(|| PatternError::Kind {
            file: file.to_owned(),
            label: label.to_owned(),
            kind: name.to_owned(),
        })
}

fn filled(file: &str, label: &str, text: &str) -> Result<(), PatternError> {
    if text.trim().is_empty() {
        return Err(PatternError::Empty {
            file: file.to_owned(),
            label: label.to_owned(),
        });
    }
    Ok(())
}
