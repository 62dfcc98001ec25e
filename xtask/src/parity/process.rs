//! Running a program under test: nothing of our environment, a time limit, output kept in files.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// No client takes this long for a tree; one that does hangs.
const LIMIT: Duration = Duration::from_secs(90);

/// How often a running client is looked at.
const POLL: Duration = Duration::from_millis(15);

/// What a program printed.
pub(crate) struct Printed {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A command with a bare environment: where programs are, UTF-8, and no way out but loopback.
pub(crate) fn bare(program: &Path, cwd: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LANG", "C.UTF-8")
        .env("NO_PROXY", "127.0.0.1,localhost")
        .current_dir(cwd);
    // Port 9 discards: whoever calls out is told at once that nobody is there.
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env(name, "http://127.0.0.1:9");
    }
    command
}

/// Runs to the end or the limit. Output goes to files beside the tree, so that no pipe can fill.
pub(crate) fn run(command: &mut Command, logs: &Path) -> Result<Printed> {
    fs::create_dir_all(logs)?;
    let (out, err) = (logs.join("stdout"), logs.join("stderr"));
    let program = PathBuf::from(command.get_program());
    let mut child = command
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .process_group(0)
        .spawn()
        .with_context(|| format!("`{}` could not be started", program.display()))?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            bail!("`{}` did not end in {} s", program.display(), LIMIT.as_secs());
        }
        sleep(POLL);
    };
    let read = |path: &Path| -> Result<String> { Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned()) };
    let printed = Printed {
        stdout: read(&out)?,
        stderr: read(&err)?,
    };
    if !status.success() {
        let last = printed.stderr.lines().chain(printed.stdout.lines()).last();
        bail!(
            "`{}` ended with {status}: {}",
            program.display(),
            last.unwrap_or_default()
        );
    }
    Ok(printed)
}
