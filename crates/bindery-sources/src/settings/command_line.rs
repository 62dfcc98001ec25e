//! Settings from the command line: `-c KEY=VALUE` and flags.

use std::path::{Path, PathBuf};

use bindery_core::Mode;
use toml::de::DeValue;

use super::file::unknown;
use super::key::{self, Key};
use super::layer::{Layered, Origin, Rank};
use super::value::Value;
use crate::notice::{Notice, Position};
use crate::variants::Fixed;

/// A prompt given on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptFlag {
    /// The text itself.
    Text(String),
    /// The file that holds it (`…-file`).
    File(PathBuf),
}

/// Flags that set what settings files set, too. Flags that were not given are `None` or empty.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--provider`
    pub provider: Option<String>,
    /// `--model`
    pub model: Option<String>,
    /// `--mode`
    pub mode: Option<Mode>,
    /// `--agent`
    pub agent: Option<PathBuf>,
    /// `--system-prompt` or `--system-prompt-file`
    pub system_prompt: Option<PromptFlag>,
    /// `--append-system-prompt` or `--append-system-prompt-file`
    pub append_system_prompt: Option<PromptFlag>,
    /// `--instructions`
    pub instructions: Option<String>,
    /// `--grant`, repeatable. Any makes a list of its own, which takes the place of the configured one.
    pub grants: Vec<String>,
    /// `--max-tokens`
    pub max_tokens: Option<u64>,
    /// `--coordinator`
    pub coordinator: Option<PathBuf>,
    /// `--variant EXPERIMENT=NAME`, and the variants that a session has already.
    pub variants: Vec<Fixed>,
    /// Flags whose value is a word or a name, by their key: `--effort`, `--custom-mode`, …
    pub words: Vec<(Key, String)>,
}

/// The layer of the flags. Relative paths are taken from `cwd`.
pub(super) fn flags(flags: &Flags, cwd: &Path) -> Result<Layered, Vec<Notice>> {
    let mut out = FlagLayer {
        layer: Layered::default(),
        problems: Vec::new(),
    };
    out.text(Key::Provider, flags.provider.as_deref(), cwd);
    out.text(Key::Model, flags.model.as_deref(), cwd);
    out.text(Key::Instructions, flags.instructions.as_deref(), cwd);
    out.text(Key::Mode, flags.mode.map(|mode| mode.to_string()).as_deref(), cwd);
    for (key, word) in &flags.words {
        out.text(*key, Some(word), cwd);
    }
    for (key, file) in [(Key::Agent, &flags.agent), (Key::Coordinator, &flags.coordinator)] {
        if let Some(file) = file {
            out.set(key, Value::File(cwd.join(file)), key.flag());
        }
    }
    for (key, prompt) in [
        (Key::SystemPrompt, &flags.system_prompt),
        (Key::AppendSystemPrompt, &flags.append_system_prompt),
    ] {
        match prompt {
            None => {}
            Some(PromptFlag::Text(text)) => out.set(key, Value::Text(text.clone()), key.flag()),
            Some(PromptFlag::File(file)) => {
                out.set(key, Value::File(cwd.join(file)), format!("{}-file", key.flag()));
            }
        }
    }
    if !flags.grants.is_empty() {
        out.set(
            Key::Grants,
            Value::Names(flags.grants.clone()),
            "--grant".to_owned(),
        );
    }
    out.toml(
        Key::MaxTokens,
        flags.max_tokens.map(|count| count.to_string()).as_deref(),
        cwd,
    );
    if out.problems.is_empty() {
        Ok(out.layer)
    } else {
        Err(out.problems)
    }
}

struct FlagLayer {
    layer: Layered,
    problems: Vec<Notice>,
}

impl FlagLayer {
    fn set(&mut self, key: Key, value: Value, flag: String) {
        let origin = Origin {
            rank: Rank::Flag,
            at: Position::whole(flag),
        };
        self.layer.set(key, value, origin);
    }

    fn text(&mut self, key: Key, text: Option<&str>, cwd: &Path) {
        let (Some(info), Some(text)) = (key::by_name(key.name()), text) else {
            return;
        };
        match Value::from_text(info, text, cwd) {
            Ok(value) => self.set(key, value, key.flag()),
            Err(message) => self.problem(key, message),
        }
    }

    fn toml(&mut self, key: Key, text: Option<&str>, cwd: &Path) {
        let (Some(info), Some(text)) = (key::by_name(key.name()), text) else {
            return;
        };
        match interpret(info, text, cwd) {
            Ok(value) => self.set(key, value, key.flag()),
            Err(message) => self.problem(key, message),
        }
    }

    fn problem(&mut self, key: Key, message: String) {
        let mend = key::by_name(key.name()).map_or_else(String::new, key::KeyInfo::mend);
        self.problems
            .push(Notice::error("setting-value", Position::whole(key.flag()), message).mend(mend));
    }
}

/// The layer of all `-c KEY=VALUE`, each over the one before it.
pub(super) fn overrides(given: &[String], cwd: &Path) -> Result<Layered, Vec<Notice>> {
    let mut layer = Layered::default();
    let mut problems = Vec::new();
    for text in given {
        match one_override(text, cwd) {
            Ok((key, value)) => {
                let origin = Origin {
                    rank: Rank::Override,
                    at: Position::whole(format!("-c {key}")),
                };
                layer.set(key, value, origin);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        Ok(layer)
    } else {
        Err(problems)
    }
}

fn one_override(text: &str, cwd: &Path) -> Result<(Key, Value), Notice> {
    let at = || Position::whole(format!("-c {}", crate::visible::clipped(text, 60)));
    let Some((name, value)) = text.split_once('=') else {
        return Err(Notice::error("setting-syntax", at(), "there is no `=`")
            .mend("write -c KEY=VALUE, for example -c mode=minimal"));
    };
    let (name, value) = (name.trim(), value.trim());
    let (name, part) = match name.split_once('.') {
        Some((first, part)) if key::by_name(name).is_none() => (first, Some(part)),
        _ => (name, None),
    };
    let Some(info) = key::by_name(name) else {
        let (message, mend) = unknown(name);
        return Err(Notice::error("setting-unknown", at(), message).mend(mend));
    };
    let result = match part {
        None => interpret(info, value, cwd),
        Some("file") if info.shape == key::Shape::Prompt => {
            Ok(Value::File(cwd.join(value.trim_matches('"'))))
        }
        Some(part) => Err(format!(
            "`{name}` has no part `{}`",
            crate::visible::clipped(part, 60)
        )),
    };
    result
        .map(|value| (info.key, value))
        .map_err(|message| Notice::error("setting-value", at(), message).mend(info.mend()))
}

/// TOML if it is TOML of a fitting type; otherwise a bare text, so that quotation marks need not be
/// written where the shell already takes some.
fn interpret(info: &key::KeyInfo, text: &str, cwd: &Path) -> Result<Value, String> {
    let parsed = DeValue::parse(text).ok();
    let takes_text = matches!(
        info.shape,
        key::Shape::Name
            | key::Shape::Choice(_)
            | key::Shape::Strictness(_)
            | key::Shape::Prompt
            | key::Shape::File
    );
    match &parsed {
        Some(value) if !takes_text || value.get_ref().is_str() || value.get_ref().is_table() => {
            Value::from_toml(info, value.get_ref(), cwd)
        }
        _ => Value::from_text(info, text, cwd),
    }
}
