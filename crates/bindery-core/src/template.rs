//! Interpolation: `{{name}}` and nothing else.
//!
//! A name is looked up among the assembly's own variables only. Unknown names, undefined values and
//! malformed references are errors. A value is inserted as it is and never scanned again.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::registry::is_variable_name;
use crate::{Source, Text, Trust};

/// A reference that could not be replaced.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: {problem} (in {what} `{name}`)")]
pub struct RenderError {
    /// `section` or `context`.
    pub what: &'static str,
    /// Its name.
    pub name: String,
    /// Where in its source.
    pub place: Place,
    /// What is wrong.
    pub problem: RenderProblem,
}

/// A line and column (both from 1, columns in characters) of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The source.
    pub source: Source,
    /// The line within the source, front matter counted.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::File { path, .. } => write!(f, "{path}:{}:{}", self.line, self.column),
            other => write!(f, "{other}, line {}, column {}", self.line, self.column),
        }
    }
}

/// What is wrong with a reference.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RenderProblem {
    /// No variable of that name.
    #[error(
        "unknown variable `{{{{{name}}}}}`; known are: {known}; correct the name, or register the variable"
    )]
    Unknown {
        /// The name.
        name: String,
        /// The known names.
        known: String,
    },
    /// The variable has no value here.
    #[error(
        "variable `{{{{{name}}}}}` is undefined here: its provider gave no value; leave the reference out where it has none, or give it one"
    )]
    Undefined {
        /// The name.
        name: String,
    },
    /// The value may not stand in the system prompt.
    #[error(
        "variable `{{{{{name}}}}}` has trust `{trust}`: anybody who can write its value would speak as the system; use it in a context, which is a message of the user's side"
    )]
    Untrusted {
        /// The name.
        name: String,
        /// The trust of its value.
        trust: &'static str,
    },
    /// Not a reference at all.
    #[error(
        "malformed reference `{found}`; write `{{{{name}}}}` with a name of lower-case letters, digits and underscores, or take the text as it is: `interpolate: false` in front matter, `literal()` in code"
    )]
    Malformed {
        /// The beginning of what was found.
        found: String,
    },
    /// The literal of the cache boundary stands in the text.
    #[error(
        "`{boundary}` is not text: the boundary stands where static sections end; give what follows it a section of its own with `group: dynamic`, and remove the literal",
        boundary = crate::marker::BOUNDARY
    )]
    Boundary,
}

/// Values by name.
pub(crate) type Variables = BTreeMap<Arc<str>, Option<Text>>;

/// A piece of a template.
enum Piece<'t> {
    Literal(&'t str),
    Reference { at: usize, name: &'t str },
}

/// Whether a text has anything to replace.
pub(crate) fn has_references(text: &str) -> bool {
    opening(text).is_some()
}

/// Where the next reference begins. Every text is searched at every rendering, so the search is by the
/// fastest there is for one byte; it needs no preparation, as one for two bytes would.
fn opening(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'{', bytes).find(|at| bytes.get(at + 1) == Some(&b'{'))
}

/// Replaces every reference. `Err` carries the byte offset of the reference and what is wrong with it.
pub(crate) fn interpolate<'t>(
    text: &'t str,
    variables: &Variables,
) -> Result<Cow<'t, str>, (usize, RenderProblem)> {
    if !has_references(text) {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len() + 64);
    for piece in pieces(text) {
        match piece? {
            Piece::Literal(literal) => out.push_str(literal),
            Piece::Reference { at, name } => {
                out.push_str(lookup(name, variables).map_err(|problem| (at, problem))?);
            }
        }
    }
    Ok(Cow::Owned(out))
}

/// The first reference to one of `refused`, with its offset.
pub(crate) fn refused_reference(
    text: &str,
    refused: &BTreeMap<Arc<str>, Trust>,
) -> Option<(usize, RenderProblem)> {
    if refused.is_empty() || !has_references(text) {
        return None;
    }
    pieces(text).find_map(|piece| match piece {
        Ok(Piece::Reference { at, name }) => {
            let trust = refused.get(name)?.name();
            Some((
                at,
                RenderProblem::Untrusted {
                    name: name.to_owned(),
                    trust,
                },
            ))
        }
        _ => None,
    })
}

/// The names a text refers to, in order of appearance; malformed references are left out.
pub fn references(text: &str) -> Vec<&str> {
    pieces(text)
        .filter_map(|piece| match piece {
            Ok(Piece::Reference { name, .. }) => Some(name),
            _ => None,
        })
        .collect()
}

fn lookup<'v>(name: &str, variables: &'v Variables) -> Result<&'v str, RenderProblem> {
    match variables.get(name) {
        Some(Some(value)) => Ok(value.as_str()),
        Some(None) => Err(RenderProblem::Undefined {
            name: name.to_owned(),
        }),
        None => {
            let known: Vec<&str> = variables.keys().map(|name| &**name).collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            Err(RenderProblem::Unknown {
                name: name.to_owned(),
                known,
            })
        }
    }
}

/// Cuts a template at its references. After a malformed one nothing more is said.
fn pieces(text: &str) -> impl Iterator<Item = Result<Piece<'_>, (usize, RenderProblem)>> {
    let mut rest = text;
    let mut offset = 0;
    let mut pending: Option<Result<Piece<'_>, (usize, RenderProblem)>> = None;
    std::iter::from_fn(move || {
        if let Some(piece) = pending.take() {
            return Some(piece);
        }
        if rest.is_empty() {
            return None;
        }
        let Some((literal, from)) = opening(rest).and_then(|at| rest.split_at_checked(at)) else {
            return Some(Ok(Piece::Literal(std::mem::take(&mut rest))));
        };
        let at = offset + literal.len();
        if let Some((name, after)) = reference(from) {
            offset = at + (from.len() - after.len());
            rest = after;
            pending = Some(Ok(Piece::Reference { at, name }));
        } else {
            rest = "";
            let line = from.lines().next().unwrap_or_default();
            let found = line.chars().take(24).map(printable).collect();
            pending = Some(Err((at, RenderProblem::Malformed { found })));
        }
        Some(Ok(Piece::Literal(literal)))
    })
}

/// Errors are shown on terminals.
fn printable(c: char) -> char {
    if c.is_control() { '\u{fffd}' } else { c }
}

/// The name of the reference that `from` starts with, and what follows it.
fn reference(from: &str) -> Option<(&str, &str)> {
    let (name, after) = from.strip_prefix("{{")?.split_once("}}")?;
    is_variable_name(name).then_some((name, after))
}

/// Where a byte offset of a text lies in its source.
pub(crate) fn place(source: &Source, text: &str, offset: usize) -> Place {
    let before = text.get(..offset).unwrap_or(text);
    let newlines = u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX);
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    let first = match source {
        Source::File {
            lines: Some((first, _)),
            ..
        } => *first,
        _ => 1,
    };
    Place {
        source: source.clone(),
        line: first.saturating_add(newlines),
        column: u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1),
    }
}

#[cfg(test)]
mod tests;
