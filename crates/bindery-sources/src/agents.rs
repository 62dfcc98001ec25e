//! Agent definitions: who may be sent to work, with which tools and which prompt.
//!
//! Three forms: Markdown with a header (Claude Code: `.claude/agents/*.md`), TOML (Codex:
//! `.codex/agents/*.toml`), and entries of a settings file with a workspace each (OpenClaw:
//! `openclaw.json`).

#[cfg(test)]
mod tests;

mod manner;
mod roots;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::definition;
use crate::dialect::Scope;
use crate::instructions::{Code, Diagnostic, Severity};
use crate::reading::Reader;

pub use manner::{Inherit, Manner, Place, PromptMode, Report};
pub use roots::{builtin, roots};

/// How definitions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Markdown with a header; the text is the prompt.
    Markdown,
    /// TOML; `developer_instructions` is the prompt.
    Toml,
    /// Entries of a JSON settings file; the prompt is the workspace's bootstrap files.
    Settings,
}

/// Where definitions lie: a directory, or for [`Form::Settings`] a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRoot {
    /// The directory or file.
    pub path: PathBuf,
    /// How definitions are written there.
    pub form: Form,
    /// Whose they are.
    pub scope: Scope,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Agent {
    /// Its name: as given, else the file's.
    pub name: String,
    /// When to send it.
    pub description: String,
    /// Its tools; empty for all.
    pub tools: Vec<String>,
    /// Its model, where it has one of its own.
    pub model: Option<String>,
    /// Its prompt; empty where a workspace holds it.
    pub prompt: String,
    /// Its workspace, where it has one.
    pub workspace: Option<PathBuf>,
    /// Where it is defined.
    pub path: PathBuf,
    /// How.
    pub form: Form,
    /// Whose it is.
    pub scope: Scope,
    /// Everything else that a definition can say.
    #[serde(flatten)]
    pub manner: Manner,
}

/// Agents by name, each once.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Agents {
    /// In name order.
    pub agents: Vec<Agent>,
    /// Agents whose name an earlier root has already.
    pub shadowed: Vec<Agent>,
    /// Remarks. A file that gives no agent is always among them.
    pub diagnostics: Vec<Diagnostic>,
}

impl Agents {
    /// Reads roots, the one that counts most first.
    pub fn read(roots: &[AgentRoot], reader: &mut Reader) -> Self {
        let mut found = Self::default();
        for root in roots {
            match root.form {
                Form::Markdown => found.folder(root, "md", reader),
                Form::Toml => found.folder(root, "toml", reader),
                Form::Settings => found.settings(root, reader),
            }
        }
        found.agents.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    fn folder(&mut self, root: &AgentRoot, extension: &str, reader: &mut Reader) {
        let Ok(entries) = fs::read_dir(&root.path) else {
            return;
        };
        let mut paths: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == extension))
            .collect();
        paths.sort();
        for path in paths {
            if root.scope == Scope::Project && leads_out(&path, &root.path) {
                self.skipped(&path, "it is a link that leads out of the project");
                continue;
            }
            let agent = match root.form {
                Form::Toml => self.toml(&path, root, reader),
                _ => self.markdown(&path, root, reader),
            };
            if let Some(agent) = agent {
                self.take(agent);
            }
        }
    }

    fn markdown(&mut self, path: &Path, root: &AgentRoot, reader: &mut Reader) -> Option<Agent> {
        let definition = match definition::read(path, reader) {
            Ok(definition) => definition,
            Err(problem) => {
                self.skipped(path, &problem.to_string());
                return None;
            }
        };
        self.diagnostics.extend(definition.notes);
        let header = definition.header;
        let (manner, wrong) = Manner::read(&header);
        for message in wrong {
            self.diagnostics.push(Diagnostic::new(
                Code::Definition,
                Severity::Warning,
                path,
                message,
            ));
        }
        let model = header.text("model");
        Some(Agent {
            name: named(path, header.text("name")),
            description: header.text("description"),
            tools: header.list("tools"),
            model: (!model.is_empty()).then_some(model),
            prompt: definition.body,
            workspace: None,
            path: path.to_owned(),
            form: root.form,
            scope: root.scope,
            manner,
        })
    }

    fn toml(&mut self, path: &Path, root: &AgentRoot, reader: &mut Reader) -> Option<Agent> {
        let value = self.document(path, reader, |text| {
            toml::from_str(text).map_err(|fault| fault.message().to_owned())
        })?;
        let text = |key: &str| {
            value
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        let prompt = match text("developer_instructions") {
            prompt if prompt.is_empty() => text("instructions"),
            prompt => prompt,
        };
        let model = text("model");
        Some(Agent {
            name: named(path, text("name")),
            description: text("description"),
            tools: strings(value.get("tools")),
            model: (!model.is_empty()).then_some(model),
            prompt,
            workspace: None,
            path: path.to_owned(),
            form: root.form,
            scope: root.scope,
            manner: Manner::default(),
        })
    }

    fn settings(&mut self, root: &AgentRoot, reader: &mut Reader) {
        if root.path.symlink_metadata().is_err() {
            return;
        }
        let Some(value) = self.document(&root.path, reader, |text| {
            serde_json::from_str(text).map_err(|fault| fault.to_string())
        }) else {
            return;
        };
        let list = value
            .pointer("/agents/list")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        for entry in list {
            let text = |key: &str| {
                entry
                    .get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned()
            };
            let id = text("id");
            if id.is_empty() {
                self.skipped(&root.path, "an entry of `agents.list` has no `id`");
                continue;
            }
            let (model, workspace) = (text("model"), text("workspace"));
            self.take(Agent {
                name: id,
                description: text("name"),
                tools: strings(entry.pointer("/tools/allow")),
                model: (!model.is_empty()).then_some(model),
                prompt: String::new(),
                workspace: (!workspace.is_empty()).then(|| PathBuf::from(workspace)),
                path: root.path.clone(),
                form: root.form,
                scope: root.scope,
                manner: Manner::default(),
            });
        }
    }

    fn document(
        &mut self,
        path: &Path,
        reader: &mut Reader,
        parse: impl Fn(&str) -> Result<Value, String>,
    ) -> Option<Value> {
        let parsed = match reader.read(path, 2 * 1024 * 1024) {
            Ok(contents) => parse(String::from_utf8_lossy(&contents.bytes).trim_start_matches('\u{FEFF}')),
            Err(problem) => Err(problem.to_string()),
        };
        match parsed {
            Ok(value) => Some(value),
            Err(reason) => {
                self.skipped(path, &reason);
                None
            }
        }
    }

    fn skipped(&mut self, path: &Path, reason: &str) {
        let message = format!("gives no agent: {reason}");
        self.diagnostics
            .push(Diagnostic::new(Code::Definition, Severity::Error, path, message));
    }

    fn take(&mut self, agent: Agent) {
        if agent.description.is_empty() {
            let message = format!(
                "agent `{}` has no description: nothing says when to send it",
                agent.name
            );
            self.diagnostics.push(Diagnostic::new(
                Code::Definition,
                Severity::Warning,
                &agent.path,
                message,
            ));
        }
        if self.agents.iter().any(|known| known.name == agent.name) {
            self.shadowed.push(agent);
        } else {
            self.agents.push(agent);
        }
    }
}

/// Whether a file leads out of the project once links are followed: a repository must not put a file from
/// elsewhere into a prompt. Folders of definitions lie two levels below the project's root.
fn leads_out(path: &Path, folder: &Path) -> bool {
    let root = folder.ancestors().nth(2).unwrap_or(folder);
    match (path.canonicalize(), root.canonicalize()) {
        (Ok(path), Ok(root)) => !path.starts_with(root),
        _ => false,
    }
}

fn named(path: &Path, given: String) -> String {
    if given.is_empty() {
        path.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    } else {
        given
    }
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}
