//! Who has a say in compaction.

use bindery_core::compaction::{Cut, Report, Summary};
use bindery_core::marker::escape_reserved;
use bindery_core::{BoxFuture, ProviderError, Role};

/// Asked before a compaction, told after it.
pub trait CompactHook: Send + Sync {
    /// Its name, for the log.
    fn name(&self) -> &str;

    /// Decides before anything is summarised.
    fn before<'a>(&'a self, about: &'a Cut) -> BoxFuture<'a, Result<Before, ProviderError>>;

    /// It happened.
    fn after(&self, report: &Report) {
        let _ = report;
    }
}

/// What a hook decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    /// It has nothing against it.
    GoOn,
    /// It wrote the summary itself: nobody else is asked. Ledger, context and references enter all the same.
    Replace(Vec<Said>),
    /// It must not happen now.
    Refuse(String),
}

/// A message of a hook's replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Who is to have said it.
    pub role: Role,
    /// What.
    pub text: String,
}

/// What a hook's process gave in the conversation's place: a text, or messages with `role` and `text`.
pub(super) fn said(replacement: &serde_json::Value) -> Vec<Said> {
    let one = |value: &serde_json::Value| {
        let text = value.as_str().or_else(|| value.get("text")?.as_str())?.to_owned();
        let assistant = value.get("role").and_then(serde_json::Value::as_str) == Some("assistant");
        let role = if assistant { Role::Assistant } else { Role::User };
        Some(Said { role, text })
    };
    match replacement.as_array() {
        Some(all) => all.iter().filter_map(one).collect(),
        None => one(replacement).into_iter().collect(),
    }
}

/// The summary that a hook's messages make, or why they may not enter.
pub(super) fn summary(name: &str, said: &[Said], record: &str) -> Result<Summary, String> {
    if said.iter().all(|one| one.text.trim().is_empty()) {
        return Err("it says nothing".to_owned());
    }
    if let Some(forged) = said
        .iter()
        .find(|one| escape_reserved(&one.text) != one.text.as_str())
    {
        let beginning: String = forged.text.chars().take(40).collect();
        return Err(format!(
            "it holds a marker that only the harness writes (`{beginning}`)"
        ));
    }
    let lines = said.iter().map(|one| {
        let who = match one.role {
            Role::User => "user",
            Role::Assistant => "model",
        };
        format!("- {who}: {}", one.text.trim())
    });
    Ok(Summary {
        text: with_references(&lines.collect::<Vec<_>>().join("\n"), record),
        by: format!("hook:{name}"),
    })
}

/// A summary that somebody wrote, with the entries of the record that name what is kept: whoever wrote it
/// need not have copied them.
pub(super) fn with_references(text: &str, record: &str) -> String {
    let references = record.lines().filter(|line| line.contains("blob:"));
    let mut out = text.trim().to_owned();
    for (at, line) in references.enumerate() {
        out.push_str(if at == 0 { "\n\nKept:\n" } else { "\n" });
        out.push_str(line);
    }
    out
}
