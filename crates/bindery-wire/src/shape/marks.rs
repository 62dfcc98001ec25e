//! Cache marks (`cache_control`), which Anthropic counts over tools, system and messages together.

use serde_json::Value;

use super::{Findings, ShapeRule, text};

/// The most marks of a request. A fifth is answered with an error that names the number.
const MOST: usize = 4;

/// Marks in the order of the prefix.
#[derive(Debug, Default)]
pub(super) struct Marks {
    places: Vec<String>,
    shortest: Option<(u32, String)>,
}

impl Marks {
    /// Takes note of the mark of a block, if it has one.
    pub(super) fn block(&mut self, block: &Value, at: &str, found: &mut Findings) {
        let Some(mark) = block.get("cache_control").filter(|mark| !mark.is_null()) else {
            return;
        };
        let at_mark = format!("{at}/cache_control");
        self.places.push(at_mark.clone());
        match text(block, "type") {
            kind @ ("thinking" | "redacted_thinking") => {
                found.add(
                    ShapeRule::MarkPlace,
                    at_mark.clone(),
                    format!("a {kind} block cannot be marked"),
                );
            }
            "text" if text(block, "text").trim().is_empty() => {
                found.add(
                    ShapeRule::MarkPlace,
                    at_mark.clone(),
                    "an empty text cannot be marked",
                );
            }
            _ => {}
        }
        self.lifetime(mark, at_mark, found);
    }

    fn lifetime(&mut self, mark: &Value, at: String, found: &mut Findings) {
        let minutes = match text(mark, "ttl") {
            "" | "5m" => 5,
            "1h" => 60,
            other => {
                let message = format!("`{}` is no lifetime; `5m` and `1h` are", other.escape_debug());
                found.add(ShapeRule::MarkOrder, at, message);
                return;
            }
        };
        match &self.shortest {
            Some((shortest, before)) if *shortest < minutes => {
                let message = format!("one hour stands after five minutes ({before})");
                found.add(ShapeRule::MarkOrder, at, message);
            }
            _ => self.shortest = Some((minutes, at)),
        }
    }

    /// All marks were seen; `automatic` says whether the body asks for one that the provider sets.
    pub(super) fn settle(self, automatic: bool, found: &mut Findings) {
        let count = self.places.len() + usize::from(automatic);
        if count > MOST {
            let (first, last) = (self.places.first(), self.places.last());
            let message = format!(
                "{count} cache marks, and {MOST} are the most; the first is {}, the last {}{}",
                first.map_or("", String::as_str),
                last.map_or("", String::as_str),
                if automatic { ", and one is automatic" } else { "" }
            );
            found.add(ShapeRule::TooManyMarks, "", message);
        }
    }
}
