//! How much of the context window is gone before anybody has said a word.

use bindery_core::{CountTokens, Text};
use bindery_sources::Level;
use bindery_tokens::Tokenizers;

use super::codes::Code;
use super::diagnostic::Diagnostic;
use super::subject::{Reading, Subject};
use super::tables::Tables;

/// Parts of the window from which on instructions are told: a tenth is a warning, a half an error.
const WARNING: u64 = 10;
const ERROR: u64 = 2;

pub(super) fn check(subject: &Subject, _: &Tables, out: &mut Vec<Diagnostic>) {
    let tokenizers = Tokenizers::built_in().ok();
    let count = |reading: &Reading, text: &str| {
        let family = if reading.dialect.name == "codex" {
            "gpt-5"
        } else {
            "claude-opus-4-8"
        };
        match &tokenizers {
            Some(tokenizers) => {
                tokenizers
                    .counter(family)
                    .count(&Text::from(text.to_owned()))
                    .value
            }
            // Four bytes a token is the usual guess for English.
            None => text.len() as u64 / 4,
        }
    };
    for reading in &subject.readings {
        let sent = reading.sent();
        let window = reading.manifest.totals.context_window;
        // No text has more tokens than bytes, and counting is the slow part.
        let bytes: usize = sent
            .iter()
            .filter_map(|file| file.text.as_ref())
            .map(String::len)
            .sum();
        if (bytes as u64) < window / WARNING {
            continue;
        }
        let costs: Vec<u64> = sent
            .iter()
            .map(|file| file.text.as_deref().map_or(0, |text| count(reading, text)))
            .collect();
        let total: u64 = costs.iter().sum();
        let Some(level) = level(total, window) else {
            continue;
        };
        let largest = sent.iter().zip(&costs).max_by_key(|(_, cost)| **cost);
        let Some((file, cost)) = largest else { continue };
        let message = format!(
            "the instructions for {} are about {total} tokens, {} % of the window of {window}; this file is the largest with {cost}",
            subject.place(&reading.manifest.cwd),
            total * 100 / window.max(1),
        );
        let mend = "keep what every task needs; give the rest patterns, or move it to a file that the agent reads when needed";
        let one = Diagnostic::new(Code::Budget, subject.shown(&file.path), 0, message);
        out.push(one.level(level).mend(mend).dialect(reading.name()));
    }
    if let Some((tokens, window)) = subject.composed.tokens
        && let Some(level) = self::level(tokens, window)
    {
        let message = format!(
            "the system prompt is about {tokens} tokens, {} % of the window of {window}",
            tokens * 100 / window.max(1)
        );
        out.push(
            Diagnostic::new(Code::Budget, "system prompt", 0, message)
                .level(level)
                .mend("shorten or remove sections"),
        );
    }
}

fn level(tokens: u64, window: u64) -> Option<Level> {
    if tokens >= window / ERROR {
        Some(Level::Error)
    } else {
        (tokens >= window / WARNING).then_some(Level::Warning)
    }
}
