//! What answers come to, as a table that is made by running them: it cannot say what the code does not do.

use serde::Serialize;

use crate::answer::{Answer, Contract, Ending, OnError, Ran, read};
use crate::event::Event;
use crate::permission::{Rule, table};

/// What one way to answer comes to at each event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// How the hook answers.
    pub answer: &'static str,
    /// Whose protocol it speaks.
    pub contract: Contract,
    /// What it comes to, in the order of [`READ_AT`].
    pub comes_to: Vec<String>,
}

/// The events of the table: one of each kind.
pub const READ_AT: [Event; 6] = [
    Event::SessionStart,
    Event::UserPromptSubmit,
    Event::PreToolUse,
    Event::PostToolUse,
    Event::Stop,
    Event::PreCompact,
];

/// Ways to answer: exit code, stdout, stderr. `{event}` is the event's name.
const ANSWERS: [(&str, i32, &str, &str); 13] = [
    ("exit 0, nothing", 0, "", ""),
    ("exit 0, plain text", 0, "text", ""),
    (
        "exit 0, `additionalContext`",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"{event}","additionalContext":"text"}}"#,
        "",
    ),
    (
        "exit 0, `additionalContext` for another event",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"Other","additionalContext":"text"}}"#,
        "",
    ),
    (
        "exit 0, `\"decision\":\"block\"`",
        0,
        r#"{"decision":"block","reason":"why"}"#,
        "",
    ),
    (
        "exit 0, `\"permissionDecision\":\"deny\"`",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"{event}","permissionDecision":"deny"}}"#,
        "",
    ),
    (
        "exit 0, `\"permissionDecision\":\"ask\"`",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"{event}","permissionDecision":"ask"}}"#,
        "",
    ),
    (
        "exit 0, `\"permissionDecision\":\"allow\"`",
        0,
        r#"{"hookSpecificOutput":{"hookEventName":"{event}","permissionDecision":"allow"}}"#,
        "",
    ),
    ("exit 0, `\"continue\":false`", 0, r#"{"continue":false}"#, ""),
    ("exit 0, a field that nobody knows", 0, r#"{"colour":"red"}"#, ""),
    ("exit 0, two JSON documents", 0, "{}\n{}", ""),
    ("exit 2, reason on stderr", 2, "", "why"),
    ("exit 1", 1, "", "broken"),
];

/// Every way to answer, as it is read. Where the protocols agree, a row stands for all.
pub fn readings() -> Vec<Reading> {
    let mut out: Vec<Reading> = Vec::new();
    for way in ANSWERS {
        let claude = reading(way, Contract::Claude, OnError::Allow);
        let codex = reading(way, Contract::Codex, OnError::Allow);
        let differs = claude.comes_to != codex.comes_to;
        out.push(claude);
        out.extend(differs.then_some(codex));
    }
    out
}

fn reading(
    (answer, code, stdout, stderr): (&'static str, i32, &str, &str),
    contract: Contract,
    on_error: OnError,
) -> Reading {
    let at = |event: Event| {
        let ran = Ran {
            ending: Ending::Exited(code),
            stdout: stdout.replace("{event}", event.name()).into_bytes(),
            stderr: stderr.as_bytes().to_vec(),
            cut: false,
        };
        words(event, &read(contract, event, on_error, &ran))
    };
    Reading {
        answer,
        contract,
        comes_to: READ_AT.into_iter().map(at).collect(),
    }
}

fn words(event: Event, answer: &Answer) -> String {
    let verdict = match answer.verdict {
        Rule::None => None,
        Rule::Allow => Some("allows"),
        Rule::Ask => Some("asks"),
        Rule::Deny if event == Event::PostToolUse => Some("tells the model"),
        Rule::Deny => Some("blocks"),
    };
    let parts = [
        verdict,
        answer.context.as_ref().map(|_| "adds context"),
        answer.halt.as_ref().map(|_| "stops the work"),
        answer.failure.as_ref().map(|_| "fails"),
    ];
    let said: Vec<&str> = parts.into_iter().flatten().collect();
    match (said.is_empty(), answer.remarks.is_empty()) {
        (false, _) => said.join(", "),
        (true, false) => "nothing, and a remark".to_owned(),
        (true, true) => "nothing".to_owned(),
    }
}

/// Both tables as Markdown.
pub fn markdown() -> String {
    let mut lines = vec![
        row(["rule of the user", "hook", "the call"]),
        "|---|---|---|".to_owned(),
    ];
    for (rule, hook, permission) in table() {
        let words = [
            format!("{rule:?}"),
            format!("{hook:?}"),
            format!("{permission:?}"),
        ];
        lines.push(row(words.map(|word| word.to_lowercase())));
    }
    lines.push(String::new());
    lines.push(row(std::iter::once("answer").chain(READ_AT.map(Event::name))));
    lines.push("|---|---|---|---|---|---|---|".to_owned());
    for reading in readings() {
        let codex = if reading.contract == Contract::Codex {
            " (Codex)"
        } else {
            ""
        };
        let answer = format!("{}{codex}", reading.answer);
        lines.push(row(std::iter::once(answer).chain(reading.comes_to)));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn row<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|cell| cell.as_ref().to_owned()).collect();
    format!("| {} |", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_answers_come_to() {
        insta::assert_snapshot!(markdown());
    }

    #[test]
    fn the_page_on_hooks_holds_exactly_this_table() {
        let page = include_str!("../../../docs/hooks.md");
        assert!(
            page.contains(&markdown()),
            "put the output of `bindery hook table --markdown` into docs/hooks.md"
        );
    }
}
