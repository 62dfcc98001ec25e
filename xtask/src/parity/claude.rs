//! Claude Code: each file has a label with its path in the request.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::case::{Case, Expected, Touched};
use super::client::{Bench, Client, relative};
use super::process::{bare, run};

/// What a file's label begins with.
const LABEL: &str = "Contents of /";

/// What follows the last file.
const AFTER_FILES: &str = "\n# currentDate\n";

/// Sent texts that are longer are not kept in the corpus.
const LONGEST_KEPT: usize = 2_000;

/// A file in a request.
struct Sent {
    path: String,
    text: String,
}

pub(super) fn observe(bench: &Bench<'_>, case: &Case, root: &Path, logs: &Path) -> Result<Expected> {
    let touches: Vec<String> = case
        .expected
        .after_touch
        .iter()
        .map(|step| root.join(&step.touch).to_string_lossy().into_owned())
        .collect();
    let url = bench.mock.open(&case.id, touches);
    let mut command = bare(&bench.installed.program(Client::Claude), &root.join(&case.cwd));
    command
        .args([
            "-p",
            "hello",
            "--model",
            "claude-sonnet-4-6",
            "--allowedTools",
            "Read",
        ])
        .env("HOME", root.join("home"))
        .env("TMPDIR", logs)
        .env("ANTHROPIC_BASE_URL", url)
        .env("ANTHROPIC_API_KEY", "made-up")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("DISABLE_TELEMETRY", "1");
    let ran = run(&mut command, logs);
    let bodies = bench.mock.close(&case.id);
    ran?;
    let asked: Vec<&Value> = bodies
        .iter()
        .filter(|body| body["tools"].as_array().is_some_and(|tools| !tools.is_empty()))
        .collect();
    expected(case, root, &asked)
}

fn expected(case: &Case, root: &Path, bodies: &[&Value]) -> Result<Expected> {
    let wanted = 1 + case.expected.after_touch.len();
    if bodies.len() != wanted {
        bail!("{} requests instead of {wanted}", bodies.len());
    }
    let sent: Vec<Vec<Sent>> = bodies.iter().map(|body| files(body)).collect();
    let first = sent.first().context("a first request")?;
    let mut out = Expected {
        loaded: paths(first, root),
        unordered: case.expected.unordered,
        ..Expected::default()
    };
    for (step, pair) in case.expected.after_touch.iter().zip(sent.windows(2)) {
        let [before, after] = pair else { continue };
        let (before, mut after) = (paths(before, root), paths(after, root));
        if !after.starts_with(&before) {
            bail!("after {} earlier files changed", step.touch);
        }
        out.after_touch.push(Touched {
            touch: step.touch.clone(),
            loaded: after.split_off(before.len()),
        });
    }
    for file in sent.iter().flatten() {
        let raw = fs::read(&file.path).with_context(|| format!("read {}", file.path))?;
        let plain = String::from_utf8(raw).unwrap_or_default();
        let text = file.text.replace(&*root.to_string_lossy(), super::case::BASE);
        let plain = plain.replace(&*root.to_string_lossy(), super::case::BASE);
        if plain.trim() != text.trim_end() && text.len() < LONGEST_KEPT {
            out.rendered.insert(relative(&file.path, root), text);
        }
    }
    Ok(out)
}

fn paths(sent: &[Sent], root: &Path) -> Vec<String> {
    sent.iter().map(|file| relative(&file.path, root)).collect()
}

/// The files of a request, in order of appearance.
fn files(body: &Value) -> Vec<Sent> {
    let mut texts = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        collect(&message["content"], &mut texts);
    }
    texts.iter().flat_map(|text| labelled(text)).collect()
}

/// All texts of a content value: a string, or blocks with texts or contents of their own.
fn collect<'a>(content: &'a Value, texts: &mut Vec<&'a str>) {
    match content {
        Value::String(text) => texts.push(text),
        Value::Array(blocks) => {
            for block in blocks {
                collect(&block["text"], texts);
                collect(&block["content"], texts);
            }
        }
        _ => {}
    }
}

/// Splits a text at its labels. No tree holds a line that looks like one.
fn labelled(text: &str) -> Vec<Sent> {
    let mut found = Vec::new();
    let mark = format!("\n{LABEL}");
    let mut parts = text.split(mark.as_str());
    parts.next();
    for part in parts {
        let Some((label, rest)) = part.split_once(":\n\n") else {
            continue;
        };
        let path = label.split_once(" (").map_or(label, |(path, _)| path);
        let rest = rest.split(AFTER_FILES).next().unwrap_or_default();
        let rest = rest.split("\n</system-reminder>").next().unwrap_or_default();
        found.push(Sent {
            path: format!("/{path}"),
            text: rest.trim_end_matches('\n').to_owned(),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{LABEL, files};

    #[test]
    fn files_are_read_from_labels_in_order() {
        let first = format!("x\n{LABEL}a/b.md (tag):\n\none\n\n{LABEL}c.md (tag):\n\ntwo\n# currentDate\nx");
        let later = format!("1\tf\n<system-reminder>\n{LABEL}d.md:\n\nthree\n\n</system-reminder>");
        let body = json!({"messages": [
            {"role": "user", "content": [{"type": "text", "text": first}]},
            {"role": "user", "content": [{"type": "tool_result", "content": later}]}]});
        let found: Vec<(String, String)> = files(&body)
            .into_iter()
            .map(|sent| (sent.path, sent.text))
            .collect();
        let wanted = [("/a/b.md", "one"), ("/c.md", "two"), ("/d.md", "three")];
        assert_eq!(
            found,
            wanted.map(|(path, text)| (path.to_owned(), text.to_owned()))
        );
    }
}
