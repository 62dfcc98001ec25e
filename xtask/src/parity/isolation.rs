//! A network of its own for the programs under test: loopback and nothing else.

use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, bail};

/// Set for the inner run.
const INSIDE: &str = "BINDERY_PARITY_ISOLATED";

/// Whether this process runs in the inner network already.
pub(crate) fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Whether this machine lets us make a network of our own.
pub(crate) fn is_possible() -> bool {
    let tried = unshare().args(["ip", "link", "set", "lo", "up"]).output();
    tried.is_ok_and(|output| output.status.success())
}

/// Runs this command again, with the same arguments, inside.
pub(crate) fn run_again() -> Result<()> {
    let own = std::env::current_exe().context("the path of this program")?;
    let status: ExitStatus = unshare()
        .args(["sh", "-c", "ip link set lo up && exec \"$@\"", "sh"])
        .arg(own)
        .args(std::env::args_os().skip(1))
        .env(INSIDE, "1")
        .status()
        .context("`unshare` could not be started")?;
    if !status.success() {
        bail!("the isolated run failed");
    }
    Ok(())
}

fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--net", "--"]);
    command
}
