//! `cargo xtask clients`: the real clients, sent through the gateway by its tests.

use std::process::Command;

use anyhow::{Context, Result, bail};

use super::client::Client;
use super::install::Installed;
use super::{isolation, scratch};
use crate::{say, workspace};

/// The test program, and those of its tests that need the clients.
const TEST: [&str; 5] = ["test", "--locked", "-p", "bindery-gateway", "--test=it"];

/// Installs the clients and runs the tests that need them.
pub(crate) fn run() -> Result<()> {
    let installed = Installed::ensure(&scratch()?, &[Client::Claude, Client::Codex])?;
    if !isolation::is_inside() {
        finish(cargo().arg("--no-run"))?;
        if isolation::is_possible() {
            return isolation::run_again();
        }
        say("no network of our own here: the clients are only told to stay on loopback");
    }
    let chosen = ["--offline", "clients::", "--", "--ignored"];
    finish(cargo().args(chosen).env("BINDERY_CLIENTS", installed.root()))
}

fn cargo() -> Command {
    let mut command = Command::new("cargo");
    command.args(TEST);
    command
}

fn finish(command: &mut Command) -> Result<()> {
    let status = command.current_dir(workspace::root()?).status();
    if !status.context("cargo could not be started")?.success() {
        bail!("the tests with the real clients failed");
    }
    Ok(())
}
