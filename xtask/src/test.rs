//! The whole check: what a stranger runs, and what CI runs.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{say, tidy, workspace};

/// Programs the tests call, with the Debian package that brings each.
const NEEDED: [(&str, &str); 2] = [("git", "git"), ("python3", "python3")];

/// The steps, in order of how soon they tell.
const STEPS: [(&str, &[&str]); 5] = [
    ("format", &["fmt", "--all", "--check"]),
    (
        "lints",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
    ),
    ("tests", &["test", "--workspace", "--locked", "--no-fail-fast"]),
    (
        "check",
        &[
            "run",
            "--package",
            "bindery-cli",
            "--locked",
            "--",
            "check",
            "--fail-on",
            "note",
            ".",
        ],
    ),
    ("docs", &["doc", "--workspace", "--no-deps", "--locked"]),
];

/// Installs what is missing, then runs every step.
pub(crate) fn run() -> Result<()> {
    for (program, package) in NEEDED {
        ensure(program, package)?;
    }
    tidy::run()?;
    for (name, arguments) in STEPS {
        say(&format!("== {name}: cargo {}", arguments.join(" ")));
        let status = Command::new("cargo")
            .args(arguments)
            .env("RUSTDOCFLAGS", "-D warnings")
            .env("INSTA_UPDATE", "no")
            .current_dir(workspace::root()?)
            .status()
            .context("cargo could not be started")?;
        if !status.success() {
            bail!("{name} failed");
        }
    }
    say("all green");
    Ok(())
}

/// Installs a Debian package if its program is not there.
fn ensure(program: &str, package: &str) -> Result<()> {
    if Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return Ok(());
    }
    say(&format!("installing {package}"));
    for arguments in [&["update", "-qq"][..], &["install", "-y", "-qq", package]] {
        let status = Command::new("apt-get").args(arguments).status();
        if !status.is_ok_and(|status| status.success()) {
            bail!("`{program}` is missing and `apt-get install {package}` failed; install it by hand");
        }
    }
    Ok(())
}
