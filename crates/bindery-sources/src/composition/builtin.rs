//! The default composition: files of the `sections/default` folder, embedded.

use super::file::{SectionFile, parse};
use crate::notice::Notice;

macro_rules! embedded {
    ($($stem:literal),* $(,)?) => {
        [$((
            $stem,
            concat!("sections/default/", $stem, ".md"),
            include_str!(concat!("../../../../sections/default/", $stem, ".md")),
        )),*]
    };
}

/// File stem, name within the product, text. By name.
pub(super) const FILES: [(&str, &str, &str); 9] = embedded![
    "changes",
    "context",
    "environment",
    "identity",
    "safety",
    "sub-agent",
    "tasks",
    "tone",
    "tools",
];

/// The default sections. `Err` only if a shipped file is broken, which a test rules out.
pub fn default_sections() -> Result<Vec<SectionFile>, Vec<Notice>> {
    let mut problems = Vec::new();
    let mut files = Vec::new();
    for (stem, name, text) in FILES {
        match parse(text, stem, name) {
            Ok(file) => files.push(file),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        Ok(files)
    } else {
        Err(problems)
    }
}
