//! A composition of stated size, for measuring.
//!
//! 40 sections of about 500 tokens, 200 tools with schemas of four fields, 30 messages: what a large
//! agent sends. Its text is made of common words by a fixed rule, so every run measures the same bytes.

use std::fmt::Write as _;

use bindery_core::{
    Cadence, Context, Delivery, Group, Message, RegisterError, Registration, Scope, Section, Tool, ToolSet,
};
use serde_json::json;

/// Words that texts are made of.
const WORDS: [&str; 16] = [
    "the", "build", "must", "pass", "before", "a", "change", "is", "merged", "into", "main", "and", "tests",
    "name", "every", "\"case\"",
];

/// How many sections, tools and messages the fixture has.
pub const SIZE: (usize, usize, usize) = (40, 200, 30);

/// Registers the fixture on a scope.
pub fn register(scope: &Scope) -> Result<Vec<Registration>, RegisterError> {
    let (sections, tools, _) = SIZE;
    let mut kept = Vec::with_capacity(sections + 3);
    for index in 0..sections {
        let group = if index % 4 == 3 {
            Group::Dynamic
        } else {
            Group::Static
        };
        let body = format!("# Section {index} of {{{{product}}}}\n\n{}", prose(index, 380));
        let section = Section::new(format!("section-{index:02}"), body)
            .group(group)
            .cadence(Cadence::Session);
        kept.push(scope.section(section)?);
    }
    kept.push(scope.variable("product", bindery_core::Text::from("Bindery"))?);
    kept.push(scope.context(Context::new("git-status", prose(99, 60)))?);
    kept.push(scope.context(Context::new("model", "model-1").delivery(Delivery::Tail))?);
    let visible = (0..tools).map(tool).collect();
    kept.push(scope.tools(ToolSet {
        visible,
        hidden: Vec::new(),
    }));
    Ok(kept)
}

/// The conversation of the fixture.
pub fn messages() -> Vec<Message> {
    (0..SIZE.2)
        .map(|index| {
            let key = format!("message:{index}.0");
            if index % 2 == 0 {
                Message::user(key, prose(index, 120))
            } else {
                Message::assistant(key, prose(index, 200))
            }
        })
        .collect()
}

/// Markdown of at least `bytes` bytes: headings, prose, lists, code and tables, in a few languages.
pub fn markdown(bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 4096);
    let mut part = 0;
    while out.len() < bytes {
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "## Part {part}\n\n{}\n- first {}\n- second `{}`\n\n```rust\nfn part_{part}(value: u64) -> Option<u64> {{\n    \
             value.checked_mul({part})\n}}\n```\n\n| key | value |\n|---|---|\n| части | {part} |\n| 部分 | größer |\n\n",
            prose(part, 160),
            prose(part + 1, 9),
            prose(part + 2, 4),
        );
        part += 1;
    }
    out
}

fn tool(index: usize) -> Tool {
    let field = |n: usize| json!({"type": "string", "description": prose(index + n, 12)});
    let schema = json!({
        "type": "object",
        "properties": {"path": field(1), "pattern": field(2), "limit": {"type": "integer"}, "mode": field(3)},
        "required": ["path"],
    });
    Tool::new(format!("tool_{index:03}"), prose(index, 40), &schema)
}

/// `words` words, in lines of about 90 characters.
fn prose(seed: usize, words: usize) -> String {
    let mut out = String::with_capacity(words * 6);
    for word in 0..words {
        let chosen = WORDS
            .get((seed * 7 + word * (3 + seed % 5)) % WORDS.len())
            .copied()
            .unwrap_or_default();
        let separator = if word % 16 == 15 { "\n" } else { " " };
        // Writing to a string cannot fail.
        let _ = write!(out, "{chosen}{separator}");
    }
    out
}
