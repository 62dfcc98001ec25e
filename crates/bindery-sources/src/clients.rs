//! Where other clients keep what is the user's, for those whose dialect is read here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::hooks::Clients;
use crate::places::Places;

/// The clients' own folders; one whose dialect is not read has none here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientHomes {
    /// Claude Code's: `CLAUDE_CONFIG_DIR`, else `~/.claude`.
    pub claude: Option<PathBuf>,
    /// Codex's: `CODEX_HOME`, else `~/.codex`.
    pub codex: Option<PathBuf>,
}

impl ClientHomes {
    /// The folders of the clients whose dialect of instructions is `dialect`, or of both for `auto`.
    pub fn of(places: &Places, environment: &BTreeMap<String, String>, dialect: &str) -> Self {
        let clients = Clients::of_dialect(dialect);
        let folder = |variable: &str, default: &str| {
            let set = environment.get(variable).filter(|value| !value.is_empty());
            let home = places.home.as_ref().map(|home| home.join(default));
            set.map(PathBuf::from).filter(|path| path.is_absolute()).or(home)
        };
        Self {
            claude: folder("CLAUDE_CONFIG_DIR", ".claude").filter(|_| clients.claude),
            codex: folder("CODEX_HOME", ".codex").filter(|_| clients.codex),
        }
    }
}
