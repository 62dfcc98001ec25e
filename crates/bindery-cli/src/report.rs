//! Formats that several commands report in: SARIF and GitHub annotations.

pub(crate) mod github;
pub(crate) mod sarif;
