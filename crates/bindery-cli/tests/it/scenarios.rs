//! Runs the Markdown suites of `scenarios/sessions/`: commands in, what they print out.
//!
//! The format is described in `scenarios/README.md`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use bindery_store::json_lines::JsonLines;
use bindery_store::{Contention, LogWriter, SqliteStore, Store as _};
use serde_json::value::RawValue;

use crate::place::Place;

/// A scenario while it is played.
struct Play {
    place: Place,
    /// The day that the commands see, as seconds since 1970.
    today: String,
    /// Sessions that somebody else writes to.
    held: Vec<Box<dyn LogWriter>>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/sessions")
}

#[test]
fn every_session_scenario_comes_out_as_written() {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    let mut failures = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        for scenario in text.split("\n## ").skip(1) {
            let title = scenario.lines().next().unwrap();
            for failure in play(scenario) {
                failures.push(format!("{}: {title}\n{failure}", path.display()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The fenced blocks of a scenario: info string and text.
fn blocks(scenario: &str) -> Vec<(&str, String)> {
    let mut blocks = Vec::new();
    let mut lines = scenario.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let text = lines.by_ref().take_while(|line| *line != "```");
            let mut block = String::new();
            for line in text {
                block += line;
                block.push('\n');
            }
            blocks.push((info, block));
        }
    }
    blocks
}

/// Plays a scenario and gives back what did not come out as written.
fn play(scenario: &str) -> Vec<String> {
    let mut play = Play {
        place: Place::new(),
        today: "1796000000".to_owned(),
        held: Vec::new(),
    };
    let mut failures = Vec::new();
    for (info, text) in blocks(scenario) {
        if let Some(path) = info.strip_prefix("file ") {
            play.place.write(&format!("home/{path}"), text);
            continue;
        }
        assert_eq!(info, "console", "a block is `file PATH` or `console`");
        for (command, expected) in commands(&text) {
            let got = play.run(&command);
            if !fits(&expected, &got) {
                failures.push(format!(
                    "$ {command}\n--- expected\n{}\n--- got\n{}",
                    expected.join("\n"),
                    got.join("\n")
                ));
            }
        }
    }
    failures
}

/// The commands of a block, each with the lines that are to follow it.
fn commands(text: &str) -> Vec<(String, Vec<String>)> {
    let mut out: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => out.push((command.to_owned(), Vec::new())),
            None => out.last_mut().unwrap().1.push(line.to_owned()),
        }
    }
    out
}

/// Whether lines are as expected: `...` stands for any number of lines, `[..]` for anything within one.
fn fits(expected: &[String], got: &[String]) -> bool {
    match (expected.split_first(), got.split_first()) {
        (None, None) => true,
        (Some((any, rest)), _) if any == "..." => {
            fits(rest, got) || got.split_first().is_some_and(|(_, later)| fits(expected, later))
        }
        (Some((line, expected)), Some((is, got))) => line_fits(line, is) && fits(expected, got),
        _ => false,
    }
}

fn line_fits(expected: &str, got: &str) -> bool {
    let mut parts = expected.split("[..]");
    let Some(mut rest) = got.strip_prefix(parts.next().unwrap()) else {
        return false;
    };
    let mut open = false;
    for part in parts {
        open = part.is_empty();
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    open || rest.is_empty() || expected.ends_with("[..]")
}

/// The words of a command; single quotes keep blanks.
fn words(command: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => out.push(String::new()),
            c => out.last_mut().unwrap().push(c),
        }
    }
    out
}

impl Play {
    /// Lines of standard output, then those of standard error behind `! `, then the exit code if it is not 0.
    fn run(&mut self, command: &str) -> Vec<String> {
        let words = words(command);
        let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        let home = |path: &str| self.place.path("home").join(path);
        match &arguments[..] {
            ["bindery", rest @ ..] => self.bindery(rest),
            ["on", day] => {
                let day: jiff::civil::Date = day.parse().unwrap();
                let noon = day.at(12, 0, 0, 0).in_tz("UTC").unwrap();
                self.today = noon.timestamp().as_second().to_string();
                Vec::new()
            }
            ["write", path, text] => {
                self.place.write(&format!("home/{path}"), format!("{text}\n"));
                Vec::new()
            }
            ["tear", path, text] => {
                let mut bytes = std::fs::read(home(path)).unwrap();
                bytes.extend_from_slice(text.as_bytes());
                std::fs::write(home(path), bytes).unwrap();
                Vec::new()
            }
            ["remove", path] => {
                std::fs::remove_file(home(path)).unwrap();
                Vec::new()
            }
            ["show", path] => {
                let text = std::fs::read_to_string(home(path)).unwrap();
                text.lines().map(str::to_owned).collect()
            }
            ["hold", session] => {
                let store = SqliteStore::new(home(".local/state/bindery/sessions"));
                let log = store.write(&session.parse().unwrap(), "somebody", Contention::Refuse);
                self.held.push(log.unwrap());
                Vec::new()
            }
            ["let-go"] => {
                self.held.clear();
                Vec::new()
            }
            ["append", path, value] => self.append(&home(path), value),
            other => panic!("unknown command {other:?}"),
        }
    }

    fn bindery(&self, arguments: &[&str]) -> Vec<String> {
        let mut command = self.place.command("home/repo", arguments);
        command.env("SOURCE_DATE_EPOCH", &self.today);
        let ran = self.place.ran(&mut command);
        let mut lines: Vec<String> = ran.out.lines().map(str::to_owned).collect();
        lines.extend(ran.err.lines().map(|line| format!("! {line}")));
        if ran.code != 0 {
            lines.push(format!("? {}", ran.code));
        }
        lines
    }

    /// Appends a value to a file of JSON Lines, as a writer of ours does.
    fn append(&self, path: &Path, value: &str) -> Vec<String> {
        let (mut lines, repair) = JsonLines::open(path).unwrap();
        let raw = RawValue::from_string(value.to_owned()).unwrap();
        lines.append(&raw).unwrap();
        lines.sync().unwrap();
        let mut told = String::new();
        if let Some(repair) = repair {
            write!(told, "! {repair:?}").unwrap();
        }
        let home = self.place.path("home").display().to_string();
        told.lines().map(|line| line.replace(&home, "~")).collect()
    }
}
