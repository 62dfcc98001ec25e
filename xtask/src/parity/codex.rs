//! Codex: one text without paths in it. Words tell the files, warnings tell the cuts.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::case::{BASE, Case, Expected};
use super::client::{Bench, Client, relative};
use super::owners::{Owners, chain};
use super::process::{bare, run};

/// What stands around the instruction files.
const OPEN: &str = "<INSTRUCTIONS>\n";
const CLOSE: &str = "\n</INSTRUCTIONS>";

/// Longer texts are not kept in the corpus.
const LONGEST_KEPT: usize = 1_000;

pub(super) fn observe(bench: &Bench<'_>, case: &Case, root: &Path, logs: &Path) -> Result<Expected> {
    let cwd = root.join(&case.cwd);
    let home = case.codex_home(root);
    let url = bench.mock.open(&case.id, Vec::new());
    let provider = format!(
        "model_providers.mock={{name=\"mock\",base_url=\"{url}/v1\",wire_api=\"responses\",\
         env_key=\"MOCK_KEY\",request_max_retries=0,stream_max_retries=0}}"
    );
    let mut command = bare(&bench.installed.program(Client::Codex), &cwd);
    command
        .args(["exec", "--skip-git-repo-check", "-c", &provider])
        .args([
            "-c",
            "model_provider=\"mock\"",
            "-c",
            "model=\"gpt-5.5\"",
            "hello",
        ])
        .env("HOME", root.join("home"))
        .env("CODEX_HOME", &home)
        .env("TMPDIR", logs)
        .env("MOCK_KEY", "made-up");
    let ran = run(&mut command, logs);
    let bodies = bench.mock.close(&case.id);
    let printed = ran?;
    let Some(body) = bodies.first() else {
        bail!("no request came");
    };
    let real = fs::canonicalize(&cwd)?;
    let mut directories = vec![home];
    directories.extend(chain(root, &real));
    let text = instructions(body);
    let mut loaded = Owners::of(&directories, &names(case)).in_text(&text)?;
    let mut out = Expected::default();
    if !text.is_empty() && text.len() < LONGEST_KEPT {
        out.body = text.replace(&*root.to_string_lossy(), BASE);
    }
    for (path, kept) in cuts(&printed.stderr) {
        if !has_text(&path, kept)? {
            continue;
        }
        // Cut before its word was whole: it is what the budget ended in, so the last.
        if !loaded.contains(&path) {
            loaded.push(path.clone());
        }
        out.cut.insert(relative(&path.to_string_lossy(), root), kept);
    }
    let named = |path: &PathBuf| relative(&path.to_string_lossy(), root);
    out.loaded = loaded.iter().map(named).collect();
    Ok(out)
}

/// Names the client is asked to look for.
fn names(case: &Case) -> Vec<String> {
    let mut names = vec!["AGENTS.override.md".to_owned(), "AGENTS.md".to_owned()];
    // A project's own settings name only this one, see the catalogue.
    let fallbacks = case.config.get("project_doc_fallback_filenames").cloned();
    let fallbacks = fallbacks.unwrap_or_else(|| serde_json::json!(["TEAM.md"]));
    for name in fallbacks
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        let name = name.trim().to_owned();
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The instruction text of a request; empty where there is none.
fn instructions(body: &Value) -> String {
    let items = body["input"].as_array().into_iter().flatten();
    items
        .filter_map(|item| item["content"].as_array())
        .flatten()
        .filter_map(|part| part["text"].as_str()?.split_once(OPEN))
        .map(|(_, rest)| rest.rsplit_once(CLOSE).map_or(rest, |(text, _)| text).to_owned())
        .next()
        .unwrap_or_default()
}

/// Files and the bytes kept of each, from the client's warnings.
fn cuts(stderr: &str) -> Vec<(PathBuf, u64)> {
    stderr
        .lines()
        .filter_map(|line| {
            let (_, rest) = line.split_once("Loaded only ")?;
            let (kept, rest) = rest.split_once(" of ")?;
            let (_, rest) = rest.split_once(" bytes from `")?;
            let (path, _) = rest.split_once('`')?;
            Some((PathBuf::from(path), kept.parse().ok()?))
        })
        .collect()
}

fn has_text(path: &Path, kept: u64) -> Result<bool> {
    let bytes = fs::read(path).with_context(|| format!("read {}", path.display()))?;
    let kept = bytes.get(..usize::try_from(kept)?).unwrap_or(&bytes);
    Ok(!String::from_utf8_lossy(kept).trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::cuts;

    #[test]
    fn a_warning_tells_the_bytes_kept() {
        let line = "warning: Loaded only 3 of 9 bytes from `/t/AGENTS.md` in environment";
        assert_eq!(cuts(line), [("/t/AGENTS.md".into(), 3)]);
    }
}
