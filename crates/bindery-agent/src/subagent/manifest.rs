//! What a child was given: said in its first request, and to people.

use std::fmt::Write as _;

use bindery_sources::agents::{Inherit, Place, PromptMode, Report};
use serde::Serialize;

/// What a child works with, and where each of it is from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Manifest {
    /// The agent.
    pub agent: String,
    /// Where it is defined.
    pub defined: String,
    /// The directory that it works in.
    pub directory: String,
    /// Its model.
    pub model: String,
    /// The parent's model, where it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_of_parent: Option<String>,
    /// Its tools.
    pub tools: Vec<String>,
    /// Tools that the parent has and it has not.
    pub tools_left: Vec<String>,
    /// Tools that its definition names and nobody has here.
    pub tools_unknown: Vec<String>,
    /// Whether nothing that acts is allowed.
    pub reads_only: bool,
    /// How much of the composition it has.
    pub mode: PromptMode,
    /// What its prompt does to that.
    pub prompt: Place,
    /// Whether its prompt travels as a message: a repository's does, unless it was granted.
    pub prompt_is_message: bool,
    /// What it takes over.
    pub inherited: Vec<Inherited>,
    /// What it does not, and why.
    pub excluded: Vec<Excluded>,
    /// The most bytes of instruction files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions_limit: Option<usize>,
    /// Whether it goes on from the parent's conversation.
    pub fork: bool,
    /// What its report has to be like.
    pub report: Report,
}

/// Something taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inherited {
    /// The layer.
    pub layer: Inherit,
    /// The context's name: a file, `git`, `mcp:NAME`.
    pub name: String,
    /// Its bytes.
    pub bytes: usize,
    /// Its bytes at the parent's, where some were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_bytes: Option<usize>,
}

/// A layer that is not taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Excluded {
    /// The layer, or `reminders`, `conversation`, `references`.
    pub layer: &'static str,
    /// Why.
    pub why: &'static str,
    /// What there is of it at the parent's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

impl Manifest {
    /// What the child is told of itself. Writing to a string cannot fail.
    pub fn text(&self) -> String {
        let mut out = format!("You are the sub-agent `{}`, sent by another agent.\n", self.agent);
        let _ = writeln!(out, "directory: {}", self.directory);
        match &self.model_of_parent {
            None => drop(writeln!(out, "model: {} (inherited)", self.model)),
            Some(other) => drop(writeln!(
                out,
                "model: {} (overridden by the definition; the parent uses {other})",
                self.model
            )),
        }
        let mut tools = if self.tools.is_empty() {
            "none".to_owned()
        } else {
            self.tools.join(", ")
        };
        if !self.tools_left.is_empty() {
            let _ = write!(
                tools,
                " (the parent's others are left out: {})",
                self.tools_left.join(", ")
            );
        }
        if self.reads_only {
            tools.push_str("; nothing that changes anything is allowed");
        }
        let _ = writeln!(out, "tools: {tools}");
        for layer in Inherit::ALL {
            let of = self.inherited.iter().filter(|one| one.layer == layer);
            let names: Vec<String> = of.map(named).collect();
            if !names.is_empty() {
                let _ = writeln!(out, "inherited {}: {}", layer.name(), names.join(", "));
            }
        }
        for excluded in &self.excluded {
            let _ = writeln!(out, "not inherited: {} ({})", excluded.layer, excluded.why);
        }
        if self.report == Report::Scoped {
            out.push_str(super::drive::CONTRACT);
            out.push('\n');
        }
        out.trim_end().to_owned()
    }
}

fn named(one: &Inherited) -> String {
    let name = one.name.replace(['\n', '\r'], " ");
    match one.of_bytes {
        Some(all) => format!(
            "{name} ({} of {all} bytes; sections that must be kept are kept)",
            one.bytes
        ),
        None => name,
    }
}
