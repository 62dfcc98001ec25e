//! The guide's examples, as they stand there.

use std::path::Path;
use std::process::Command;

use crate::place::Place;

const GUIDE: &str = include_str!("../../../../docs/guide.md");

/// A fenced block: what stands behind the fence, and the lines.
fn blocks() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut out = Vec::new();
    let mut open: Option<(&str, Vec<&str>)> = None;
    for line in GUIDE.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(info), None) => open = Some((info, Vec::new())),
            (Some(_), Some(block)) => out.push(block),
            (None, Some((info, mut lines))) => {
                lines.push(line);
                open = Some((info, lines));
            }
            (None, None) => {}
        }
    }
    out
}

fn shell(place: &Place, line: &str) -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_bindery")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(line)
        .current_dir(place.path("home/repo"))
        .env_clear();
    command
        .env("HOME", place.path("home"))
        .env("PATH", path)
        .env("SOURCE_DATE_EPOCH", "1796000000")
        .env("LANG", "C.UTF-8");
    let ran = place.ran(&mut command);
    format!("{}{}", ran.out, ran.err)
}

#[test]
fn every_example_does_what_the_guide_says() {
    let place = Place::new();
    let (mut said, mut checked) = (String::new(), 0);
    for (info, lines) in blocks() {
        if let Some((_, file)) = info.split_once("file=") {
            place.write(&format!("home/repo/{file}"), lines.join("\n") + "\n");
        }
        for line in lines.iter().filter(|_| info == "console") {
            if let Some(command) = line.strip_prefix("$ ") {
                said = shell(&place, command);
            } else if let Some(expected) = line.strip_prefix('…') {
                assert!(said.contains(expected), "{expected}\n---\n{said}");
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 14, "the guide's five rows have examples");
}
