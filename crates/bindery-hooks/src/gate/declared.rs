//! Gates and states as `bindery.toml` declares them: `[[gate]]` and `[[state]]`.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::Value;

use super::{Expiry, Gate, Gates, Setter, State, When};
use crate::matcher::Matcher;
use crate::settings::Owner;

/// A table that is no gate and no state. A gate that cannot be read is an error, not a remark: whoever wrote
/// it relies on it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {why}")]
pub struct BadGate {
    /// The file, and the place in it as a JSON Pointer.
    pub at: String,
    /// What is wrong.
    pub why: String,
}

/// One text, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Several {
    One(String),
    Many(Vec<String>),
}

impl Several {
    fn list(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenGate {
    name: Option<String>,
    require: Several,
    tools: Option<String>,
    paths: Option<Several>,
    #[serde(default)]
    stop: bool,
    message: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenState {
    name: String,
    retrieve: Option<Several>,
    when: Option<When>,
    tool: Option<String>,
    input: Option<String>,
    paths: Option<Several>,
    expires: Option<WrittenExpiry>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenExpiry {
    Word(String),
    Tool(WrittenCall),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall {
    tools: String,
    paths: Option<Several>,
}

impl Gates {
    /// Reads the lists `gate` and `state` of a settings file.
    pub fn parse(owner: Owner, file: &str, settings: &Value) -> Result<Self, Vec<BadGate>> {
        let (mut gates, mut bad) = (Self::default(), Vec::new());
        for (at, table) in tables(file, settings, "gate", &mut bad) {
            match gate(owner, &at, table) {
                Ok(gate) => gates.gates.push(gate),
                Err(why) => bad.push(BadGate { at, why }),
            }
        }
        for (at, table) in tables(file, settings, "state", &mut bad) {
            match state(owner, &at, table) {
                Ok(state) => gates.states.push(state),
                Err(why) => bad.push(BadGate { at, why }),
            }
        }
        if bad.is_empty() { Ok(gates) } else { Err(bad) }
    }
}

fn tables<'v>(
    file: &str,
    settings: &'v Value,
    key: &str,
    bad: &mut Vec<BadGate>,
) -> Vec<(String, &'v Value)> {
    let list = match settings.get(key) {
        None => return Vec::new(),
        Some(Value::Array(list)) => list,
        Some(_) => {
            let (at, why) = (
                format!("{file}/{key}"),
                format!("`{key}` is no list; write [[{key}]] and the keys below it"),
            );
            bad.push(BadGate { at, why });
            return Vec::new();
        }
    };
    let place = |(index, table)| (format!("{file}/{key}/{index}"), table);
    list.iter().enumerate().map(place).collect()
}

fn gate(owner: Owner, at: &str, table: &Value) -> Result<Gate, String> {
    let written = WrittenGate::deserialize(table).map_err(|error| error.to_string())?;
    let require = written.require.list();
    if require.is_empty() || require.iter().any(|name| !is_name(name)) {
        return Err(
            "`require` names states: letters, digits, `.`, `_` and `-`, as `memory.loaded`".to_owned(),
        );
    }
    if written.tools.is_none() && written.paths.is_none() && !written.stop {
        return Err("it keeps nothing back: give `tools`, `paths`, or `stop = true`".to_owned());
    }
    Ok(Gate {
        name: written.name.unwrap_or_else(|| require.join(", ")),
        require,
        tools: written.tools.as_deref().map(matcher).transpose()?,
        paths: written.paths.map(globs).transpose()?,
        stop: written.stop,
        message: written.message,
        declared: at.to_owned(),
        owner,
    })
}

fn state(owner: Owner, at: &str, table: &Value) -> Result<State, String> {
    let written = WrittenState::deserialize(table).map_err(|error| error.to_string())?;
    if !is_name(&written.name) {
        let name: String = written.name.chars().take(60).collect();
        return Err(format!("`{name}` is no name: letters, digits, `.`, `_` and `-`"));
    }
    let set = match (written.retrieve, written.tool) {
        (Some(_), Some(_)) => return Err("`retrieve` and `tool` are two ways; declare one".to_owned()),
        (Some(files), None) => Setter::Retrieve {
            files: files.list(),
            when: written.when.unwrap_or_default(),
        },
        (None, Some(tool)) => Setter::Tool {
            tool: matcher(&tool)?,
            input: written.input.as_deref().map(expression).transpose()?,
            paths: written.paths.map(globs).transpose()?,
        },
        (None, None) => Setter::Hook,
    };
    let expires = match written.expires {
        None => Expiry::Session,
        Some(WrittenExpiry::Word(word)) => match word.as_str() {
            "session" => Expiry::Session,
            "turn" => Expiry::Turn,
            _ => return Err("`expires` is \"session\", \"turn\", or { tools = \"…\" }".to_owned()),
        },
        Some(WrittenExpiry::Tool(call)) => Expiry::Tool {
            tool: matcher(&call.tools)?,
            paths: call.paths.map(globs).transpose()?,
        },
    };
    Ok(State {
        name: written.name,
        set,
        expires,
        declared: at.to_owned(),
        owner,
    })
}

/// Names stand in text for the model, so they must not be sentences.
fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty() && name.chars().count() <= 128 && name.chars().all(is_letter)
}

fn matcher(written: &str) -> Result<Matcher, String> {
    Matcher::new(written).map_err(|error| error.to_string())
}

fn expression(written: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(written).size_limit(1 << 20).build();
    built.map_err(|error| format!("`{written}` is no regular expression: {error}"))
}

fn globs(written: Several) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in written.list() {
        let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
        set.add(glob.map_err(|error| error.to_string())?);
    }
    set.build().map_err(|error| error.to_string())
}
