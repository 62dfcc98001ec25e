//! Tool definitions.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Findings, ShapeRule, text};

/// Names seen so far, and how long one may be.
pub(super) struct Names<'v> {
    longest: usize,
    seen: BTreeSet<&'v str>,
}

impl<'v> Names<'v> {
    pub(super) fn new(longest: usize) -> Self {
        Self {
            longest,
            seen: BTreeSet::new(),
        }
    }

    /// Checks the `name` of a definition that stands at a place.
    pub(super) fn check(&mut self, definition: &'v Value, at: &str, found: &mut Findings) {
        let name = text(definition, "name");
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if name.is_empty() || name.len() > self.longest || !name.bytes().all(fits) {
            let message = format!(
                "`{}` is no name of a tool: 1 to {} letters, digits, `_` and `-`",
                name.escape_debug(),
                self.longest
            );
            found.add(ShapeRule::ToolName, format!("{at}/name"), message);
        } else if !self.seen.insert(name) {
            found.add(
                ShapeRule::ToolTwice,
                format!("{at}/name"),
                format!("a tool before this one has the name `{name}`, too"),
            );
        }
    }
}

/// A schema that must describe an object.
pub(super) fn schema(schema: Option<&Value>, at: &str, found: &mut Findings) {
    match schema {
        Some(Value::Object(fields)) if fields.get("type").and_then(Value::as_str) == Some("object") => {}
        Some(Value::Object(_)) => {
            found.add(
                ShapeRule::ToolSchema,
                at,
                "the schema has no `\"type\": \"object\"`",
            );
        }
        _ => found.add(ShapeRule::ToolSchema, at, "there is no schema of the input"),
    }
}
