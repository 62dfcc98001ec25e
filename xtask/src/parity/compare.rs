//! What `bindery explain` says of a tree, beside what the client did.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use serde_json::Value;

use super::case::{Case, Expected};
use super::client::relative;
use super::process::{bare, run};

/// A point at which the two differ.
pub(crate) struct Difference {
    pub(crate) at: String,
    pub(crate) client: String,
    pub(crate) bindery: String,
}

/// What `explain` reports as sent.
struct Told {
    paths: Vec<String>,
    cut: BTreeMap<String, u64>,
}

/// Compares start and every touch; a later touch with all earlier ones.
pub(crate) fn differences(bindery: &Path, case: &Case, root: &Path, logs: &Path) -> Result<Vec<Difference>> {
    let expected = &case.expected;
    let start = explain(bindery, case, root, logs, &[])?;
    let mut found = Vec::new();
    note(
        &mut found,
        "start",
        expected,
        &case.wanted(&expected.loaded),
        &start.paths,
    );
    if start.cut != expected.cut {
        found.push(Difference {
            at: "cut".to_owned(),
            client: format!("{:?}", expected.cut),
            bindery: format!("{:?}", start.cut),
        });
    }
    let mut client_before = expected.loaded.clone();
    let mut bindery_before = start.paths;
    let mut touched = Vec::new();
    for step in &expected.after_touch {
        touched.push(root.join(&step.touch));
        let told = explain(bindery, case, root, logs, &touched)?;
        let client = new_in(&case.wanted(&step.loaded), &client_before);
        let own = new_in(&told.paths, &bindery_before);
        note(
            &mut found,
            &format!("touch {}", step.touch),
            expected,
            &client,
            &own,
        );
        client_before.extend(step.loaded.iter().cloned());
        bindery_before = told.paths;
    }
    Ok(found)
}

fn new_in(paths: &[String], before: &[String]) -> Vec<String> {
    paths
        .iter()
        .filter(|path| !before.contains(path))
        .cloned()
        .collect()
}

fn note(found: &mut Vec<Difference>, at: &str, expected: &Expected, client: &[String], own: &[String]) {
    let (mut client, mut own) = (client.to_vec(), own.to_vec());
    if expected.unordered {
        client.sort();
        own.sort();
    }
    if client != own {
        found.push(Difference {
            at: at.to_owned(),
            client: client.join(", "),
            bindery: own.join(", "),
        });
    }
}

fn explain(bindery: &Path, case: &Case, root: &Path, logs: &Path, touched: &[PathBuf]) -> Result<Told> {
    let cwd = root.join(&case.cwd);
    let mut command = bare(bindery, &cwd);
    command
        .arg("explain")
        .arg(&cwd)
        .args(["--dialect", &case.dialect, "--json"])
        .env("HOME", root.join("home"))
        .env("CODEX_HOME", case.codex_home(root))
        .env("HERMES_HOME", root.join("home/.hermes"));
    for path in touched {
        command.arg("--touch").arg(path);
    }
    let printed = run(&mut command, &logs.join("explain"))?;
    let told: Value = serde_json::from_str(&printed.stdout).context("what `explain --json` printed")?;
    let files = told["files"].as_array().ok_or_else(|| anyhow!("no `files`"))?;
    let mut sent: Vec<(u64, String, Option<u64>)> = files
        .iter()
        .filter_map(|file| {
            let status = file["status"].as_str()?;
            let path = relative(file["path"].as_str()?, root);
            let kept = (status == "cut").then(|| file["bytes_loaded"].as_u64()).flatten();
            ["loaded", "cut"]
                .contains(&status)
                .then(|| (file["order"].as_u64().unwrap_or(0), path, kept))
        })
        .collect();
    sent.sort();
    let cut = sent
        .iter()
        .filter_map(|(_, path, kept)| Some((path.clone(), (*kept)?)))
        .collect();
    let paths = sent.into_iter().map(|(_, path, _)| path).collect();
    fs::remove_dir_all(logs.join("explain"))?;
    Ok(Told { paths, cut })
}
