//! What lints cannot see: file sizes, module docs, names, layers, paths of somebody's machine.

use std::path::Path;

use anyhow::{Result, bail};

use crate::{layers, say, workspace};

/// No source file is longer. Most should be far shorter.
const MOST_LINES: usize = 600;

/// File names that say nothing.
const EMPTY_NAMES: [&str; 5] = ["utils.rs", "util.rs", "helpers.rs", "manager.rs", "misc.rs"];

/// Beginnings of absolute paths that only one machine has.
const MACHINE_PATHS: [&str; 3] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/home/", "runner"),
];

/// Checks everything and lists what is wrong.
pub(crate) fn run() -> Result<()> {
    let problems = problems()?;
    if problems.is_empty() {
        say("tidy: nothing to complain about");
        return Ok(());
    }
    bail!("{} to tidy:\n  {}", problems.len(), problems.join("\n  "));
}

fn problems() -> Result<Vec<String>> {
    let root = workspace::root()?;
    let mut problems = layers::problems()?;
    for path in workspace::files()? {
        let Ok(text) = std::fs::read_to_string(root.join(&path)) else {
            continue;
        };
        if let Some(machine) = MACHINE_PATHS.iter().find(|machine| text.contains(*machine)) {
            problems.push(format!("{path}: names a path of one machine ({machine}…)"));
        }
        if Path::new(&path)
            .extension()
            .is_some_and(|extension| extension == "rs")
        {
            problems.extend(source_problems(&path, &text));
        }
    }
    Ok(problems)
}

fn source_problems(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let lines = text.lines().count();
    if lines > MOST_LINES {
        problems.push(format!(
            "{path}: {lines} lines; one idea a file, at most {MOST_LINES} lines"
        ));
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    if EMPTY_NAMES.contains(&name) {
        problems.push(format!("{path}: a name that says nothing; name the idea"));
    }
    // `foo/tests.rs` is the tests of `foo`: its path is its documentation.
    let is_tests = path.contains("/tests/") || name == "tests.rs" || name == "laws.rs";
    let first = text
        .lines()
        .find(|line| !line.starts_with("#!["))
        .unwrap_or_default();
    if !is_tests && !first.starts_with("//!") {
        problems.push(format!("{path}: no module documentation in its first line"));
    }
    problems
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_workspace_is_tidy() {
        assert_eq!(super::problems().unwrap(), Vec::<String>::new());
    }
}
