//! Exit codes: 0 success, 1 a finding, 2 wrong usage, 3 a failure outside.

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::AnsiColor;
use anyhow::Context as _;
use bindery::sources::{Notice, Refused};

use crate::notices;
use crate::terminal::Terminal;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done, nothing to complain about.
    Success,
    /// Done, and what was looked at has a finding.
    Finding,
    /// The call or the configuration is wrong; the mend is the caller's.
    Usage,
    /// Something outside failed: a file, a process, a network.
    Failure,
}

/// An error that is the caller's to mend. Every other error is a failure outside.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

impl UsageError {
    /// Makes any error the caller's to mend.
    pub(crate) fn of(error: &(impl std::fmt::Display + ?Sized)) -> Self {
        Self(error.to_string())
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Success => 0,
            Status::Finding => 1,
            Status::Usage => 2,
            Status::Failure => 3,
        })
    }
}

/// Prints what argument parsing has to say: help and version are successes.
pub(crate) fn of_parse(asked: &clap::Error) -> ExitCode {
    let printed = asked.print().and_then(|()| io::stdout().flush());
    match printed {
        // If stderr is gone there is nobody to tell.
        _ if asked.use_stderr() => Status::Usage.into(),
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "error: {UNWRITABLE}: {error}");
            Status::Failure.into()
        }
        _ => Status::Success.into(),
    }
}

/// What is told before an error of writing.
const UNWRITABLE: &str = "the output could not be written";

/// Flushes, tells errors, and gives the exit code. A reader that went away is no error.
pub(crate) fn conclude(outcome: anyhow::Result<Status>, terminal: &mut Terminal) -> ExitCode {
    let flushed = terminal.out.flush().context(UNWRITABLE);
    match outcome.and_then(|status| flushed.map(|()| status)) {
        Ok(status) => status.into(),
        Err(error) if is_broken_pipe(&error) => Status::Success.into(),
        Err(error) => {
            // If stderr is gone as well, the exit code still tells.
            let _ = tell(&error, terminal);
            of_error(&error).into()
        }
    }
}

fn tell(error: &anyhow::Error, terminal: &mut Terminal) -> io::Result<()> {
    if let Some(refused) = error.downcast_ref::<Refused>() {
        return notices::tell(&refused.0, terminal);
    }
    let red = AnsiColor::Red.on_default().bold();
    let label = terminal.err_palette.paint(red, "error");
    writeln!(terminal.err, "{label}: {}", sentence(error))
}

/// An error with its causes, each unless what stands before says it already.
fn sentence(error: &anyhow::Error) -> String {
    let mut said = String::new();
    for cause in error.chain() {
        let text = cause.to_string();
        if !said.contains(&text) {
            let joint = if said.is_empty() { "" } else { ": " };
            said = format!("{said}{joint}{text}");
        }
    }
    said
}

fn of_error(error: &anyhow::Error) -> Status {
    let is_outside = |notice: &Notice| OUTSIDE.contains(&&*notice.code);
    match error.downcast_ref::<Refused>() {
        Some(refused) if refused.0.iter().all(is_outside) => Status::Failure,
        Some(_) => Status::Usage,
        None if error.is::<UsageError>() => Status::Usage,
        None => Status::Failure,
    }
}

/// Codes of refusals that no change of the call or of a file's text mends.
const OUTSIDE: [&str; 2] = ["file-unreadable", "internal"];

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
