//! Which values of an event a hook is for.

use regex::{Regex, RegexBuilder};
use thiserror::Error;

/// The most bytes a compiled matcher may take: a settings file must not cost memory without bound.
const SIZE_LIMIT: usize = 1 << 20;

/// A matcher that is no regular expression.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the matcher `{matcher}` is no regular expression: {why}")]
pub struct BadMatcher {
    matcher: String,
    why: String,
}

/// What a hook is for: everything, or the values that an expression matches from end to end.
#[derive(Debug, Clone)]
pub struct Matcher {
    written: String,
    expression: Option<Regex>,
}

impl Matcher {
    /// For everything.
    pub fn all() -> Self {
        Self {
            written: String::new(),
            expression: None,
        }
    }

    /// As written in a settings file: nothing or `*` is for everything; otherwise a regular expression that
    /// must match the whole value, so that `Edit|Write` is for two tools and `Bash` not for `BashOutput`.
    pub fn new(written: &str) -> Result<Self, BadMatcher> {
        if matches!(written, "" | "*") {
            return Ok(Self {
                written: written.to_owned(),
                expression: None,
            });
        }
        let expression = RegexBuilder::new(&format!("^(?:{written})$"))
            .size_limit(SIZE_LIMIT)
            .build()
            .map_err(|error| BadMatcher {
                matcher: written.to_owned(),
                why: last_line(&error.to_string()),
            })?;
        Ok(Self {
            written: written.to_owned(),
            expression: Some(expression),
        })
    }

    /// As it was written.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Whether a value is meant.
    pub fn is_for(&self, value: &str) -> bool {
        self.expression
            .as_ref()
            .is_none_or(|expression| expression.is_match(value))
    }
}

/// What the engine says without the drawing above it.
fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or(text).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matchers_match_whole_values() {
        for (written, value, expected) in [
            ("", "Bash", true),
            ("*", "Bash", true),
            ("Bash", "Bash", true),
            ("Bash", "BashOutput", false),
            ("bash", "Bash", false),
            ("Edit|Write", "Write", true),
            ("Edit|Write", "NotebookEdit", false),
            ("mcp__.*__send", "mcp__mail__send", true),
            ("Notebook.*", "NotebookEdit", true),
        ] {
            let matcher = Matcher::new(written).unwrap();
            assert_eq!(matcher.is_for(value), expected, "{written} on {value}");
        }
    }

    #[test]
    fn what_cannot_be_compiled_says_why() {
        let error = Matcher::new("mcp__(").unwrap_err().to_string();
        insta::assert_snapshot!(error, @"the matcher `mcp__(` is no regular expression: error: unclosed group");
        assert!(Matcher::new("(a{1000}){1000}").is_err());
    }
}
