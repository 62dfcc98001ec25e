//! Approvals by content hash: which texts of a repository a person has read and let in.
//!
//! An approval is for one text at one place: its kind, the scope it stands in, its path, and the file
//! that imports it. One changed byte, another importer, another scope: not approved. Approvals lie
//! outside the repository, in the user's state directory, or, for a team that says so, in the
//! repository, where git's signatures guard them. A file of approvals that cannot be read approves
//! nothing: it is an error.

mod collect;
mod compare;
mod difference;
mod file;
mod folders;
mod hooks;
mod mcp;
mod store;

use std::fmt;
use std::path::{Path, PathBuf};

use bindery_core::ContentHash;
use serde::{Deserialize, Serialize};

use crate::dialect::Scope;
use crate::reading::Reader;

pub use collect::{instruction_key, instructions, section_key, sections, verified_imports};
pub use compare::{Standing, State, compare};
pub use difference::difference;
pub use file::ContextLock;
pub use folders::folders;
pub(crate) use hooks::hook_items;
pub use hooks::hooks;
pub(crate) use mcp::server_item;
pub use mcp::{mcp_servers, mcp_tools, tool_item};
pub use store::{Home, Store};

/// What kind of text is approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An instruction file.
    Instructions,
    /// A file that an instruction file imports.
    Import,
    /// A section of `.bindery/sections`.
    Section,
    /// A command that a client runs by itself: hooks and the like.
    Hook,
    /// The entry of an MCP server: a command that is run, or an address that is asked.
    McpServer,
    /// Name, description and schema of a tool that an MCP server offers.
    McpTool,
}

/// What an approval is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Key {
    /// What kind of text.
    pub kind: Kind,
    /// Whose text: an approval in one scope says nothing of another.
    pub scope: Scope,
    /// The file, relative to the project where it lies in it, else from `~` or whole; for a tool, the
    /// server's name.
    pub path: String,
    /// The importing file, the hook's event, or the tool's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
}

/// A text that needs approval, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub key: Key,
    /// The hash of its bytes.
    pub hash: ContentHash,
    /// Its bytes, or where to read them.
    pub content: Content,
    /// What becomes of it here.
    pub entry: Entry,
}

/// Where the bytes of an item are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// In a file.
    File(PathBuf),
    /// Here.
    Text(String),
}

/// What becomes of a text where the question was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// The model sees it, or will, once it is touched or asked for.
    Enters,
    /// A client runs it.
    Runs,
    /// It is refused until somebody approves it.
    Refused,
    /// It is not asked for here.
    Elsewhere,
}

impl Kind {
    /// The word in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Import => "import",
            Self::Section => "section",
            Self::Hook => "hook",
            Self::McpServer => "mcp-server",
            Self::McpTool => "mcp-tool",
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        match (&self.within, self.kind) {
            (None, _) => Ok(()),
            (Some(importer), Kind::Import) => write!(f, " (imported by {importer})"),
            (Some(event), Kind::Hook) => write!(f, " ({event})"),
            (Some(tool), _) => write!(f, " ({tool})"),
        }
    }
}

/// Most bytes of a file that can be approved.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// A regular file's bytes; nothing for what cannot be read, or is larger than can be approved.
fn bytes_of(path: &Path) -> Option<Vec<u8>> {
    let contents = Reader::new().read(path, MOST_BYTES).ok()?;
    (!contents.is_bounded()).then(|| contents.bytes.clone())
}

#[cfg(test)]
mod tests;
