//! A case of the parity corpus: a file tree, and what a real client loaded from it.
//!
//! `cargo xtask parity` includes this file too, so that whoever writes the corpus and whoever reads
//! it lay the same trees.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Stands for the tree's absolute path in texts, link targets and settings.
pub(crate) const BASE: &str = "{{BASE}}";

/// One tree and its truth.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    /// `claude`, `codex` or `hermes`.
    pub(crate) dialect: String,
    /// The client that was run, with its version.
    #[serde(default)]
    pub(crate) client: String,
    /// The rule that the tree asks about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) rule: String,
    /// Working directory, relative to the tree. `home` is the home directory.
    pub(crate) cwd: String,
    /// Contents by path relative to the tree; a path ending in `/` is a directory.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, Content>,
    /// Link targets by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) symlinks: BTreeMap<String, String>,
    /// The client's settings: keys of Codex' `config.toml`, and how far a folder is trusted.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) config: Map<String, Value>,
    /// Files that the client loads and Bindery refuses on purpose, with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) refused: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) expected: Expected,
}

/// What the client did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Expected {
    /// Paths in order of appearance.
    pub(crate) loaded: Vec<String>,
    /// Bytes kept of each file that was cut.
    #[serde(default)]
    pub(crate) cut: BTreeMap<String, u64>,
    /// What each touch of a file added, one after another in one session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) after_touch: Vec<Touched>,
    /// The client takes an order that no rule gives (raw directory order, a hash set).
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) unordered: bool,
    /// The text as sent, where it is not the file's text without the white space at its ends.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) rendered: BTreeMap<String, String>,
    /// All files as one text, where the client sends them so and it is short.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) body: String,
}

/// A touched file and what became visible with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Touched {
    pub(crate) touch: String,
    pub(crate) loaded: Vec<String>,
}

/// A file's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Content {
    /// UTF-8 text; for a directory `<repo>`, `<gitdir>` or nothing.
    Text(String),
    /// Any bytes.
    Bytes { b64: String },
    /// A big file: `pre`, `n` times `unit`, `post`.
    Repeated {
        #[serde(default)]
        pre: String,
        unit: String,
        n: usize,
        #[serde(default)]
        post: String,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Content {
    /// The bytes to write into the tree at `base`.
    pub(crate) fn bytes(&self, base: &str) -> io::Result<Vec<u8>> {
        Ok(match self {
            Self::Text(text) => text.replace(BASE, base).into_bytes(),
            Self::Bytes { b64 } => STANDARD.decode(b64).map_err(io::Error::other)?,
            Self::Repeated { pre, unit, n, post } => format!("{pre}{}{post}", unit.repeat(*n)).into_bytes(),
        })
    }
}

impl Case {
    /// Reads a corpus, one case a line.
    pub(crate) fn read_all(path: &Path) -> io::Result<Vec<Self>> {
        fs::read_to_string(path)?
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| serde_json::from_str(line).map_err(io::Error::other))
            .collect()
    }

    /// The folder that stands for `$CODEX_HOME`.
    pub(crate) fn codex_home(&self, root: &Path) -> PathBuf {
        let named = self.config.get("codex_home").and_then(Value::as_str);
        root.join(named.unwrap_or("home/.codex"))
    }

    /// Lays the tree into an empty folder whose path has no links in it.
    pub(crate) fn lay(&self, root: &Path) -> io::Result<()> {
        let base = root.to_string_lossy();
        for name in ["home", "repo"] {
            fs::create_dir_all(root.join(name))?;
        }
        for (name, content) in &self.files {
            let path = root.join(name);
            if name.ends_with('/') {
                directory(&path, content)?;
                continue;
            }
            make_parent(&path)?;
            fs::write(&path, content.bytes(&base)?)?;
        }
        for (name, target) in &self.symlinks {
            let path = root.join(name);
            make_parent(&path)?;
            std::os::unix::fs::symlink(target.replace(BASE, &base), path)?;
        }
        fs::create_dir_all(root.join(&self.cwd))?;
        match self.dialect.as_str() {
            "claude" => self.claude_settings(root),
            "codex" => self.codex_settings(root),
            _ => Ok(()),
        }
    }

    /// What Bindery has to load where the client loads these: all but what it refuses on purpose.
    pub(crate) fn wanted(&self, loaded: &[String]) -> Vec<String> {
        let wanted = loaded.iter().filter(|path| !self.refused.contains_key(*path));
        wanted.cloned().collect()
    }

    fn trusted(&self) -> bool {
        self.config.get("trusted") != Some(&Value::Bool(false))
    }

    /// The working directory and the directories above it, inside the tree.
    fn folders(&self, root: &Path) -> Vec<PathBuf> {
        root.join(&self.cwd)
            .ancestors()
            .take_while(|folder| *folder != root)
            .map(Path::to_owned)
            .collect()
    }

    /// `~/.claude.json`, where Claude Code keeps trust and approvals by folder.
    fn claude_settings(&self, root: &Path) -> io::Result<()> {
        let path = root.join("home/.claude.json");
        if path.exists() {
            return Ok(());
        }
        let mut entry = json!({ "hasTrustDialogAccepted": self.trusted() });
        if self.config.get("external_includes_approved") == Some(&Value::Bool(true)) {
            entry["hasClaudeMdExternalIncludesApproved"] = Value::Bool(true);
        }
        let keys = self.config.get("approved_keys").and_then(Value::as_array);
        let mut folders = self.folders(root);
        folders.push(root.to_owned());
        let projects: Map<String, Value> = folders
            .iter()
            .filter(|folder| {
                let relative = folder.strip_prefix(root).unwrap_or(folder).to_string_lossy();
                keys.is_none_or(|keys| keys.iter().any(|key| key.as_str() == Some(&relative)))
            })
            .map(|folder| (folder.to_string_lossy().into_owned(), entry.clone()))
            .collect();
        fs::write(path, json!({ "projects": projects }).to_string())
    }

    /// `$CODEX_HOME/config.toml`.
    fn codex_settings(&self, root: &Path) -> io::Result<()> {
        let home = self.codex_home(root);
        fs::create_dir_all(&home)?;
        // JSON values of these kinds (numbers, strings, lists of strings) are TOML values too.
        let mut lines: Vec<String> = self
            .config
            .iter()
            .filter(|(key, _)| !["codex_home", "trusted"].contains(&key.as_str()))
            .map(|(key, value)| format!("{key} = {value}"))
            .collect();
        if self.trusted() {
            lines.extend(
                self.folders(root)
                    .iter()
                    .map(|folder| format!("[projects.\"{}\"]\ntrust_level = \"trusted\"", folder.display())),
            );
        }
        fs::write(home.join("config.toml"), lines.join("\n") + "\n")
    }
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// A bare directory, or the least that git takes for a repository.
fn directory(path: &Path, content: &Content) -> io::Result<()> {
    fs::create_dir_all(path)?;
    let Content::Text(kind) = content else {
        return Ok(());
    };
    if kind == "<repo>" || kind == "<gitdir>" {
        for part in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
            fs::create_dir_all(path.join(part))?;
        }
        fs::write(path.join("HEAD"), "ref: refs/heads/main\n")?;
        let config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
        fs::write(path.join("config"), config)?;
    }
    Ok(())
}
