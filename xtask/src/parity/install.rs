//! Installing the clients from their registries into a scratch folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::client::Client;
use crate::say;

/// Where the clients lie once they are installed.
pub(crate) struct Installed {
    root: PathBuf,
}

impl Installed {
    /// Installs what is missing of these clients.
    pub(crate) fn ensure(scratch: &Path, clients: &[Client]) -> Result<Self> {
        let root = scratch.join("clients");
        for client in clients {
            let folder = root.join(client.name());
            let mark = folder.join(".installed");
            let wanted = client.packages().join(" ");
            if fs::read_to_string(&mark).is_ok_and(|found| found == wanted) {
                continue;
            }
            say(&format!("installing {wanted}"));
            fs::create_dir_all(&folder)?;
            match client {
                Client::Claude | Client::Codex => npm(&folder, client.packages())?,
                Client::Hermes => pip(&folder, client.packages())?,
            }
            fs::write(&mark, wanted)?;
        }
        Ok(Self { root })
    }

    /// The folder that holds a folder for each.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The program to run.
    pub(crate) fn program(&self, client: Client) -> PathBuf {
        let path = match client {
            Client::Claude => "claude/node_modules/.bin/claude",
            Client::Codex => "codex/node_modules/.bin/codex",
            Client::Hermes => "hermes/venv/bin/python",
        };
        self.root.join(path)
    }
}

fn npm(folder: &Path, packages: &[&str]) -> Result<()> {
    fs::write(folder.join("package.json"), "{\"private\": true}\n")?;
    let mut command = Command::new("npm");
    command.args(["install", "--no-audit", "--no-fund", "--loglevel=error"]);
    finish(command.args(packages).current_dir(folder))
}

/// Hermes asks for much that its loader never imports; only what it imports is installed.
fn pip(folder: &Path, packages: &[&str]) -> Result<()> {
    let venv = folder.join("venv");
    finish(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let mut command = Command::new(venv.join("bin/pip"));
    command.args(["install", "--quiet", "--no-deps", "--disable-pip-version-check"]);
    finish(command.args(packages))
}

fn finish(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output();
    let output = output.with_context(|| format!("`{program}` could not be started"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("`{program}` failed: {stderr}");
    }
    Ok(())
}
