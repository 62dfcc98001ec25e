//! What is known of agents, as data: how they call themselves, what names their sessions, and what to set so
//! that they go through a gateway.

use hyper::HeaderMap;
use hyper::header::USER_AGENT;
use serde::Deserialize;

/// The table that is built in, and its name in messages.
const BUILT_IN: (&str, &str) = (
    "crates/bindery-gateway/agents.toml",
    include_str!("../agents.toml"),
);

/// The longest name that is taken over from a program that the table does not know.
const LONGEST_NAME: usize = 40;

/// The table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agents {
    #[expect(dead_code, reason = "read to be refused if it is missing; one version exists")]
    version: u32,
    #[expect(dead_code, reason = "for the reader of the file")]
    read: String,
    headers: Headers,
    agent: Vec<Agent>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Headers {
    kept: Vec<String>,
    session: Vec<String>,
}

/// An agent, or an SDK.
#[derive(Debug, Clone, Deserialize)]
pub struct Agent {
    /// Its name.
    pub name: String,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(rename = "user_agent")]
    calls_itself: Vec<String>,
    #[serde(flatten)]
    setting: Setting,
    /// What else to know.
    pub note: Option<String>,
    /// Where this is from.
    pub source: String,
}

/// What to set.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "form", rename_all = "lowercase")]
pub enum Setting {
    /// Variables of the environment: name and value.
    Shell {
        /// In their order. `{base}` stands for the gateway's address.
        set: Vec<(String, String)>,
    },
    /// Lines of a file.
    File {
        /// The file.
        file: String,
        /// The lines. `{base}` stands for the gateway's address.
        text: String,
    },
}

/// A table that cannot be read, or an agent that it does not have.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// It is not the TOML it should be.
    #[error("{file}: {error}")]
    Toml {
        /// The file.
        file: &'static str,
        /// What is wrong, with line and column.
        error: Box<toml::de::Error>,
    },
    /// No such agent.
    #[error(
        "unknown agent `{name}`; known are: {known}. Any other goes through the gateway by its setting for the \
         base URL"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}

impl Agents {
    /// The table that is built in.
    ///
    /// # Errors
    ///
    /// None that a released build can have: a test reads it.
    pub fn built_in() -> Result<Self, AgentError> {
        let (file, text) = BUILT_IN;
        toml::from_str(text).map_err(|error| AgentError::Toml {
            file,
            error: Box::new(error),
        })
    }

    /// The names, in the table's order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.agent.iter().map(|agent| agent.name.as_str())
    }

    /// The agent of a name.
    pub fn named(&self, name: &str) -> Result<&Agent, AgentError> {
        let is = |agent: &&Agent| agent.name == name || agent.aliases.iter().any(|alias| alias == name);
        self.agent.iter().find(is).ok_or_else(|| AgentError::Unknown {
            name: name.to_owned(),
            known: self.names().collect::<Vec<_>>().join(", "),
        })
    }

    /// Who sends these headers: `claude-code/2.1.197`. Programs that the table does not know keep the name they
    /// give themselves.
    pub(crate) fn client(&self, headers: &HeaderMap) -> Option<String> {
        let said = headers.get(USER_AGENT)?.to_str().ok()?;
        for agent in &self.agent {
            let rest = agent
                .calls_itself
                .iter()
                .find_map(|begins| said.strip_prefix(&**begins));
            if let Some(rest) = rest {
                let version = first_word(rest);
                return Some(if version.is_empty() {
                    agent.name.clone()
                } else {
                    format!("{}/{version}", agent.name)
                });
            }
        }
        let name: String = first_word(said).chars().take(LONGEST_NAME).collect();
        (!name.is_empty()).then_some(name)
    }

    /// The session that headers name.
    pub(crate) fn session<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let named = self
            .headers
            .session
            .iter()
            .filter_map(|name| headers.get(name)?.to_str().ok());
        named.map(str::trim).find(|value| !value.is_empty())
    }

    /// The headers that are kept, by lower-case name.
    pub(crate) fn kept<'h>(&self, headers: &'h HeaderMap) -> impl Iterator<Item = (&'h str, &'h str)> {
        headers
            .iter()
            .filter(|(name, _)| self.headers.kept.iter().any(|kept| kept == name.as_str()))
            .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
    }
}

impl Agent {
    /// What to set so that it goes through the gateway at `base` (`http://127.0.0.1:8484`).
    pub fn setting(&self, base: &str) -> Setting {
        let fill = |text: &String| text.replace("{base}", base);
        match &self.setting {
            Setting::Shell { set } => Setting::Shell {
                set: set
                    .iter()
                    .map(|(name, value)| (name.clone(), fill(value)))
                    .collect(),
            },
            Setting::File { file, text } => Setting::File {
                file: file.clone(),
                text: fill(text).trim_start().to_owned(),
            },
        }
    }
}

fn first_word(text: &str) -> &str {
    text.split([' ', ';', '(']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn who_asks_is_told_by_the_user_agent() {
        let agents = Agents::built_in().unwrap();
        let client = |said: &str| agents.client(&headers(&[("user-agent", said)])).unwrap();
        assert_eq!(
            client("claude-cli/2.1.197 (external, sdk-cli)"),
            "claude-code/2.1.197"
        );
        assert_eq!(
            client("codex_exec/0.171.0 (Debian; x86_64) xterm"),
            "codex/0.171.0"
        );
        assert_eq!(client("OpenAI/Python 2.9.0"), "openai-sdk/2.9.0");
        assert_eq!(client("curl/8.5.0"), "curl/8.5.0");
        assert_eq!(agents.client(&headers(&[])), None);
    }

    #[test]
    fn only_headers_of_the_list_are_kept() {
        let agents = Agents::built_in().unwrap();
        let sent = headers(&[
            ("authorization", "Bearer sk-made-up"),
            ("x-api-key", "sk-made-up"),
            ("cookie", "a=b"),
            ("anthropic-beta", "x"),
            ("x-new-token", "sk-made-up"),
            ("session_id", "s-1"),
        ]);
        let kept: Vec<&str> = agents.kept(&sent).map(|(name, _)| name).collect();
        assert_eq!(kept, ["anthropic-beta", "session_id"]);
        assert_eq!(agents.session(&sent), Some("s-1"));
    }

    #[test]
    fn every_agent_says_what_to_set() {
        let agents = Agents::built_in().unwrap();
        for agent in &agents.agent {
            let said = match agent.setting("http://127.0.0.1:8484") {
                Setting::Shell { set } => format!("{set:?}"),
                Setting::File { text, .. } => text,
            };
            assert!(said.contains("http://127.0.0.1:8484"), "{}", agent.name);
        }
        assert!(agents.named("claude").is_ok());
        let error = agents.named("x").unwrap_err().to_string();
        assert!(error.contains("litellm, openai-sdk"), "{error}");
    }
}
