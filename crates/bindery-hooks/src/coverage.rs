//! What no hook and no gate looks at.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::event::Event;
use crate::gate::{Action, Gates};
use crate::settings::Hooks;

/// Something that happens, and who looks at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Covered {
    /// A tool, or an event.
    pub what: String,
    /// Where the hooks that run are declared.
    pub hooks: Vec<String>,
    /// The gates that can keep it back, by name.
    pub gates: Vec<String>,
}

/// Who looks at what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Tools, by name, before they run.
    pub tools: Vec<Covered>,
    /// Every other event.
    pub events: Vec<Covered>,
}

impl Covered {
    /// Whether nobody looks.
    pub fn is_open(&self) -> bool {
        self.hooks.is_empty() && self.gates.is_empty()
    }
}

/// Who looks at each of `tools` and at each event. A gate counts for a tool if it keeps a call of it back on
/// some path.
pub fn coverage(hooks: &Hooks, gates: &Gates, tools: &[String]) -> Coverage {
    let tool = |name: &String| Covered {
        what: name.clone(),
        hooks: declared(hooks, Event::PreToolUse, name),
        gates: gates_of(gates, name),
    };
    let others = Event::ALL.into_iter().filter(|event| *event != Event::PreToolUse);
    let event = |event: Event| Covered {
        what: event.name().to_owned(),
        hooks: match event.matched() {
            // Some value or other of the event has a hook.
            Some(_) => all(hooks, event),
            None => declared(hooks, event, ""),
        },
        gates: stopping(gates, event),
    };
    Coverage {
        tools: tools.iter().map(tool).collect(),
        events: others.map(event).collect(),
    }
}

fn declared(hooks: &Hooks, event: Event, value: &str) -> Vec<String> {
    let of = hooks.of(event, value);
    of.iter().map(|hook| hook.declared.clone()).collect()
}

fn all(hooks: &Hooks, event: Event) -> Vec<String> {
    let of = hooks.iter().filter(|hook| hook.event == event);
    of.map(|hook| hook.declared.clone()).collect()
}

fn gates_of(gates: &Gates, tool: &str) -> Vec<String> {
    let nothing: Map<String, Value> = Map::new();
    let action = Action::Tool {
        name: tool,
        input: &nothing,
        cwd: "/",
        root: "/",
    };
    let named = gates.refusing(action, |_| false);
    named.iter().map(|(gate, _)| gate.name.clone()).collect()
}

fn stopping(gates: &Gates, event: Event) -> Vec<String> {
    let stops = gates
        .gates
        .iter()
        .filter(|gate| gate.stop && event == Event::Stop);
    stops.map(|gate| gate.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Contract, Owner, parse};

    #[test]
    fn a_tool_of_a_server_that_nobody_looks_at_is_listed() {
        let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "x"}]}]}});
        let (hooks, _) = parse(Contract::Claude, Owner::User, "settings.json", &settings);
        let gate =
            json!({"gate": [{"name": "g", "require": "a", "tools": "edit"}, {"require": "b", "stop": true}]});
        let gates = Gates::parse(Owner::User, "bindery.toml", &gate).unwrap();
        let tools = ["shell", "edit", "mcp__mail__send"].map(str::to_owned);
        let coverage = coverage(&hooks, &gates, &tools);
        let open: Vec<&str> = coverage
            .tools
            .iter()
            .filter(|one| one.is_open())
            .map(|one| one.what.as_str())
            .collect();
        assert_eq!(open, ["mcp__mail__send"]);
        let stop = coverage.events.iter().find(|one| one.what == "Stop");
        assert_eq!(stop.map(|one| one.gates.clone()), Some(vec!["b".to_owned()]));
        assert!(
            coverage
                .events
                .iter()
                .any(|one| one.what == "SubagentStop" && one.is_open())
        );
    }
}
