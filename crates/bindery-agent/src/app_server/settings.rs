//! Settings of a session: what an update comes to, and carrying it out.

use bindery_core::log::{Json, SettingChanged};
use bindery_core::{Context, Kind, Source, Trust};
use bindery_wire::Provider;
use serde_json::Value;

use super::protocol::{
    InjectedItem, ItemClass, Patch, SettingsUpdateParams, SettingsUpdateResult, ThreadSettings,
};
use super::refusal::Refusal;
use super::thread::{Open, Slot};
use crate::agent::Agent;

/// The setting of the log that keeps a session's settings.
const SETTINGS: &str = "thread.settings";
/// Before the number of an item that survives compactions.
const BASELINE: &str = "baseline:";
/// Settings with which a provider's cache starts anew. Each model has its own cache everywhere; what else is
/// part of the key is what the providers' pages say (`docs/cache.md`).
fn cache_key(provider: Provider) -> &'static [&'static str] {
    match provider {
        Provider::Anthropic => &["model", "effort"],
        Provider::OpenaiResponses | Provider::OpenaiChat => &["model", "effort", "tier"],
        Provider::Deepseek => &["model"],
    }
}

/// Settings that are kept, and that the provider's format has no field for.
fn not_sent(provider: Provider) -> &'static [&'static str] {
    match provider {
        Provider::Deepseek => &["effort", "tier"],
        Provider::Anthropic | Provider::OpenaiResponses | Provider::OpenaiChat => &[],
    }
}

impl ThreadSettings {
    /// What an agent begins with.
    pub(super) fn of(agent: &Agent) -> Self {
        Self {
            model: agent.params.model.clone(),
            max_tokens: agent.params.max_tokens,
            effort: agent.params.effort.clone(),
            tier: agent.params.tier.clone(),
            mode: None,
            developer_instructions: None,
            policy_version: None,
        }
    }

    fn patched(&self, update: &SettingsUpdateParams, began: &Self) -> Self {
        Self {
            model: update.model.clone().unwrap_or_else(|| self.model.clone()),
            max_tokens: match update.max_tokens {
                Patch::Keep => self.max_tokens,
                Patch::Clear => began.max_tokens,
                Patch::Set(most) => most,
            },
            effort: patched(&update.effort, self.effort.as_ref()),
            tier: patched(&update.tier, self.tier.as_ref()),
            mode: patched(&update.mode, self.mode.as_ref()),
            developer_instructions: patched(
                &update.developer_instructions,
                self.developer_instructions.as_ref(),
            ),
            policy_version: patched(&update.policy_version, self.policy_version.as_ref()),
        }
    }
}

fn patched(patch: &Patch<String>, before: Option<&String>) -> Option<String> {
    match patch {
        Patch::Keep => before.cloned(),
        Patch::Clear => None,
        Patch::Set(value) => Some(value.clone()),
    }
}

/// The names of fields that differ.
fn differing(before: &ThreadSettings, after: &ThreadSettings) -> Vec<String> {
    let object = |settings: &ThreadSettings| match serde_json::to_value(settings) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (before, after) = (object(before), object(after));
    let changed = after
        .iter()
        .filter(|(key, value)| before.get(*key) != Some(*value));
    changed.map(|(key, _)| key.clone()).collect()
}

impl Open {
    /// Takes an update; it is carried out at once where no turn runs.
    pub(super) fn update(&mut self, update: &SettingsUpdateParams) -> Result<SettingsUpdateResult, Refusal> {
        let after = self.settings.patched(update, &self.began);
        let changed = differing(&self.settings, &after);
        let among = |names: &[&str]| -> Vec<String> {
            let named = changed.iter().filter(|name| names.contains(&name.as_str()));
            named.cloned().collect()
        };
        let (changes_cache_key, not_sent) = (among(cache_key(self.provider)), among(not_sent(self.provider)));
        self.settings = after;
        self.changed |= !changed.is_empty();
        self.carry_out()?;
        Ok(SettingsUpdateResult {
            settings: self.settings.clone(),
            changed,
            changes_cache_key,
            not_sent,
        })
    }

    /// Takes items: into the conversation where no turn runs, else once it is over.
    pub(super) fn inject(&mut self, items: Vec<InjectedItem>) -> Result<(), Refusal> {
        self.waiting.extend(items);
        self.carry_out()
    }

    /// Carries out what was asked for while no turn runs.
    pub(super) fn carry_out(&mut self) -> Result<(), Refusal> {
        let Slot::Idle(agent) = &mut self.slot else {
            return Ok(());
        };
        if std::mem::take(&mut self.changed) {
            apply(agent, &self.settings);
            record(agent, SETTINGS, &self.settings)?;
            self.policy = None;
            let text = self
                .settings
                .developer_instructions
                .as_deref()
                .unwrap_or_default();
            self.policy = register(agent, text, self.settings.mode.as_deref())?;
        }
        for item in std::mem::take(&mut self.waiting) {
            match item.class {
                ItemClass::Note => note(agent, &item.text)?,
                ItemClass::Baseline => {
                    let name = format!("{BASELINE}{}", agent.state().next_seq());
                    record(agent, &name, &item.text)?;
                    self.baseline.push(baseline(agent, &name, &item.text)?);
                }
            }
        }
        Ok(())
    }

    /// Instructions for one turn in place of those of the settings; `None` brings these back.
    pub(super) fn instruct(&mut self, text: Option<&str>) -> Result<(), Refusal> {
        let Slot::Idle(agent) = &mut self.slot else {
            return Ok(());
        };
        self.policy = None;
        let mode = self.settings.mode.as_deref();
        let text = text.or(self.settings.developer_instructions.as_deref());
        self.policy = register(agent, text.unwrap_or_default(), mode)?;
        Ok(())
    }

    /// What the log says of settings and items of a session that goes on.
    pub(super) fn restore(&mut self) -> Result<(), Refusal> {
        let Slot::Idle(agent) = &mut self.slot else {
            return Ok(());
        };
        let kept = agent.state().settings().clone();
        if let Some(settings) = kept
            .get(SETTINGS)
            .and_then(|json| serde_json::from_str(json.as_str()).ok())
        {
            self.settings = settings;
            apply(agent, &self.settings);
            let text = self
                .settings
                .developer_instructions
                .as_deref()
                .unwrap_or_default();
            self.policy = register(agent, text, self.settings.mode.as_deref())?;
        }
        for (name, json) in kept.iter().filter(|(name, _)| name.starts_with(BASELINE)) {
            if let Ok(text) = serde_json::from_str::<String>(json.as_str()) {
                self.baseline.push(baseline(agent, name, &text)?);
            }
        }
        Ok(())
    }
}

/// Settings that requests say.
fn apply(agent: &mut Agent, settings: &ThreadSettings) {
    agent.params.model.clone_from(&settings.model);
    agent.params.max_tokens = settings.max_tokens;
    agent.params.effort.clone_from(&settings.effort);
    agent.params.tier.clone_from(&settings.tier);
}

fn record(agent: &mut Agent, name: &str, value: &impl serde::Serialize) -> Result<(), Refusal> {
    let value = serde_json::to_value(value).map_err(Refusal::failed)?;
    let changed = SettingChanged {
        name: name.into(),
        value: Some(Json::new(&value)),
        source: source(),
    };
    let committed = agent.commit(vec![changed.into()]);
    committed.map(drop).map_err(|error| Refusal::of_store(&error))
}

fn source() -> Source {
    Source::Plugin {
        name: "app-server".into(),
    }
}

/// The instructions of a mode travel in the snapshot of the runtime context: an update is said again, and no
/// byte before it changes.
fn register(
    agent: &Agent,
    text: &str,
    mode: Option<&str>,
) -> Result<Option<bindery_core::Registration>, Refusal> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let text = match mode {
        Some(mode) => format!("Mode: {mode}\n\n{text}"),
        None => text.to_owned(),
    };
    let context = Context::new("mode-instructions", text).order(5).literal();
    let context = context.from_source(source(), Trust::Operator).literal();
    agent
        .session
        .scope()
        .context(context)
        .map(Some)
        .map_err(Refusal::failed)
}

/// An item that survives compactions is a context with a message of its own: what is gone from the
/// conversation is said again.
fn baseline(agent: &Agent, name: &str, text: &str) -> Result<bindery_core::Registration, Refusal> {
    let context = Context::new(name, text.to_owned())
        .message(Kind::Instructions)
        .order(2000);
    let context = context.from_source(source(), Trust::Operator).literal();
    agent.session.scope().context(context).map_err(Refusal::failed)
}

fn note(agent: &mut Agent, text: &str) -> Result<(), Refusal> {
    let key = format!("message:{}.0", agent.state().next_seq());
    let fragment = agent.foreign(key, Kind::Document, Trust::Operator, source(), text);
    let message = bindery_core::Message::text(bindery_core::Role::User, vec![fragment]).meta();
    agent.inject(message).map_err(|error| Refusal::of_store(&error))
}
