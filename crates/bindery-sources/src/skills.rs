//! Skills: an index of `SKILL.md` files by name and description; a body is read when it is asked for.

mod offer;
mod roots;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use bindery_core::Trust;
use serde::Serialize;

use crate::definition::{self, Header};
use crate::dialect::Scope;
use crate::instructions::{Code, Diagnostic, Severity};
use crate::places::Places;
use crate::reading::{Problem, Reader};

pub use offer::{MOST_INDEX, Offer, offer};
pub use roots::roots;

/// Longest name that the published format of skills allows, in characters.
pub const LONGEST_NAME: usize = 64;
/// Longest description that the published format of skills allows, in characters.
pub const LONGEST_DESCRIPTION: usize = 1024;

/// A directory whose sub-directories are skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillRoot {
    /// The directory.
    pub path: PathBuf,
    /// Whose skills they are.
    pub scope: Scope,
}

/// One skill of the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// Its name: the front matter's, else its directory's.
    pub name: String,
    /// What it is for, in one line; empty where the file says nothing.
    pub description: String,
    /// Its `SKILL.md`.
    pub path: PathBuf,
    /// Whose it is.
    pub scope: Scope,
    /// Whether the model is told of it; `disable-model-invocation` keeps it for people.
    pub is_offered: bool,
}

/// Skills by name, each once, with what was shadowed and what is wrong.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SkillIndex {
    /// In name order.
    pub skills: Vec<Skill>,
    /// Skills whose name an earlier root has already.
    pub shadowed: Vec<Skill>,
    /// Remarks.
    pub diagnostics: Vec<Diagnostic>,
}

impl SkillIndex {
    /// Indexes roots, the one that counts most first. Bodies are read but not kept.
    pub fn read(roots: &[SkillRoot], places: &Places, reader: &mut Reader) -> Self {
        let mut index = Self::default();
        for root in roots {
            for path in files(&root.path) {
                if root.scope.trust() == Trust::Project && leaves(&path, places) {
                    index.diagnostics.push(outside(&path));
                    continue;
                }
                index.take(&path, root.scope, reader);
            }
        }
        index.skills.sort_by(|a, b| a.name.cmp(&b.name));
        index
    }

    fn take(&mut self, path: &Path, scope: Scope, reader: &mut Reader) {
        let header = match definition::read(path, reader) {
            Ok(definition) => {
                self.diagnostics.extend(definition.notes);
                definition.header
            }
            Err(problem) => {
                self.diagnostics.push(unreadable(path, &problem));
                return;
            }
        };
        let skill = Skill {
            name: name(path, &header),
            description: header.text("description"),
            path: path.to_owned(),
            scope,
            is_offered: !header.is_true("disable-model-invocation"),
        };
        self.check(&skill);
        if self.skills.iter().any(|known| known.name == skill.name) {
            self.shadowed.push(skill);
        } else {
            self.skills.push(skill);
        }
    }

    fn check(&mut self, skill: &Skill) {
        let mut note = |message: String| {
            self.diagnostics.push(Diagnostic::new(
                Code::Definition,
                Severity::Warning,
                &skill.path,
                message,
            ));
        };
        if skill.description.is_empty() {
            note("no `description`: the model has nothing to choose this skill by".to_owned());
        }
        if skill.description.chars().count() > LONGEST_DESCRIPTION {
            note(format!(
                "the description is longer than {LONGEST_DESCRIPTION} characters"
            ));
        }
        if skill.name.chars().count() > LONGEST_NAME {
            note(format!("the name is longer than {LONGEST_NAME} characters"));
        }
    }

    /// The text of a skill, front matter off.
    pub fn body(&self, name: &str, reader: &mut Reader) -> Option<Result<String, Problem>> {
        let skill = self.skills.iter().find(|skill| skill.name == name)?;
        Some(definition::read(&skill.path, reader).map(|definition| definition.body))
    }
}

fn name(path: &Path, header: &Header) -> String {
    let given = header.text("name");
    if !given.is_empty() {
        return given;
    }
    let directory = path.parent().and_then(Path::file_name).unwrap_or_default();
    directory.to_string_lossy().into_owned()
}

/// `SKILL.md` of the root's sub-directories, in name order; links to directories are followed.
fn files(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path().join("SKILL.md"))
        .filter(|path| path.symlink_metadata().is_ok())
        .collect();
    found.sort();
    found
}

/// Whether a link of the repository leads out of it.
fn leaves(path: &Path, places: &Places) -> bool {
    let (real, project) = (path.canonicalize(), places.project.canonicalize());
    real.is_ok_and(|real| project.is_ok_and(|project| !real.starts_with(project)))
}

fn outside(path: &Path) -> Diagnostic {
    Diagnostic::new(
        Code::OutsideProject,
        Severity::Warning,
        path,
        "not in the index: a symbolic link that leads out of the project".to_owned(),
    )
}

fn unreadable(path: &Path, problem: &Problem) -> Diagnostic {
    Diagnostic::new(
        Code::Unreadable,
        Severity::Error,
        path,
        format!("not in the index: {problem}"),
    )
}
