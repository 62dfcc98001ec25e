//! The clients that parity is measured against.

use std::path::Path;

use anyhow::{Result, bail};

use super::case::{Case, Expected};
use super::install::Installed;
use super::mock::Mock;
use super::{catalogue, claude, codex, hermes, random};

/// A client that can be run here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    Claude,
    Codex,
    Hermes,
}

/// All of them, in the order of the report.
pub(crate) const CLIENTS: [Client; 3] = [Client::Claude, Client::Codex, Client::Hermes];

/// What a run of a client needs.
pub(crate) struct Bench<'a> {
    pub(crate) installed: &'a Installed,
    pub(crate) mock: &'a Mock,
}

impl Client {
    pub(crate) fn named(name: &str) -> Result<Self> {
        match CLIENTS.into_iter().find(|client| client.name() == name) {
            Some(client) => Ok(client),
            None => bail!("no client `{name}`; there are claude, codex and hermes"),
        }
    }

    /// The dialect's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Hermes => "hermes",
        }
    }

    /// As the corpus names the client.
    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::Claude => "claude-code 2.1.197",
            Self::Codex => "codex-cli 0.171.0",
            Self::Hermes => "hermes-agent 0.19.0",
        }
    }

    /// What to install.
    pub(crate) fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["@anthropic-ai/claude-code@2.1.197"],
            Self::Codex => &["@openai/codex@0.171.0"],
            Self::Hermes => &["hermes-agent==0.19.0", "pyyaml==6.0.3"],
        }
    }

    /// The trees to try, truth not yet known.
    pub(crate) fn cases(self) -> Result<Vec<Case>> {
        let (prefix, written, made) = match self {
            Self::Claude => ("cl", include_str!("claude.toml"), random::claude()),
            Self::Codex => ("co", include_str!("codex.toml"), random::codex()),
            Self::Hermes => ("he", include_str!("hermes.toml"), random::hermes()),
        };
        let mut cases = catalogue::cases(self.name(), prefix, written)?;
        cases.extend(made);
        for case in &mut cases {
            self.version().clone_into(&mut case.client);
        }
        Ok(cases)
    }

    /// Runs the client in a laid tree. `logs` lies outside the tree.
    pub(crate) fn observe(
        self,
        bench: &Bench<'_>,
        case: &Case,
        root: &Path,
        logs: &Path,
    ) -> Result<Expected> {
        match self {
            Self::Claude => claude::observe(bench, case, root, logs),
            Self::Codex => codex::observe(bench, case, root, logs),
            Self::Hermes => hermes::observe(bench, case, root, logs),
        }
    }
}

/// A path as the corpus writes it: relative to the tree, where it lies in it.
pub(crate) fn relative(path: &str, root: &Path) -> String {
    Path::new(path)
        .strip_prefix(root)
        .map_or_else(|_| path.to_owned(), |inner| inner.to_string_lossy().into_owned())
}
