//! What the simulated provider says: a look around once a turn, then a sentence about it.

use serde::Deserialize;
use serde_json::Value;

use super::ask::{Ask, Choice, Tool};
use super::schema::instance;

const BUILT_IN: &str = include_str!("../../sim.toml");

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
    pub(super) input: Value,
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
    input: Value,
}

impl CallTable {
    pub(super) fn built_in() -> Result<Self, toml::de::Error> {
        toml::from_str(BUILT_IN)
    }

    /// The answer to a request, the `number`th.
    pub(super) fn say(&self, ask: &Ask, number: u64) -> Vec<Said> {
        let call = match &ask.choice {
            Choice::None => None,
            Choice::Named(name) => ask.tools.iter().find(|tool| tool.name == *name).map(made_up),
            Choice::Any => self.look(ask).or_else(|| ask.tools.first().map(made_up)),
            Choice::Free if ask.prompt.is_some() && ask.most_tokens != Some(1) => self.look(ask),
            Choice::Free => None,
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
    fn look<'a>(&self, ask: &'a Ask) -> Option<(&'a Tool, Value)> {
        self.call.iter().find_map(|row| {
            let tool = ask.tools.iter().find(|tool| tool.name == row.tool)?;
            Some((tool, row.input.clone()))
        })
    }
}

/// A call that was demanded: its input is the smallest that its schema takes.
fn made_up(tool: &Tool) -> (&Tool, Value) {
    (tool, instance(&tool.schema))
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
