//! What servers said of their tools when they were last asked. Approvals are given on it without starting
//! anything, and a change between two sessions is noticed.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use bindery_core::ContentHash;
use bindery_core::canonical::canonical_json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::places::Places;

/// What a server says of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolText {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The schema of its input.
    pub schema: Value,
}

impl ToolText {
    /// Everything that reaches the model, for people to read and to approve. Equal tools, equal text.
    pub fn text(&self) -> String {
        let schema = canonical_json(&self.schema);
        // The same in lines, so that a difference shows what changed.
        let pretty = serde_json::from_str::<Value>(schema.get())
            .and_then(|value| serde_json::to_string_pretty(&value))
            .unwrap_or_else(|_| schema.get().to_owned());
        format!("{}\n\n{}\n\n{pretty}\n", self.name, self.description)
    }

    /// The hash that an approval is for.
    pub fn hash(&self) -> ContentHash {
        ContentHash::of(self.text().as_bytes())
    }
}

/// Where the last lists of one project's servers lie.
#[derive(Debug, Clone)]
pub struct SeenTools {
    folder: PathBuf,
}

impl SeenTools {
    /// The lists of the project of `places`; `None` where there is no state directory.
    pub fn new(places: &Places) -> Option<Self> {
        let project = places
            .project
            .canonicalize()
            .unwrap_or_else(|_| places.project.clone());
        let name = ContentHash::of(project.as_os_str().as_encoded_bytes()).to_string();
        let name: String = name.chars().take(32).collect();
        Some(Self {
            folder: places.state.as_ref()?.join("mcp").join(name),
        })
    }

    /// The tools of a server when it was last asked; `None` where it never was, or the file is broken.
    pub fn read(&self, server: &str) -> Option<Vec<ToolText>> {
        serde_json::from_slice(&fs::read(self.path(server)).ok()?).ok()
    }

    /// Keeps a list, if it differs from the one that is there.
    pub fn write(&self, server: &str, tools: &[ToolText]) -> std::io::Result<()> {
        if self.read(server).is_some_and(|known| known == tools) {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&serde_json::to_vec(tools)?)?;
        file.persist(self.path(server)).map_err(|error| error.error)?;
        Ok(())
    }

    /// Server names may hold anything.
    fn path(&self, server: &str) -> PathBuf {
        let name: String = ContentHash::of(server.as_bytes())
            .to_string()
            .chars()
            .take(32)
            .collect();
        self.folder.join(format!("{name}.json"))
    }
}
