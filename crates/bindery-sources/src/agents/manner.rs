//! What a definition says beside name, tools and prompt: how the agent is assembled, what it inherits, how it
//! reports.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::definition::Header;

/// How an agent works.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Manner {
    /// Tools that it does not have.
    pub disallowed_tools: Vec<String>,
    /// Whether nothing that acts is allowed, whoever asks.
    pub reads_only: bool,
    /// How much of the composition it is assembled from.
    pub mode: PromptMode,
    /// What its prompt does to that.
    pub place: Place,
    /// What it takes over from the agent that sends it; `None` for what every agent does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherit: Option<BTreeSet<Inherit>>,
    /// The most bytes of instruction files that it takes over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions_limit: Option<usize>,
    /// Whether it goes on from the conversation of the agent that sends it.
    pub fork: bool,
    /// What its report has to be like.
    pub report: Report,
}

/// How much of the composition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptMode {
    /// Identity, safety, tools, and what holds for sub-agents.
    #[default]
    Minimal,
    /// What the main agent has.
    Full,
}

/// What a prompt does to the composition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// It follows the composition.
    #[default]
    Append,
    /// It takes the composition's place; what the operator appends stays.
    ReplaceBase,
    /// It is all there is of the system prompt.
    ReplaceAll,
}

/// A layer that can be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Inherit {
    /// Instruction files: the norms of the user and the project.
    Instructions,
    /// Memory.
    Memory,
    /// What MCP servers want said of themselves.
    Servers,
    /// The index of skills.
    Skills,
    /// What is the case now: date, git, the runtime-context file.
    State,
}

/// What a report has to be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Report {
    /// Anything.
    #[default]
    Free,
    /// It begins with `Scope:`, has at most 500 words and asks nothing.
    Scoped,
}

impl Inherit {
    /// Every layer.
    pub const ALL: [Self; 5] = [
        Self::Instructions,
        Self::Memory,
        Self::Servers,
        Self::Skills,
        Self::State,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Memory => "memory",
            Self::Servers => "servers",
            Self::Skills => "skills",
            Self::State => "state",
        }
    }
}

impl Manner {
    /// What is taken over.
    pub fn inherits(&self, layer: Inherit) -> bool {
        match &self.inherit {
            Some(named) => named.contains(&layer),
            None => matches!(layer, Inherit::Instructions | Inherit::Servers | Inherit::State),
        }
    }

    /// Reads a header, and what in it is not understood.
    pub(super) fn read(header: &Header) -> (Self, Vec<String>) {
        let mut wrong = Vec::new();
        let mut one_of = |key: &str, known: &[&str]| -> Option<usize> {
            let said = header.text(key);
            let at = known.iter().position(|word| *word == said);
            if at.is_none() && !said.is_empty() {
                let known = known.join(", ");
                wrong.push(format!(
                    "`{key}: {}` is none of {known}",
                    crate::visible::clipped(&said, 40)
                ));
            }
            at
        };
        let mode = one_of("mode", &["minimal", "full"]);
        let place = one_of("prompt", &["append", "replace-base", "replace-all"]);
        let report = one_of("report", &["free", "scoped"]);
        let fork = header.is_true("fork");
        let (inherit, unknown) = inherited(header);
        wrong.extend(unknown);
        let limit = header.number("instructions_limit");
        let instructions_limit = limit.and_then(|limit| usize::try_from(limit).ok());
        if instructions_limit.is_none() && header.has("instructions_limit") {
            wrong.push("`instructions_limit` is a number of bytes".to_owned());
        }
        let manner = Self {
            disallowed_tools: header.list("disallowedTools"),
            reads_only: header.text("permissionMode") == "plan",
            mode: match (mode, fork) {
                (Some(1), _) | (_, true) => PromptMode::Full,
                _ => PromptMode::Minimal,
            },
            place: match place {
                Some(1) => Place::ReplaceBase,
                Some(2) => Place::ReplaceAll,
                _ => Place::Append,
            },
            inherit,
            instructions_limit,
            fork,
            report: match (report, fork) {
                (Some(1), _) | (None, true) => Report::Scoped,
                _ => Report::Free,
            },
        };
        (manner, wrong)
    }
}

fn inherited(header: &Header) -> (Option<BTreeSet<Inherit>>, Option<String>) {
    if !header.has("inherit") {
        return (None, None);
    }
    let mut named = header.list("inherit");
    if named.is_empty() {
        named.extend(Some(header.text("inherit")).filter(|word| !word.is_empty()));
    }
    let mut out = BTreeSet::new();
    let mut unknown = Vec::new();
    for word in &named {
        match (
            word.as_str(),
            Inherit::ALL.into_iter().find(|layer| layer.name() == word),
        ) {
            (_, Some(layer)) => drop(out.insert(layer)),
            ("all", _) => out.extend(Inherit::ALL),
            ("none", _) => {}
            (other, None) => unknown.push(crate::visible::clipped(other, 40)),
        }
    }
    let told = (!unknown.is_empty()).then(|| {
        let known = Inherit::ALL.map(Inherit::name).join(", ");
        format!(
            "`inherit` names {}; layers are {known}, all, none",
            unknown.join(", ")
        )
    });
    (Some(out), told)
}
