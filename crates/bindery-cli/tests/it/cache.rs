//! The suites under `scenarios/cache`: requests in, diagnoses out, through the real command.
//!
//! `UPDATE_SCENARIOS=1 cargo test -p bindery-cli --test it cache` writes what came out into the suites;
//! read the difference before you commit it.

mod requests;
mod suite;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::place::Place;
use suite::{Block, Scenario};

fn suites() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/cache");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.file_name().is_some_and(|name| name != "README.md"));
    paths.sort();
    paths
}

#[test]
fn every_scenario_has_the_diagnosis_that_is_written() {
    let update = std::env::var_os("UPDATE_SCENARIOS").is_some();
    let mut failures = Vec::new();
    for path in suites() {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut scenarios = suite::parse(&text);
        assert!(!scenarios.is_empty(), "{} has no scenario", path.display());
        for scenario in &mut scenarios {
            for (expected, got) in play(scenario) {
                if expected.trim_end() != got.trim_end() {
                    let (file, title) = (path.display(), &scenario.title);
                    failures.push(format!(
                        "{file}: {title}\n--- expected\n{expected}\n--- got\n{got}"
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

fn play(scenario: &mut Scenario) -> Vec<(String, String)> {
    let place = Place::new();
    let mut outcomes = Vec::new();
    for block in &mut scenario.blocks {
        match block {
            Block::Requests { name, info, text } => {
                place.write(&format!("home/repo/{name}"), requests::trace(info, text));
            }
            Block::File { name, text } => place.write(&format!("home/repo/{name}"), &*text),
            Block::Expect {
                command,
                arguments,
                text,
            } => {
                let mut words = vec![command.as_str()];
                words.extend(arguments.iter().map(String::as_str));
                let got = outcome(&place, &words);
                outcomes.push((std::mem::replace(text, got.clone()), got));
            }
        }
    }
    assert!(!outcomes.is_empty(), "{} expects nothing", scenario.title);
    outcomes
}

/// What a command says, in the few words that a scenario compares.
fn outcome(place: &Place, words: &[&str]) -> String {
    let command = words[0];
    if command == "text" {
        let ran = place.bindery(&words[1..]);
        return format!("{}{}", ran.out, ran.err);
    }
    let mut arguments = words.to_vec();
    arguments.push("--json");
    let ran = place.bindery(&arguments);
    let Ok(page) = serde_json::from_str::<Value>(&ran.out) else {
        return format!("exit {}\n{}{}", ran.code, ran.out, ran.err);
    };
    match command {
        "why" => why(&page),
        "plan" => plan(&page),
        "simulate" => simulate(&page),
        "diff" => diff(&page),
        other => panic!("no scenario compares what `{other}` says"),
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

/// Number, verdict, what changed, advice; then what was lost and what the provider said, if anything.
fn why(page: &Value) -> String {
    let mut out = String::new();
    for request in page["requests"].as_array().unwrap() {
        let settings: Vec<&str> = request["changes"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|change| word(&change["name"]))
            .collect();
        let change = &request["change"];
        let what = match (change.is_object(), settings.is_empty(), word(&request["what"])) {
            (true, ..) => format!("{} {}", word(&change["fragment"]), word(&change["kind"])),
            (false, false, _) => settings.join(","),
            (false, true, what) => what.to_owned(),
        };
        let advice = word(&request["advice"]["code"]);
        write!(
            out,
            "{} {} | {what} | {advice}",
            request["request"],
            word(&request["verdict"])
        )
        .unwrap();
        if request["compared_with"].as_u64().unwrap_or(0) + 1 != request["request"].as_u64().unwrap()
            && request["compared_with"].is_u64()
        {
            write!(out, " | against {}", request["compared_with"]).unwrap();
        }
        if let Some(mismatch) = request["mismatch"].as_i64() {
            write!(out, " | mismatch {mismatch}").unwrap();
        }
        if request["provider"].is_object() {
            let provider = &request["provider"];
            write!(
                out,
                " | provider {} {}",
                word(&provider["reason"]),
                provider["agrees"]
            )
            .unwrap();
        }
        out.push('\n');
    }
    out
}

/// The marks, then the cases with the classes that are not empty.
fn plan(page: &Value) -> String {
    let mut out = String::new();
    for mark in page["marks"].as_array().unwrap() {
        let ttl = mark["ttl"].as_str().unwrap_or("5m");
        writeln!(
            out,
            "mark {} {} {ttl}",
            word(&mark["reason"]),
            word(&mark["fragment"])
        )
        .unwrap();
    }
    for case in page["cases"].as_array().unwrap() {
        let usage = &case["usage"];
        let written: u64 = ["write_5m", "write_1h", "write_30m", "write_12h"]
            .iter()
            .filter_map(|class| usage[*class].as_u64())
            .sum();
        if case["refused"].is_string() {
            writeln!(out, "case {} refused", word(&case["case"])).unwrap();
            continue;
        }
        let some = |tokens: u64| if tokens > 0 { "some" } else { "none" };
        let read = usage["read"].as_u64().unwrap_or(0);
        let more = match read.cmp(&written) {
            std::cmp::Ordering::Greater => "reads more than it writes",
            std::cmp::Ordering::Less => "writes more than it reads",
            std::cmp::Ordering::Equal => "reads as much as it writes",
        };
        writeln!(out, "case {} reads {}, {more}", word(&case["case"]), some(read)).unwrap();
    }
    for note in page["notes"].as_array().unwrap() {
        writeln!(out, "note {}", word(note)).unwrap();
    }
    out
}

/// Policies from the cheapest to the dearest, with what they read; what would be refused.
fn simulate(page: &Value) -> String {
    let mut rows: Vec<(f64, String)> = page["policies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|policy| {
            let refused = policy["requests"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|request| request["refused"].is_string())
                .count();
            let refused = if refused > 0 {
                format!(" refused {refused}")
            } else {
                String::new()
            };
            let total = word(&policy["total"]).parse().unwrap();
            (total, format!("{}{refused}", word(&policy["policy"])))
        })
        .collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut out = String::new();
    for (at, (total, name)) in rows.iter().enumerate() {
        let sign = match at.checked_sub(1).map(|before| rows[before].0) {
            None => "",
            Some(before) if (before - total).abs() < f64::EPSILON => "= ",
            Some(_) => "< ",
        };
        writeln!(out, "{sign}{name}").unwrap();
    }
    out
}

fn diff(page: &Value) -> String {
    let mut out = String::new();
    if page["same_before"].is_u64() {
        writeln!(out, "same before {}", page["same_before"]).unwrap();
    }
    let pair = if page["segments"].is_array() {
        page
    } else {
        return out;
    };
    writeln!(
        out,
        "requests {} {}",
        pair["old"]["request"], pair["new"]["request"]
    )
    .unwrap();
    for setting in pair["settings"].as_array().unwrap() {
        writeln!(out, "setting {}", word(&setting["name"])).unwrap();
    }
    for segment in pair["segments"].as_array().unwrap() {
        let sign = match (segment["old"].is_u64(), segment["new"].is_u64()) {
            (false, _) => "+",
            (_, false) => "-",
            _ => "~",
        };
        let fragments: Vec<&str> = segment["fragments"]
            .as_array()
            .unwrap()
            .iter()
            .map(word)
            .collect();
        writeln!(out, "{sign} {} {}", word(&segment["region"]), fragments.join(",")).unwrap();
    }
    out
}
