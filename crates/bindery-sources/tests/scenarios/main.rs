//! Runs the Markdown suites of `scenarios/`: file trees in, expected manifests out.
//!
//! `UPDATE_SCENARIOS=1 cargo test -p bindery-sources --test scenarios` writes what came out into the
//! suites; read the difference before you commit it.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    reason = "all of this is a test"
)]

mod lay;
mod show;
mod suite;

use std::path::{Path, PathBuf};

use bindery_sources::dialect::Catalogue;
use bindery_sources::instructions::Loader;
use bindery_sources::reading::Reader;

use suite::{Block, Scenario};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn suites() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension().is_some_and(|end| end == "md") && path.file_name().unwrap() != "README.md"
        })
        .collect();
    paths.sort();
    paths
}

#[test]
fn every_scenario_comes_out_as_written() {
    let update = std::env::var_os("UPDATE_SCENARIOS").is_some();
    let mut failures = Vec::new();
    for path in suites() {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut scenarios = suite::parse(&text);
        assert!(!scenarios.is_empty(), "{} has no scenario", path.display());
        for scenario in &mut scenarios {
            for (expected, got) in play(scenario) {
                if expected.trim_end() != got.trim_end() {
                    failures.push(format!(
                        "{}: {}\n--- expected\n{expected}\n--- got\n{got}",
                        path.display(),
                        scenario.title
                    ));
                }
            }
        }
        if update {
            std::fs::write(&path, suite::rewrite(&text, &scenarios)).unwrap();
        }
    }
    assert!(update || failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Plays a scenario, puts what came out into its blocks, and gives each expectation with its outcome.
fn play(scenario: &mut Scenario) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    lay::tree(&base, &scenario.blocks);
    let mut run = None;
    let mut outcomes = Vec::new();
    for block in &mut scenario.blocks {
        match block {
            Block::Run(lines) => {
                let (dialect, host) = lay::host(&base, lines);
                let dialect = Catalogue::shipped().get(&dialect).unwrap();
                let mut reader = Reader::new();
                let manifest = Loader::new(&dialect).load_with(&host, &mut reader);
                let mut opened = reader.opened().to_vec();
                let count = opened.len();
                opened.sort();
                opened.dedup();
                assert_eq!(opened.len(), count, "{}: a file was opened twice", scenario.title);
                run = Some(manifest);
            }
            Block::Manifest(expected) => {
                let got = show::manifest(run.as_ref().expect("a run before a manifest"), &base);
                outcomes.push((std::mem::replace(expected, got.clone()), got));
            }
            Block::Sent { path, text } => {
                let got = show::sent(run.as_ref().expect("a run before a text"), &base.join(&*path));
                outcomes.push((std::mem::replace(text, got.clone()), got));
            }
            _ => {}
        }
    }
    assert!(!outcomes.is_empty(), "{} expects nothing", scenario.title);
    outcomes
}
