//! The same tool by the names of several clients.
//!
//! Hooks are written for one client's names. The names were seen in Claude Code 2.1 and Codex 0.171; ours are
//! those of the tools that Bindery ships.

use serde_json::{Map, Value};

use crate::answer::Contract;

/// Ours, then those of Claude Code, then those of Codex. The first of each is what a hook is told.
const TOOLS: [(&str, &[&str], &[&str]); 7] = [
    ("shell", &["Bash"], &["Bash", "exec_command", "shell"]),
    ("edit", &["Edit", "MultiEdit", "NotebookEdit"], &["apply_patch"]),
    ("write", &["Write"], &["apply_patch"]),
    ("read", &["Read"], &["view_image"]),
    ("search", &["Grep"], &[]),
    ("list", &["LS", "Glob"], &[]),
    ("agent", &["Agent", "Task"], &["spawn_agent"]),
];

/// Fields of a tool's input: ours, Claude Code's.
const FIELDS: [(&str, &str, &str); 7] = [
    ("edit", "path", "file_path"),
    ("edit", "old", "old_string"),
    ("edit", "new", "new_string"),
    ("write", "path", "file_path"),
    ("read", "path", "file_path"),
    ("agent", "agent", "subagent_type"),
    ("agent", "task", "prompt"),
];

/// Whose names a hook is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Claude Code's.
    Claude,
    /// Codex's.
    Codex,
    /// Ours.
    Own,
}

impl Dialect {
    /// The names that hooks of a contract were written for.
    pub fn of(contract: Contract) -> Self {
        match contract {
            Contract::Claude => Self::Claude,
            Contract::Codex => Self::Codex,
            Contract::Own => Self::Own,
        }
    }

    /// What a tool of ours is called there; a tool that it does not know keeps its name.
    pub fn tool(self, ours: &str) -> &str {
        let row = TOOLS.iter().find(|(own, _, _)| *own == ours);
        let other = row.and_then(|(_, claude, codex)| match self {
            Self::Claude => claude.first(),
            Self::Codex => codex.first(),
            Self::Own => None,
        });
        other.copied().unwrap_or(ours)
    }

    /// A tool's input with the names that its fields have there.
    pub fn input(self, ours: &str, input: &Map<String, Value>) -> Map<String, Value> {
        self.renamed(ours, input, |(_, own, theirs)| (own, theirs))
    }

    /// The way back, for an input that a hook gave.
    pub fn own_input(self, ours: &str, input: &Map<String, Value>) -> Map<String, Value> {
        self.renamed(ours, input, |(_, own, theirs)| (theirs, own))
    }

    fn renamed(
        self,
        tool: &str,
        input: &Map<String, Value>,
        way: fn(&(&'static str, &'static str, &'static str)) -> (&'static str, &'static str),
    ) -> Map<String, Value> {
        let other = |key: &String| {
            let row = FIELDS.iter().find(|row| row.0 == tool && way(row).0 == key);
            row.filter(|_| self == Self::Claude)
                .map_or_else(|| key.clone(), |row| way(row).1.to_owned())
        };
        input
            .iter()
            .map(|(key, value)| (other(key), value.clone()))
            .collect()
    }
}

/// Our name for a tool of any client; a tool that we do not have keeps its own.
pub fn canonical(name: &str) -> &str {
    let knows = |row: &&(&str, &[&str], &[&str])| row.1.contains(&name) || row.2.contains(&name);
    TOOLS.iter().find(knows).map_or(name, |(own, _, _)| own)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_hook_is_told_the_names_that_it_was_written_for_and_may_answer_in_them() {
        assert_eq!(Dialect::Claude.tool("shell"), "Bash");
        assert_eq!(Dialect::Codex.tool("edit"), "apply_patch");
        assert_eq!(Dialect::Own.tool("edit"), "edit");
        assert_eq!(Dialect::Claude.tool("mcp__mail__send"), "mcp__mail__send");
        for name in ["Edit", "MultiEdit", "NotebookEdit", "apply_patch", "edit"] {
            assert_eq!(canonical(name), "edit");
        }
        let input = json!({"path": "a", "old": "x", "new": "y"});
        let input = input.as_object().unwrap();
        let theirs = Dialect::Claude.input("edit", input);
        assert_eq!(
            Value::Object(theirs.clone()),
            json!({"file_path": "a", "old_string": "x", "new_string": "y"})
        );
        assert_eq!(&Dialect::Claude.own_input("edit", &theirs), input);
        assert_eq!(&Dialect::Codex.input("edit", input), input);
    }
}
