//! One entry: what each client's form of it means.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::expand::expand;
use super::files::{File, Form};
use super::{Asked, McpServer, Reach, directory};
use crate::hooks::Clients;
use crate::lock::ContextLock;
use crate::places::Places;

/// How long a server may take to begin, and a call, where nobody says otherwise.
const STARTUP: Duration = Duration::from_secs(20);
const CALL: Duration = Duration::from_mins(2);
/// The longest that a setting may ask for.
const LONGEST: f64 = 86_400.0;
/// The most variables that an entry may name.
const MOST_VARIABLES: usize = 64;

/// An entry as it is written: the keys of Claude Code (`type`, `headers`) and of Codex together. Ours has all.
#[derive(Deserialize)]
struct Written {
    #[serde(rename = "type", alias = "transport")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    env_vars: Vec<String>,
    cwd: Option<String>,
    url: Option<String>,
    #[serde(default, alias = "http_headers")]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    env_http_headers: BTreeMap<String, String>,
    bearer_token_env_var: Option<String>,
    startup_timeout_sec: Option<f64>,
    tool_timeout_sec: Option<f64>,
    #[serde(default = "yes")]
    enabled: bool,
    #[serde(default)]
    disabled: bool,
    enabled_tools: Option<Vec<String>>,
    #[serde(default)]
    disabled_tools: Vec<String>,
}

fn yes() -> bool {
    true
}

/// The keys that ours may have.
const OWN: [&str; 15] = [
    "args",
    "bearer_token_env_var",
    "command",
    "cwd",
    "disabled_tools",
    "enabled",
    "enabled_tools",
    "env",
    "env_http_headers",
    "env_vars",
    "headers",
    "startup_timeout_sec",
    "tool_timeout_sec",
    "type",
    "url",
];

/// Reads an entry; `None` where it is switched off.
pub(super) fn read(
    file: &File,
    name: &str,
    value: &Value,
    asked: &Asked<'_>,
) -> Result<Option<McpServer>, String> {
    if name.is_empty() || name.chars().count() > 64 || name.chars().any(char::is_control) {
        return Err("a name has 1 to 64 characters and none that control a terminal".to_owned());
    }
    let keys = value.as_object().ok_or("an entry is a table")?;
    if file.form == Form::Own
        && let Some(unknown) = keys.keys().find(|key| !OWN.contains(&key.as_str()))
    {
        let known = OWN.join(", ");
        let unknown = super::shown(unknown);
        return Err(format!("there is no key `{unknown}`; known are {known}"));
    }
    let written = Written::deserialize(value).map_err(|error| error.to_string())?;
    if !written.enabled || written.disabled {
        return Ok(None);
    }
    Ok(Some(McpServer {
        name: name.to_owned(),
        owner: file.owner,
        declared: file.shown.clone(),
        startup: seconds(written.startup_timeout_sec, STARTUP)?,
        call: seconds(written.tool_timeout_sec, CALL)?,
        reach: written.reach(file.form, asked)?,
        enabled_tools: written.enabled_tools,
        disabled_tools: written.disabled_tools,
    }))
}

/// Whether an entry can be used in some environment.
pub(super) fn check(file: &File, name: &str, value: &Value, places: &Places) -> Result<(), String> {
    let mut environment = BTreeMap::new();
    // Whatever variables it names are set, one after the other: each failure names the next.
    for _ in 0..MOST_VARIABLES {
        let asked = Asked {
            places,
            environment: &environment,
            clients: Clients::of_dialect("auto"),
            approvals: &ContextLock::default(),
            given: &[],
            given_alone: false,
        };
        let Err(why) = read(file, name, value, &asked) else {
            return Ok(());
        };
        let Some(variable) = unset(&why) else {
            return Err(why);
        };
        environment.insert(variable, "https://x.example".to_owned());
    }
    Ok(())
}

/// The variable that a failure names, where it is about one.
fn unset(why: &str) -> Option<String> {
    let (_, rest) = why.split_once('`')?;
    let (name, rest) = rest.split_once('`')?;
    let name = name
        .strip_prefix("${")
        .map_or(name, |name| name.trim_end_matches('}'));
    rest.starts_with(" is not set").then(|| name.to_owned())
}

fn seconds(written: Option<f64>, otherwise: Duration) -> Result<Duration, String> {
    match written {
        None => Ok(otherwise),
        Some(seconds) if seconds > 0.0 && seconds <= LONGEST => Ok(Duration::from_secs_f64(seconds)),
        Some(seconds) => Err(format!("{seconds} is no time in seconds up to {LONGEST}")),
    }
}

impl Written {
    fn reach(&self, form: Form, asked: &Asked<'_>) -> Result<Reach, String> {
        // Codex replaces nothing: it names variables in keys of their own.
        let value = |text: &str| match form {
            Form::Codex => Ok(text.to_owned()),
            Form::Claude | Form::Own => expand(text, asked.environment)
                .map_err(|name| format!("`${{{name}}}` is not set and has no default")),
        };
        let values = |table: &BTreeMap<String, String>| -> Result<BTreeMap<String, String>, String> {
            table
                .iter()
                .map(|(name, text)| Ok((name.clone(), value(text)?)))
                .collect()
        };
        match (self.kind.as_deref(), &self.command, &self.url) {
            (Some("sse"), ..) => Err(
                "the transport `sse` is not spoken; most servers that have it offer streamable HTTP (`http`), too"
                    .to_owned(),
            ),
            (Some("stdio") | None, Some(command), None) => {
                let mut env = values(&self.env)?;
                for name in &self.env_vars {
                    let set = asked.environment.get(name).cloned();
                    env.extend(set.map(|set| (name.clone(), set)));
                }
                Ok(Reach::Stdio {
                    command: value(command)?,
                    args: self.args.iter().map(|text| value(text)).collect::<Result<_, _>>()?,
                    env,
                    cwd: match &self.cwd {
                        None => None,
                        Some(cwd) => Some(directory(&asked.places.project, &value(cwd)?)),
                    },
                })
            }
            (Some("http" | "streamable-http" | "streamable_http") | None, None, Some(url)) => {
                let url = value(url)?;
                if !url.starts_with("https://") && !url.starts_with("http://") {
                    return Err("an address begins with https:// or http://".to_owned());
                }
                let mut headers = values(&self.headers)?;
                let variable = |name: &String| {
                    let set = asked.environment.get(name).cloned();
                    set.ok_or_else(|| format!("the variable `{name}` is not set"))
                };
                for (header, name) in &self.env_http_headers {
                    headers.insert(header.clone(), variable(name)?);
                }
                if let Some(name) = &self.bearer_token_env_var {
                    headers.insert("Authorization".to_owned(), format!("Bearer {}", variable(name)?));
                }
                Ok(Reach::Http { url, headers })
            }
            (Some(kind @ ("stdio" | "http" | "streamable-http" | "streamable_http")), ..) => {
                let wanted = if kind == "stdio" { "command" } else { "url" };
                Err(format!("a server of type `{kind}` has `{wanted}` and not the other one"))
            }
            (Some(other), ..) => Err(format!(
                "the type `{}` is not known; known are stdio and http",
                super::shown(other)
            )),
            (None, Some(_), Some(_)) => Err("it has `command` and `url`: which of them?".to_owned()),
            (None, None, None) => Err("it has neither `command` nor `url`".to_owned()),
        }
    }
}
