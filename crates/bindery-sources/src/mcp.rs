//! MCP servers as settings files declare them, and which of them may be started.
//!
//! A server of the user's is started. A server that the repository declares is a command by somebody else, or an
//! address that gets what the model says: it is started once exactly its entry was approved. A name that
//! several files give belongs to the first of: the command line, the user's files, the repository's; a
//! repository cannot put a server of its own in the place of one of the user's.

mod entry;
mod expand;
mod files;
mod seen;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::hooks::Clients;
use crate::lock::{ContextLock, Key, server_item};
use crate::notice::{Notice, Position, Refused};
use crate::places::Places;

pub(crate) use files::of_project;
pub use seen::{SeenTools, ToolText};

/// Whose a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// The command line's.
    Given,
    /// The user's.
    User,
    /// The repository's.
    Project,
}

/// How a server is reached. Variables are replaced; values may be secrets.
#[derive(Clone, PartialEq, Eq)]
pub enum Reach {
    /// A process that speaks on its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables beside those that every command gets.
        env: BTreeMap<String, String>,
        /// Where it runs, where that is not the working directory.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
    },
}

/// A server that may be started.
#[derive(Clone, PartialEq, Eq)]
pub struct McpServer {
    /// What it is called.
    pub name: String,
    /// Whose it is.
    pub owner: Owner,
    /// The file that declares it, as people read its path.
    pub declared: String,
    /// How it is reached.
    pub reach: Reach,
    /// How long it may take to begin.
    pub startup: Duration,
    /// How long a call may take.
    pub call: Duration,
    /// The tools that are taken, where not all are.
    pub enabled_tools: Option<Vec<String>>,
    /// Tools that are not.
    pub disabled_tools: Vec<String>,
}

/// A server that is not started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Left {
    /// What it is called.
    pub name: String,
    /// Whose it is.
    pub owner: Owner,
    /// The file that declares it.
    pub declared: String,
    /// Why.
    pub why: Why,
}

/// Why a server is not started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "reason", content = "detail")]
pub enum Why {
    /// Nobody approved its entry.
    Unapproved,
    /// Its entry is not what was approved.
    Changed,
    /// The file says that it is switched off.
    Off,
    /// Another file has the name first.
    Shadowed(String),
    /// Its entry cannot be used.
    Unusable(String),
}

/// What becomes of the tool list when a server says something else than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnChange {
    /// The session keeps the list that it began with; what changed is not called.
    #[default]
    Pin,
    /// The new list takes its place, and the prefix is written anew.
    Rebuild,
}

/// What is declared here.
#[derive(Clone, Default)]
pub struct Declared {
    /// The servers that may be started, by name.
    pub servers: Vec<McpServer>,
    /// Those that are not, by name.
    pub left: Vec<Left>,
    /// What a changed list comes to.
    pub on_change: OnChange,
    /// What there is to tell.
    pub notices: Vec<Notice>,
}

/// What is asked.
pub struct Asked<'a> {
    /// Where files lie.
    pub places: &'a Places,
    /// What `${NAME}` stands for.
    pub environment: &'a BTreeMap<String, String>,
    /// Whose files are read beside our own and `.mcp.json`.
    pub clients: Clients,
    /// What was approved.
    pub approvals: &'a ContextLock,
    /// Files that the command line names.
    pub given: &'a [PathBuf],
    /// Whether only those count.
    pub given_alone: bool,
}

/// An entry that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The server.
    pub name: String,
    /// The file that declares it.
    pub declared: String,
    /// Why.
    pub why: String,
}

/// The project's entries that cannot be used by anybody, whatever their environment and approvals.
pub fn problems(places: &Places) -> Vec<Problem> {
    let (files, _) = files::of_project(places);
    let mut out = Vec::new();
    for file in &files {
        for (name, value) in &file.servers {
            if let Err(why) = entry::check(file, name, value, places) {
                out.push(Problem {
                    name: shown(name),
                    declared: file.shown.clone(),
                    why,
                });
            }
        }
    }
    out
}

/// Reads every settings file. A file that the command line names and that cannot be read is a refusal; all
/// else is a notice.
pub fn declared(asked: &Asked<'_>) -> Result<Declared, Refused> {
    let mut given = Vec::new();
    for path in asked.given {
        given.push(files::given(path, asked.places)?);
    }
    let (mut files, mut notices) = (given, Vec::new());
    if !asked.given_alone {
        let (others, told) = files::read(asked.places, asked.environment, asked.clients);
        files.extend(others);
        notices.extend(told);
    }
    let mut out = Declared {
        notices,
        ..Declared::default()
    };
    for file in &files {
        out.take(file, asked);
    }
    out.servers.sort_by(|a, b| a.name.cmp(&b.name));
    out.left
        .sort_by(|a, b| (&a.name, &a.declared).cmp(&(&b.name, &b.declared)));
    Ok(out)
}

impl Declared {
    /// The file that has a name already: whoever switched a server off means all of its name.
    fn first_of(&self, name: &str) -> Option<String> {
        let runs = self.servers.iter().find(|server| server.name == name);
        let off = self
            .left
            .iter()
            .find(|left| left.name == name && left.owner != Owner::Project && left.why == Why::Off);
        runs.map(|server| &server.declared)
            .or_else(|| off.map(|left| &left.declared))
            .cloned()
    }

    fn take(&mut self, file: &files::File, asked: &Asked<'_>) {
        self.notices.extend(file.notices.iter().cloned());
        if let Some(on_change) = file.on_change {
            self.on_change = on_change;
        }
        for (name, value) in &file.servers {
            let leave = |why| Left {
                name: name.clone(),
                owner: file.owner,
                declared: file.shown.clone(),
                why,
            };
            if let Some(first) = self.first_of(name) {
                self.left.push(leave(Why::Shadowed(first)));
                continue;
            }
            if file.owner == Owner::Project {
                let item = server_item(&file.shown, name, value);
                let why = match asked.approvals.get(&item.key) {
                    Some(hash) if hash == item.hash => None,
                    Some(_) => Some(Why::Changed),
                    None => Some(Why::Unapproved),
                };
                if let Some(why) = why {
                    self.notices.push(unapproved(&item.key, &why));
                    self.left.push(leave(why));
                    continue;
                }
            }
            match entry::read(file, name, value, asked) {
                Ok(Some(server)) => self.servers.push(server),
                Ok(None) => self.left.push(leave(Why::Off)),
                Err(why) => {
                    let message = format!("the MCP server `{}` is left out: {why}", shown(name));
                    let at = Position::whole(file.shown.as_str());
                    let notice = Notice::warning("mcp-unusable", at, message);
                    self.notices.push(notice.mend("mend the entry, or remove it"));
                    self.left.push(leave(Why::Unusable(why)));
                }
            }
        }
    }
}

fn unapproved(key: &Key, why: &Why) -> Notice {
    let why = match why {
        Why::Changed => "it is not what was approved",
        _ => "nobody approved it",
    };
    let name = key.within.as_deref().unwrap_or_default();
    let message = format!("the MCP server `{name}` of the repository is not started: {why}");
    Notice::warning("mcp-unapproved", Position::whole(key.path.as_str()), message).mend(format!(
        "read it with `bindery lock diff`, then `bindery lock approve {}`",
        key.path
    ))
}

fn shown(name: &str) -> String {
    crate::visible::clipped(name, 60)
}

/// Where a relative directory of an entry begins.
fn directory(project: &Path, written: &str) -> PathBuf {
    project.join(written)
}
