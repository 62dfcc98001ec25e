//! A hook's process: a shell without a profile, a group of its own, bounded output, a limit of time.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use bindery_hooks::{Ending, Ran};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::process_group;

/// How much of each stream is kept, in bytes.
pub(crate) const MOST_BYTES: usize = 1024 * 1024;
/// How long output is awaited once the process has ended: what it left running may hold the streams open.
const GRACE: Duration = Duration::from_millis(500);
/// Files that a shell would run first.
const PROFILES: [&str; 2] = ["BASH_ENV", "ENV"];

/// Where a hook's process runs.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The program; it is given `-c COMMAND`.
    pub shell: PathBuf,
    /// The working directory.
    pub directory: PathBuf,
    /// The complete environment, apart from what would make the shell run other files first.
    pub environment: BTreeMap<OsString, OsString>,
}

/// Runs a command with `input` on its standard input. Whatever it does, this ends soon after `limit`.
pub(crate) async fn run(command: &str, input: Vec<u8>, limit: Duration, at: &Surroundings) -> Ran {
    let mut process = Command::new(&at.shell);
    process
        .arg("-c")
        .arg(command)
        .current_dir(&at.directory)
        .env_clear()
        .envs(
            at.environment
                .iter()
                .filter(|(name, _)| !PROFILES.iter().any(|profile| name == profile)),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    process.process_group(0);
    let child = match process.spawn() {
        Ok(child) => child,
        Err(error) => return ended(Ending::NotStarted(format!("{}: {error}", at.shell.display()))),
    };
    let mut group = Group(Some(child));
    let (mut out, mut err) = (Kept::default(), Kept::default());
    let finished = tokio::time::timeout(limit, drive(&mut group, input, &mut out, &mut err)).await;
    let ending = match finished {
        Err(_) => Ending::TimedOut(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
        Ok(Err(error)) => Ending::NotStarted(error.to_string()),
        Ok(Ok(status)) => {
            // What the hook left running on purpose stays.
            group.0 = None;
            of_status(status)
        }
    };
    Ran {
        ending,
        stdout: out.bytes,
        stderr: err.bytes,
        cut: out.cut,
    }
}

async fn drive(
    group: &mut Group,
    input: Vec<u8>,
    out: &mut Kept,
    err: &mut Kept,
) -> std::io::Result<ExitStatus> {
    let Some(child) = group.0.as_mut() else {
        return Err(std::io::Error::other("the process is gone"));
    };
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A hook need not read what it is told.
            let _closed = stdin.write_all(&input).await;
        }
    };
    let streams = async { tokio::join!(out.read(stdout), err.read(stderr), write) };
    tokio::pin!(streams);
    tokio::select! {
        status = child.wait() => {
            let status = status?;
            let _still_held = tokio::time::timeout(GRACE, streams).await;
            Ok(status)
        }
        _ = &mut streams => child.wait().await,
    }
}

fn ended(ending: Ending) -> Ran {
    Ran {
        ending,
        stdout: Vec::new(),
        stderr: Vec::new(),
        cut: false,
    }
}

fn of_status(status: ExitStatus) -> Ending {
    if let Some(code) = status.code() {
        return Ending::Exited(code);
    }
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        Ending::Signalled(status.signal().unwrap_or_default())
    }
    #[cfg(not(unix))]
    Ending::Signalled(0)
}

/// The beginning of a stream. It is read to its end all the same, so that its writer does not hang.
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    cut: bool,
}

impl Kept {
    async fn read(&mut self, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut buffer = vec![0; 8192];
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            let room = MOST_BYTES.saturating_sub(self.bytes.len());
            self.bytes.extend(buffer.iter().take(read.min(room)));
            self.cut |= read > room;
        }
    }
}

/// A process and what it started: as long as it was not waited for, they end together.
struct Group(Option<Child>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(child) = &self.0 {
            process_group::kill(child);
        }
    }
}
