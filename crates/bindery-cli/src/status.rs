//! Exit codes: 0 success, 1 a finding, 2 wrong usage, 3 a failure outside.

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::AnsiColor;

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
    // If the terminal is gone there is nobody to tell.
    let _ = asked.print();
    if asked.use_stderr() {
        Status::Usage.into()
    } else {
        Status::Success.into()
    }
}

/// Flushes, tells errors, and gives the exit code. A reader that went away is no error.
pub(crate) fn conclude(outcome: anyhow::Result<Status>, terminal: &mut Terminal) -> ExitCode {
    let flushed = terminal.out.flush().map_err(anyhow::Error::from);
    match outcome.and_then(|status| flushed.map(|()| status)) {
        Ok(status) => status.into(),
        Err(error) if is_broken_pipe(&error) => Status::Success.into(),
        Err(error) => {
            let status = if error.is::<UsageError>() {
                Status::Usage
            } else {
                Status::Failure
            };
            let label = terminal
                .err_palette
                .paint(AnsiColor::Red.on_default().bold(), "error");
            // If stderr is gone as well, the exit code still tells.
            let _ = writeln!(terminal.err, "{label}: {error:#}");
            status.into()
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
