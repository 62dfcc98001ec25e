//! Hooks and gates as settings files declare them, and which of them may run.
//!
//! One reader for everybody: `bindery lock` approves what this reads, and sessions run what this lets
//! through. A hook of the user's runs. A hook of the repository's is a command by somebody else: it runs once
//! exactly its bytes were approved. A gate runs nothing and can only keep things back, so a repository's
//! holds without approval.

mod files;

use std::collections::BTreeMap;

use bindery_hooks::{Contract, Gates, Hooks, Owner, Remark, declared_hooks, parse};
use serde_json::Value;

use crate::lock::{ContextLock, Key};
use crate::notice::{Notice, Position, Refused};
use crate::places::Places;

pub(crate) use files::{File, json, of_project, toml};

/// Which clients' hooks are run beside our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clients {
    /// Claude Code's.
    pub claude: bool,
    /// Codex's.
    pub codex: bool,
}

impl Clients {
    /// Those whose dialect of instructions is read: with `auto` both, with any other neither.
    pub fn of_dialect(name: &str) -> Self {
        let is = |client: &str| name == "auto" || name == client || name.starts_with(&format!("{client}@"));
        Self {
            claude: is("claude"),
            codex: is("codex"),
        }
    }

    fn has(self, contract: Contract) -> bool {
        match contract {
            Contract::Claude => self.claude,
            Contract::Codex => self.codex,
            Contract::Own => true,
        }
    }
}

/// What is declared here.
#[derive(Debug, Clone, Default)]
pub struct Declared {
    /// The hooks that run.
    pub hooks: Hooks,
    /// The gates that hold.
    pub gates: Gates,
    /// Hooks of the repository that do not run: nobody approved them as they are.
    pub waiting: Vec<Key>,
    /// What was skipped, and why.
    pub notices: Vec<Notice>,
}

/// Reads every settings file. A gate that cannot be read is a refusal; all else is a notice.
pub fn declared(
    places: &Places,
    environment: &BTreeMap<String, String>,
    clients: Clients,
    approvals: &ContextLock,
) -> Result<Declared, Refused> {
    let (files, notices) = files::read(places, environment);
    let mut out = Declared {
        notices,
        ..Declared::default()
    };
    let mut bad = Vec::new();
    for file in files.iter().filter(|file| clients.has(file.contract)) {
        out.add_hooks(file, approvals);
        if file.contract == Contract::Own {
            match Gates::parse(file.owner, &file.shown, &file.value) {
                Ok(gates) => out.gates.extend(gates),
                Err(errors) => bad.extend(errors.into_iter().map(|error| {
                    Notice::error("gate-unreadable", Position::whole(error.at), error.why)
                        .mend("mend the table, or remove it: a gate that is not understood would not hold")
                })),
            }
        }
    }
    for (gate, state) in out.gates.undeclared() {
        let message = format!(
            "the gate `{}` requires `{state}`, which no [[state]] declares",
            gate.name
        );
        let notice = Notice::note(
            "state-undeclared",
            Position::whole(gate.declared.as_str()),
            message,
        );
        out.notices
            .push(notice.mend("only a hook that answers with `set` can set it; declare it otherwise"));
    }
    if bad.is_empty() {
        Ok(out)
    } else {
        Err(Refused(bad))
    }
}

impl Declared {
    fn add_hooks(&mut self, file: &File, approvals: &ContextLock) {
        let mut value = file.value.clone();
        if file.owner == Owner::Project {
            for item in crate::lock::hook_items(file) {
                if approvals.get(&item.key) == Some(item.hash) {
                    continue;
                }
                let name = item.key.within.clone().unwrap_or_default();
                if take_out(&mut value, file.contract, &name) {
                    self.notices.push(unapproved(&item.key, approvals));
                    self.waiting.push(item.key);
                }
            }
        }
        let (hooks, remarks) = if file.contract == Contract::Own {
            let list = value
                .get("hook")
                .cloned()
                .unwrap_or_else(|| Value::Array(Vec::new()));
            declared_hooks(file.owner, &file.shown, &list)
        } else {
            parse(file.contract, file.owner, &file.shown, &value)
        };
        self.hooks.extend(hooks);
        self.notices.extend(remarks.iter().map(remarked));
    }
}

/// Removes what one approval is for. Whether there was anything that runs at an event.
fn take_out(value: &mut Value, contract: Contract, name: &str) -> bool {
    let holder = if contract == Contract::Own {
        Some(value)
    } else {
        value.get_mut("hooks")
    };
    let table = holder.and_then(Value::as_object_mut);
    table.is_some_and(|table| table.shift_remove(name).is_some())
}

fn unapproved(key: &Key, approvals: &ContextLock) -> Notice {
    let why = if approvals.get(key).is_some() {
        "it is not what was approved"
    } else {
        "nobody approved it"
    };
    let event = key.within.as_deref().unwrap_or_default();
    let message = format!("hooks of the repository do not run ({event}): {why}");
    Notice::warning("hook-unapproved", Position::whole(key.path.as_str()), message).mend(format!(
        "read them with `bindery lock diff`, then `bindery lock approve {}`",
        key.path
    ))
}

fn remarked(remark: &Remark) -> Notice {
    Notice::warning(
        "hook-skipped",
        Position::whole(remark.at.as_str()),
        remark.message.clone(),
    )
}

#[cfg(test)]
mod tests;
