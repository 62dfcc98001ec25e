//! Exit codes: 0 success, 1 a finding, 2 wrong usage, 3 a failure outside.

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done, nothing to complain about.
    Success,
    /// Done, and what was looked at has a finding.
    Finding,
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
