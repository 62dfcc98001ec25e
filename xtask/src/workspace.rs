//! The workspace as cargo and git see it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The workspace's root folder.
pub(crate) fn root() -> Result<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Ok(here.parent().context("xtask lies in the workspace")?.to_owned())
}

/// The paths of all files that git tracks or would track, relative to the root.
pub(crate) fn files() -> Result<Vec<String>> {
    let listed = capture(
        "git",
        &["ls-files", "--cached", "--others", "--exclude-standard", "-z"],
    )?;
    let mut files: Vec<String> = listed
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect();
    files.sort();
    Ok(files)
}

/// The workspace's packages as `cargo metadata` describes them.
pub(crate) fn packages() -> Result<Vec<Value>> {
    let metadata = capture(
        "cargo",
        &["metadata", "--no-deps", "--format-version", "1", "--offline"],
    )
    .or_else(|_| capture("cargo", &["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    Ok(metadata["packages"]
        .as_array()
        .context("cargo metadata lists packages")?
        .clone())
}

/// What a program prints, run in the root.
pub(crate) fn capture(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root()?)
        .output()
        .with_context(|| format!("`{program}` could not be started"))?;
    if !output.status.success() {
        bail!(
            "`{program} {}` failed: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8(output.stdout)?)
}
