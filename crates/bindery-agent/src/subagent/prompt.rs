//! A definition's prompt: in the system prompt if its owner may speak there, else a message.

use std::sync::Arc;

use bindery_core::{
    AgentMode, AssembleOptions, Context, Kind, Mode, PromptSources, PromptText, Source, Trust,
};
use bindery_guard::policy::Approval;
use bindery_sources::Position;
use bindery_sources::agents::{Agent as Definition, Place, PromptMode};
use bindery_sources::dialect::Scope;
use bindery_sources::gate::{Gate, Passage};

use super::Parent;

/// How a definition's prompt travels.
pub(crate) struct Prompt {
    /// What assemblies are asked with.
    pub(crate) options: AssembleOptions,
    /// The prompt as a message, where it may not stand in the system prompt.
    pub(crate) message: Option<Context>,
}

/// How far a definition is trusted.
pub(crate) fn trust(definition: &Definition) -> Trust {
    match definition.scope {
        Scope::Managed => Trust::Builtin,
        Scope::User => Trust::User,
        Scope::Project | Scope::Local => Trust::Project,
    }
}

/// Where a definition is from, with its path as people read it.
pub(crate) fn source(definition: &Definition, shown: &str) -> Source {
    match definition.scope {
        Scope::Managed => Source::Builtin { name: shown.into() },
        _ => Source::File {
            path: shown.into(),
            lines: None,
        },
    }
}

impl Prompt {
    /// The prompt of a child. `grant` is the setting that lets a repository's definition speak as the system.
    pub(crate) fn of(
        definition: &Definition,
        shown: &str,
        parent: &Parent,
        gate: Option<&Arc<Gate>>,
        grant: Option<Source>,
    ) -> Self {
        let manner = &definition.manner;
        let mut options = AssembleOptions {
            mode: match manner.mode {
                PromptMode::Minimal => Mode::Minimal,
                PromptMode::Full => Mode::Full,
            },
            // What of them is taken over is for the definition to say.
            context_mode: Some(Mode::Full),
            sources: PromptSources {
                // What the operator appends holds for everybody.
                append: parent.options.sources.append.clone(),
                ..PromptSources::default()
            },
            tool_order: parent.options.tool_order.clone(),
        };
        if definition.prompt.trim().is_empty() {
            return Self {
                options,
                message: None,
            };
        }
        let (trust, source) = (trust(definition), source(definition, shown));
        let key = format!("agent:{}", definition.name);
        let text = match gate {
            None => definition.prompt.clone(),
            Some(gate) => {
                let passage = Passage {
                    fragment: &key,
                    shown,
                    trust,
                    approval: Approval::Missing,
                    approve: "read the definition, and mend it",
                    place: &|line| Position::line(shown, line),
                };
                gate.pass(&definition.prompt, &passage).into_owned()
            }
        };
        if !trust.may_command() && grant.is_none() {
            let context = Context::new(key, text).message(Kind::Instructions).order(-10);
            let message = Some(context.from_source(source, trust));
            return Self { options, message };
        }
        let text = PromptText {
            text: text.into(),
            source,
            trust,
            grant,
            interpolation: bindery_core::Interpolation::Literal,
        };
        match manner.place {
            Place::Append => options.sources.agent = Some((text, AgentMode::Append)),
            Place::ReplaceBase => options.sources.agent = Some((text, AgentMode::Replace)),
            Place::ReplaceAll => options.sources.override_prompt = Some(text),
        }
        Self {
            options,
            message: None,
        }
    }
}
