//! Prompts from outside the composition: launch flags, agent and coordinator prompts.
//!
//! Highest first: `override` (the whole system prompt) → `coordinator` → `agent` → `custom` →
//! the default composition → `append`, which always comes last; `developer` text keeps its own authority
//! beside them all. Override and coordinator are
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
    /// Speaks as the developer, whatever the base is: `developer_instructions`. It stands at the head of the
    /// dynamic group.
    pub developer: Option<PromptText>,
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

    /// The sections that prompt sources contribute: those that stand before everything registered in
    /// their group, and those that follow it.
    pub(crate) fn sections(&self) -> (Vec<SectionItem>, Vec<SectionItem>) {
        let mut first = Vec::new();
        let mut last = Vec::new();
        for given in self.given().iter().filter(|given| given.left_out.is_none()) {
            match given.place {
                Place::Base => first.push(given.item(Group::Static, BASE)),
                Place::Developer => {
                    let mut item = given.item(Group::Dynamic, BASE);
                    item.authority = Authority::Developer;
                    first.push(item);
                }
                Place::AfterDefault => last.push(given.item(Group::Static, EXTENSION)),
                Place::BeforeAppended => first.push(given.item(Group::Appended, BASE)),
                Place::Last => last.push(given.item(Group::Appended, EXTENSION)),
            }
        }
        (first, last)
    }

    /// The prompts that were given and do not take part.
    pub(crate) fn shadowed(&self) -> Vec<Shadowed> {
        let given = self.given().into_iter();
        given
            .filter_map(|given| {
                Some(Shadowed::new(
                    WHAT,
                    given.name.clone(),
                    given.left_out.as_deref()?,
                ))
            })
            .collect()
    }

    /// All prompts that were given, when something else leaves no room for any.
    pub(crate) fn all_shadowed_by(&self, reason: &str) -> Vec<Shadowed> {
        let given = self.given().into_iter();
        given
            .map(|given| Shadowed::new(WHAT, given.name, given.left_out.as_deref().unwrap_or(reason)))
            .collect()
    }

    /// Every prompt that was given, highest first, with its fate.
    fn given(&self) -> Vec<Given<'_>> {
        let base = self.base().map(|(name, _)| name);
        let mut out = Vec::new();
        let mut give = |name: String, text, place| {
            let left_out = left_out(&name, text, place, base);
            out.push(Given {
                name: name.into(),
                text,
                place,
                left_out,
            });
        };
        if let Some(text) = &self.override_prompt {
            give("override".to_owned(), text, Place::Base);
        }
        if let Some(text) = &self.coordinator {
            give("coordinator".to_owned(), text, Place::Base);
        }
        if let Some((text, mode)) = &self.agent {
            let place = match mode {
                AgentMode::Replace => Place::Base,
                AgentMode::Append => Place::BeforeAppended,
            };
            give("agent".to_owned(), text, place);
        }
        if let Some((text, mode)) = &self.custom {
            let place = match mode {
                CustomMode::Replace => Place::Base,
                CustomMode::Extend => Place::AfterDefault,
            };
            give("custom".to_owned(), text, place);
        }
        if let Some(text) = &self.developer {
            give("developer".to_owned(), text, Place::Developer);
        }
        for (index, text) in self.append.iter().enumerate() {
            give(format!("append.{index:04}"), text, Place::Last);
        }
        out
    }
}

/// What reports call a prompt from outside.
const WHAT: &str = "prompt source";

/// A prompt that was given, and what becomes of it.
struct Given<'a> {
    name: Arc<str>,
    text: &'a PromptText,
    place: Place,
    /// Why it takes no part, if it does not.
    left_out: Option<String>,
}

/// Where a prompt from outside stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the default's place.
    Base,
    /// At the head of the dynamic group, as the developer.
    Developer,
    /// After the default's static part.
    AfterDefault,
    /// At the head of the appended group.
    BeforeAppended,
    /// After everything.
    Last,
}

/// Why a prompt takes no part beside the one that decides the base.
fn left_out(name: &str, prompt: &PromptText, place: Place, base: Option<&str>) -> Option<String> {
    let takes_part = match (base, place) {
        (None, _) => true,
        (Some(base), Place::Base) => base == name,
        (Some(_), Place::AfterDefault) => false,
        (Some(base), Place::BeforeAppended) => base == "custom",
        (Some(base), Place::Last | Place::Developer) => base != "override",
    };
    if !takes_part {
        return Some(format!(
            "the {} prompt takes precedence",
            base.unwrap_or("default")
        ));
    }
    prompt.text.trim().is_empty().then(|| "it is empty".to_owned())
}

impl Given<'_> {
    fn item(&self, group: Group, order: i32) -> SectionItem {
        SectionItem {
            key: format!("prompt:{}", self.name).into(),
            group,
            order,
            authority: Authority::System,
            trust: self.text.trust,
            source: self.text.source.clone(),
            grant: self.text.grant.clone(),
            interpolation: self.text.interpolation,
            complete: false,
            text: self.text.text.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
