//! What the simulated provider says: a look around once a turn, then a sentence about it.

use serde::Deserialize;
use serde_json::Value;

use super::ask::{Ask, Choice, Tool};
use super::schema::instance;

/// How much of a prompt is said again.
const ECHO: usize = 120;

/// A part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// Text.
    Text(String),
    /// A call.
    Call(CallSaid),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallSaid {
    /// What tells it from other calls.
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) input: Input,
}

/// What a tool is given.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Input {
    /// JSON, by its schema.
    Json(Value),
    /// Plain text.
    Text(String),
}

impl Input {
    /// As it is written into a string.
    pub(super) fn written(&self) -> String {
        match self {
            Self::Json(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Which tools are called, with what.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallTable {
    #[expect(dead_code, reason = "read to be refused if it is missing; one version exists")]
    version: u32,
    call: Vec<CallRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallRow {
    tool: String,
    input: Option<Value>,
    text: Option<String>,
}

impl CallTable {
    pub(super) fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The answer to a request, the `number`th.
    pub(super) fn say(&self, ask: &Ask, number: u64) -> Vec<Said> {
        let call = match &ask.choice {
            Choice::Named(name) => ask.tools.iter().find(|tool| tool.name == *name).map(made_up),
            Choice::Any => self.look(ask).or_else(|| ask.tools.first().map(made_up)),
            Choice::Free if ask.prompt.is_some() && ask.most_tokens != Some(1) => self.look(ask),
            Choice::Free | Choice::None => None,
        };
        match call {
            Some((tool, input)) => vec![
                Said::Text("[simulated] Looking around.".to_owned()),
                Said::Call(CallSaid {
                    id: number,
                    name: tool.name.clone(),
                    namespace: tool.namespace.clone(),
                    input,
                }),
            ],
            None => vec![Said::Text(text(ask))],
        }
    }

    /// The first call of the table that the request offers.
    fn look<'a>(&self, ask: &'a Ask) -> Option<(&'a Tool, Input)> {
        self.call.iter().find_map(|row| {
            let input = match (&row.input, &row.text) {
                (Some(input), _) => Input::Json(input.clone()),
                (None, text) => Input::Text(text.clone()?),
            };
            let is_json = matches!(input, Input::Json(_));
            let fits = |tool: &&Tool| tool.name == row.tool && tool.schema.is_some() == is_json;
            Some((ask.tools.iter().find(fits)?, input))
        })
    }
}

/// A call that was demanded: its input is the smallest that its schema takes.
fn made_up(tool: &Tool) -> (&Tool, Input) {
    let input = match &tool.schema {
        Some(schema) => Input::Json(instance(schema)),
        None => Input::Text(String::new()),
    };
    (tool, input)
}

fn text(ask: &Ask) -> String {
    if let Some(schema) = &ask.schema {
        return instance(schema).to_string();
    }
    match (&ask.prompt, ask.returned) {
        (_, Some(bytes)) => format!(
            "[simulated] The tool returned {bytes} bytes. That is all that I, no real model, can say."
        ),
        (Some(prompt), None) => {
            let last = prompt
                .lines()
                .map(str::trim)
                .rfind(|line| !line.is_empty())
                .unwrap_or_default();
            let echo: String = last.chars().take(ECHO).collect();
            format!("[simulated] I am no real model. You said: {echo}")
        }
        (None, None) => "[simulated] I am no real model.".to_owned(),
    }
}
