//! Prompts from outside the composition: launch flags, agent and coordinator prompts.
//!
//! Highest first: `override` (the whole system prompt) → `coordinator` → `agent` → `custom` →
//! the default composition → `append`, which always comes last. Override and coordinator are
//! exclusive: they leave no room for an agent's, a custom or the default prompt. An override is
//! all there is: it leaves out `append` as well.

use std::sync::Arc;

use crate::assembly::{SectionItem, Shadowed};
use crate::registry::Interpolation;
use crate::{Authority, Group, Source, Text, Trust};

/// A prompt with its provenance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptText {
    /// The text, taken literally unless [`PromptText::interpolation`] says otherwise.
    pub text: Text,
    /// Where it came from.
    pub source: Source,
    /// How far that is trusted.
    pub trust: Trust,
    /// The flag or setting by which an operator named it, for text that its trust would not let command.
    pub grant: Option<Source>,
    /// Whether variables are replaced in it.
    pub interpolation: Interpolation,
}

/// What an agent's prompt does to the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AgentMode {
    /// It takes the default's place.
    #[default]
    Replace,
    /// It follows the default: for proactive agents, which keep the main agent's instructions.
    Append,
}

/// What a custom prompt does to the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CustomMode {
    /// It takes the default's place, as the clients do.
    #[default]
    Replace,
    /// It follows the default's static part.
    Extend,
}

/// All prompts from outside.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptSources {
    /// The whole system prompt.
    pub override_prompt: Option<PromptText>,
    /// A coordinator's prompt.
    pub coordinator: Option<PromptText>,
    /// An agent's prompt.
    pub agent: Option<(PromptText, AgentMode)>,
    /// A custom prompt (`--system-prompt`).
    pub custom: Option<(PromptText, CustomMode)>,
    /// Always last (`--append-system-prompt`), in the order given.
    pub append: Vec<PromptText>,
}

/// Orders of prompt-source sections. Bases stand first in the static group; what extends the default
/// follows everything else in its group.
const BASE: i32 = i32::MIN;
const EXTENSION: i32 = i32::MAX;

impl PromptSources {
    /// The source that decides the base, if the default composition is not it.
    fn base(&self) -> Option<(&'static str, &PromptText)> {
        if let Some(text) = &self.override_prompt {
            return Some(("override", text));
        }
        if let Some(text) = &self.coordinator {
            return Some(("coordinator", text));
        }
        match (&self.agent, &self.custom) {
            (Some((text, AgentMode::Replace)), _) => Some(("agent", text)),
            (_, Some((text, CustomMode::Replace))) => Some(("custom", text)),
            _ => None,
        }
    }

    /// Why the default composition takes no part, if it does not.
    pub(crate) fn replaces_default(&self) -> Option<&'static str> {
        Some(match self.base()?.0 {
            "override" => "the override prompt is the whole system prompt",
            "coordinator" => "the coordinator prompt replaces the default",
            "agent" => "the agent's prompt replaces the default",
            _ => "the custom system prompt replaces the default",
        })
    }

    /// The sections that prompt sources contribute.
    pub(crate) fn sections(&self) -> Vec<SectionItem> {
        let base = self.base();
        let mut out: Vec<SectionItem> = base
            .iter()
            .map(|(name, text)| item(format!("prompt:{name}"), Group::Static, BASE, text))
            .collect();
        if matches!(base, Some(("override", _))) {
            return out;
        }
        if !matches!(base, Some(("coordinator" | "agent", _))) {
            if let Some((text, CustomMode::Extend)) = &self.custom {
                out.push(item("prompt:custom".into(), Group::Static, EXTENSION, text));
            }
            if let Some((text, AgentMode::Append)) = &self.agent {
                out.push(item("prompt:agent".into(), Group::Appended, BASE, text));
            }
        }
        for (index, text) in self.append.iter().enumerate() {
            out.push(item(
                format!("prompt:append.{index:04}"),
                Group::Appended,
                EXTENSION,
                text,
            ));
        }
        out.retain(|item| !item.text.trim().is_empty());
        out
    }

    /// The prompts that were given and do not take part.
    pub(crate) fn shadowed(&self) -> Vec<Shadowed> {
        let Some((base, _)) = self.base() else {
            return Vec::new();
        };
        let rank = |name: &str| {
            ["override", "coordinator", "agent", "custom"]
                .iter()
                .position(|n| *n == name)
        };
        let given = [
            ("coordinator", self.coordinator.is_some()),
            ("agent", self.agent.is_some()),
            ("custom", self.custom.is_some()),
        ];
        let mut out: Vec<&str> = given
            .iter()
            .filter(|(name, given)| *given && rank(name) > rank(base))
            .map(|(name, _)| *name)
            .collect();
        // A proactive agent's prompt follows a custom base, and an extending custom prompt has nothing
        // to extend once an agent's prompt is the base.
        if base == "override" && !self.append.is_empty() {
            out.push("append");
        }
        out.into_iter()
            .map(|name| Shadowed {
                what: "prompt source",
                name: Arc::from(name),
                reason: format!("the {base} prompt takes precedence"),
            })
            .collect()
    }
}

fn item(key: String, group: Group, order: i32, prompt: &PromptText) -> SectionItem {
    SectionItem {
        key: key.into(),
        group,
        order,
        authority: Authority::System,
        trust: prompt.trust,
        source: prompt.source.clone(),
        grant: prompt.grant.clone(),
        interpolation: prompt.interpolation,
        complete: false,
        text: prompt.text.clone(),
    }
}

#[cfg(test)]
mod tests;
