//! `cargo xtask mcp`: MCP servers from the npm registry, driven by the tests that need them.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{say, workspace};

/// The servers that tests drive.
const PACKAGES: [&str; 2] = [
    "@modelcontextprotocol/server-everything",
    "@modelcontextprotocol/server-filesystem",
];

/// Installs the servers and runs the tests that need them.
pub(crate) fn run() -> Result<()> {
    let folder = crate::parity::scratch()?.join("mcp-servers");
    let mark = folder.join(".installed");
    let wanted = PACKAGES.join(" ");
    if !fs::read_to_string(&mark).is_ok_and(|found| found == wanted) {
        say(&format!("installing {wanted}"));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("package.json"), "{\"private\": true}\n")?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error"]);
        finish(npm.args(PACKAGES).current_dir(&folder))?;
        fs::write(&mark, wanted)?;
    }
    for package in ["bindery-mcp", "bindery-agent"] {
        let mut cargo = Command::new("cargo");
        cargo.args([
            "test",
            "--locked",
            "-p",
            package,
            "--test=it",
            "real",
            "--",
            "--ignored",
        ]);
        cargo
            .current_dir(workspace::root()?)
            .env("BINDERY_MCP_SERVERS", &folder);
        finish(&mut cargo)?;
    }
    Ok(())
}

fn finish(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status();
    if !status
        .with_context(|| format!("`{program}` could not be started"))?
        .success()
    {
        bail!("`{program}` failed");
    }
    Ok(())
}
