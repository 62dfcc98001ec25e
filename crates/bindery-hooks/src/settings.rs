//! Hooks as settings files declare them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{Contract, OnError};
use crate::event::Event;
use crate::limit::Over;
use crate::matcher::Matcher;
use crate::tool_name::Dialect;

/// One hook.
#[derive(Debug, Clone)]
pub struct Hook {
    /// When it runs.
    pub event: Event,
    /// For which values of the event.
    pub matcher: Matcher,
    /// What is run, by a shell without a profile.
    pub command: String,
    /// How long it may run, in milliseconds.
    pub timeout_ms: u64,
    /// What a failure comes to.
    pub on_error: OnError,
    /// Whose protocol it speaks.
    pub contract: Contract,
    /// Where it is declared: the file, and the place in it as a JSON Pointer.
    pub declared: String,
    /// How what it says to the model lives on.
    pub delivery: Delivery,
    /// What becomes of context over the limit.
    pub over: Over,
    /// Whether it runs in the first turn of a session only.
    pub first_turn: bool,
    /// Whose it is.
    pub owner: Owner,
}

/// Whose settings declare something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// The user's, outside of any repository.
    #[default]
    User,
    /// The repository's: it runs nothing before a person approved it.
    Project,
}

/// How a hook's context lives on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// It stays in the conversation where it came.
    #[default]
    Persistent,
    /// It is in the next request only, behind what is cached.
    Ephemeral,
}

/// All hooks, in the order of files and of declarations in them.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    hooks: Vec<Hook>,
}

/// Something in a settings file that no hook came of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The file, and the place in it as a JSON Pointer.
    pub at: String,
    /// What is wrong.
    pub message: String,
}

/// How long a hook may run if it does not say, in milliseconds. Claude Code documents a minute.
pub(crate) const TIMEOUT_MS: u64 = 60_000;
/// The longest a hook may ask for, in seconds.
const LONGEST_S: f64 = 3_600.0;

/// Seconds above zero as milliseconds, at most an hour; none for any other number.
pub(crate) fn milliseconds(seconds: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and an hour in milliseconds"
    )]
    let milliseconds = (seconds.min(LONGEST_S) * 1_000.0).ceil() as u64;
    (seconds > 0.0).then_some(milliseconds)
}

impl Hook {
    /// Whether a value of the event is meant, by this name or the one that the hook's client knows it by.
    fn is_for(&self, value: &str) -> bool {
        let known = match self.event.matched() {
            Some("tool_name") => Dialect::of(self.contract).tool(value),
            _ => value,
        };
        self.matcher.is_for(known) || self.matcher.is_for(value)
    }
}

impl Hooks {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Adds the hooks of another file behind these.
    pub fn extend(&mut self, other: Self) {
        self.hooks.extend(other.hooks);
    }

    /// Adds one hook.
    pub fn push(&mut self, hook: Hook) {
        self.hooks.push(hook);
    }

    /// Every hook.
    pub fn iter(&self) -> impl Iterator<Item = &Hook> {
        self.hooks.iter()
    }

    /// The hooks that an event runs; `value` is the field that its matchers look at, a tool by our name for
    /// it or its own. One command runs once, however often it is declared for the event.
    pub fn of(&self, event: Event, value: &str) -> Vec<&Hook> {
        let mut out: Vec<&Hook> = Vec::new();
        for hook in self.hooks.iter().filter(|hook| hook.event == event) {
            let is_for = event.matched().is_none() || hook.is_for(value);
            let known = |other: &Hook| other.command == hook.command && other.contract == hook.contract;
            if is_for && !out.iter().any(|other| known(other)) {
                out.push(hook);
            }
        }
        out
    }
}

/// The hooks of a settings file of Claude Code (`settings.json`) or Codex (`hooks.json`, or `config.toml` as
/// a value): `hooks` by event, each a list of matchers with their commands.
pub fn parse(contract: Contract, owner: Owner, file: &str, settings: &Value) -> (Hooks, Vec<Remark>) {
    let mut reader = Reader {
        contract,
        owner,
        file,
        hooks: Hooks::default(),
        remarks: Vec::new(),
    };
    if settings.get("disableAllHooks").and_then(Value::as_bool) == Some(true) {
        reader.remark("/disableAllHooks", "all hooks are switched off here");
        return (reader.hooks, reader.remarks);
    }
    match settings.get("hooks") {
        None | Some(Value::Null) => {}
        Some(Value::Object(events)) => {
            for (name, groups) in events {
                reader.event(name, groups);
            }
        }
        Some(_) => reader.remark("/hooks", "`hooks` is no table of events"),
    }
    (reader.hooks, reader.remarks)
}

struct Reader<'f> {
    contract: Contract,
    owner: Owner,
    file: &'f str,
    hooks: Hooks,
    remarks: Vec<Remark>,
}

impl Reader<'_> {
    fn remark(&mut self, at: &str, message: impl Into<String>) {
        self.remarks.push(Remark {
            at: format!("{}{at}", self.file),
            message: message.into(),
        });
    }

    fn event(&mut self, name: &str, groups: &Value) {
        let at = format!("/hooks/{}", name.replace('~', "~0").replace('/', "~1"));
        let event: Event = match name.parse() {
            Ok(event) => event,
            Err(error) => return self.remark(&at, error.to_string()),
        };
        let Some(groups) = groups.as_array() else {
            return self.remark(&at, "this is no list");
        };
        for (index, group) in groups.iter().enumerate() {
            self.group(event, group, &format!("{at}/{index}"));
        }
    }

    fn group(&mut self, event: Event, group: &Value, at: &str) {
        let written = group.get("matcher").and_then(Value::as_str).unwrap_or_default();
        let matcher = match Matcher::new(written) {
            Ok(matcher) => matcher,
            Err(error) => {
                return self.remark(
                    &format!("{at}/matcher"),
                    format!("{error}; these hooks never run"),
                );
            }
        };
        let Some(hooks) = group.get("hooks").and_then(Value::as_array) else {
            return self.remark(at, "there is no list `hooks`");
        };
        for (index, hook) in hooks.iter().enumerate() {
            self.hook(event, &matcher, hook, &format!("{at}/hooks/{index}"));
        }
    }

    fn hook(&mut self, event: Event, matcher: &Matcher, hook: &Value, at: &str) {
        match hook.get("type").and_then(Value::as_str) {
            Some("command") | None => {}
            Some(other) => {
                let message =
                    format!("a hook of type `{other}` is not run here; those of type `command` are");
                return self.remark(at, message);
            }
        }
        let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
        if command.trim().is_empty() {
            return self.remark(at, "there is no `command`");
        }
        let timeout_ms = self.timeout(hook, at);
        self.hooks.push(Hook {
            event,
            matcher: matcher.clone(),
            command: command.to_owned(),
            timeout_ms,
            on_error: OnError::Allow,
            contract: self.contract,
            declared: format!("{}{at}", self.file),
            delivery: Delivery::default(),
            over: Over::Reference,
            first_turn: false,
            owner: self.owner,
        });
    }

    /// Seconds in the file, milliseconds here.
    fn timeout(&mut self, hook: &Value, at: &str) -> u64 {
        let Some(written) = hook.get("timeout") else {
            return TIMEOUT_MS;
        };
        written.as_f64().and_then(milliseconds).unwrap_or_else(|| {
            let message = "the timeout is no number of seconds above zero; a minute is used";
            self.remark(&format!("{at}/timeout"), message);
            TIMEOUT_MS
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claude(settings: &Value) -> (Hooks, Vec<Remark>) {
        parse(Contract::Claude, Owner::User, "settings.json", settings)
    }

    #[test]
    fn hooks_are_found_by_event_and_matcher_in_order() {
        let (hooks, remarks) = claude(&json!({"hooks": {
            "PreToolUse": [
                {"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "a", "timeout": 5}]},
                {"hooks": [{"type": "command", "command": "b"}, {"type": "command", "command": "a"}]}
            ],
            "Stop": [{"matcher": "never looked at", "hooks": [{"type": "command", "command": "c"}]}]
        }}));
        assert_eq!(remarks, []);
        let commands = |event, value: &str| -> Vec<&str> {
            hooks
                .of(event, value)
                .iter()
                .map(|hook| hook.command.as_str())
                .collect()
        };
        assert_eq!(commands(Event::PreToolUse, "Bash"), ["a", "b"]);
        assert_eq!(commands(Event::PreToolUse, "mcp__mail__send"), ["b", "a"]);
        assert_eq!(commands(Event::Stop, ""), ["c"]);
        assert_eq!(commands(Event::SessionEnd, ""), [""; 0]);
        assert_eq!(hooks.iter().next().map(|hook| hook.timeout_ms), Some(5_000));
    }

    #[test]
    fn what_is_no_hook_is_told_with_its_place() {
        let (hooks, remarks) = claude(&json!({"hooks": {
            "PreToolUse": [
                {"matcher": "mcp__(", "hooks": [{"type": "command", "command": "a"}]},
                {"hooks": [{"type": "prompt", "prompt": "?"}, {"type": "command"}, {"command": "x", "timeout": -1}]},
                {}
            ],
            "BeforeTool": [], "Stop": {}
        }}));
        assert_eq!(hooks.iter().count(), 1);
        let told: Vec<String> = remarks
            .iter()
            .map(|one| format!("{}: {}", one.at, one.message))
            .collect();
        insta::assert_snapshot!(told.join("\n"));
        let (_, off) =
            claude(&json!({"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}));
        assert_eq!(off.len(), 1);
    }
}
