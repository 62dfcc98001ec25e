//! Hooks as `bindery.toml` declares them: `[[hook]]`.

use serde::Deserialize;
use serde_json::Value;

use crate::answer::{Contract, OnError};
use crate::event::Event;
use crate::limit::Over;
use crate::matcher::Matcher;
use crate::settings::{Delivery, Hook, Hooks, Owner, Remark, TIMEOUT_MS, milliseconds};

/// A table of the list, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    event: String,
    command: String,
    #[serde(default)]
    matcher: String,
    timeout: Option<f64>,
    on_error: Option<OnError>,
    contract: Option<String>,
    #[serde(default)]
    delivery: Delivery,
    over: Option<Over>,
    #[serde(default)]
    first_turn: bool,
}

/// The hooks of a list. What is none is remarked upon with its place, and the others stand.
pub fn hooks(owner: Owner, file: &str, list: &Value) -> (Hooks, Vec<Remark>) {
    let (mut hooks, mut remarks) = (Hooks::default(), Vec::new());
    let Some(list) = list.as_array() else {
        let message = "`hook` is no list; write [[hook]] and the keys below it".to_owned();
        let at = format!("{file}/hook");
        return (hooks, vec![Remark { at, message }]);
    };
    for (index, table) in list.iter().enumerate() {
        let at = format!("{file}/hook/{index}");
        match hook(owner, &at, table) {
            Ok(hook) => hooks.push(hook),
            Err(message) => remarks.push(Remark { at, message }),
        }
    }
    (hooks, remarks)
}

fn hook(owner: Owner, at: &str, table: &Value) -> Result<Hook, String> {
    if !table.is_object() {
        return Err("this is no table; write [[hook]] and the keys below it".to_owned());
    }
    let written = Written::deserialize(table).map_err(|error| error.to_string())?;
    let event: Event = written
        .event
        .parse()
        .map_err(|error: crate::UnknownEvent| error.to_string())?;
    if written.command.trim().is_empty() {
        return Err("there is no `command`".to_owned());
    }
    let contract = match written.contract.as_deref() {
        None | Some("bindery") => Contract::Own,
        Some("claude") => Contract::Claude,
        Some("codex") => Contract::Codex,
        Some(other) => {
            let other: String = other.chars().take(60).collect();
            return Err(format!(
                "`{other}` is no contract; there are bindery, claude and codex"
            ));
        }
    };
    let timeout_ms = match written.timeout {
        None => TIMEOUT_MS,
        Some(seconds) => milliseconds(seconds).ok_or("`timeout` is no number of seconds above zero")?,
    };
    Ok(Hook {
        event,
        matcher: Matcher::new(&written.matcher).map_err(|error| error.to_string())?,
        command: written.command,
        timeout_ms,
        on_error: written.on_error.unwrap_or(OnError::Allow),
        contract,
        declared: at.to_owned(),
        delivery: written.delivery,
        over: written.over.unwrap_or(Over::Reference),
        first_turn: written.first_turn,
        owner,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_key_is_read_and_what_is_no_hook_is_told() {
        let list = json!([
            {"event": "UserPromptSubmit", "command": "recall", "timeout": 2, "on_error": "block",
             "delivery": "ephemeral", "over": "split", "first_turn": true},
            {"event": "PreToolUse", "command": "x", "matcher": "edit", "contract": "claude"},
            {"event": "Stop"},
            {"event": "Stop", "command": "x", "contract": "mine"},
            {"event": "Stop", "command": "x", "colour": "red"},
            {"event": "Stop", "command": "x", "timeout": 0},
            {"event": "Halt", "command": "x"},
            "x"
        ]);
        let (hooks, remarks) = hooks(Owner::Project, "bindery.toml", &list);
        let all: Vec<&Hook> = hooks.iter().collect();
        assert_eq!(all.len(), 2);
        assert_eq!(
            (all[0].timeout_ms, all[0].on_error, all[0].over, all[0].first_turn),
            (2_000, OnError::Block, Over::Split, true)
        );
        assert_eq!(
            (all[0].contract, all[1].contract),
            (Contract::Own, Contract::Claude)
        );
        let told: Vec<String> = remarks
            .iter()
            .map(|one| format!("{}: {}", one.at, one.message))
            .collect();
        insta::assert_snapshot!(told.join("\n"));
        assert_eq!(super::hooks(Owner::User, "f", &json!({})).1.len(), 1);
    }
}
