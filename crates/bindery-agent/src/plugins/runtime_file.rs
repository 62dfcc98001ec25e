//! The runtime-context file: what a person edits while the agent works, read again with each submission.
//!
//! It travels in the snapshot of the runtime context, so that a new text supersedes the old one and no byte
//! before it changes. An empty file, or none, takes it back.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bindery_core::{Context, ProviderError, Registration, Scope, Source, Trust};
use bindery_guard::policy::Approval;
use bindery_sources::gate::{Gate, Passage};
use bindery_sources::{Notice, Position};

use crate::agent::{Moment, Refresh};

/// The files, in the order in which their texts stand.
pub const FILES: [&str; 2] = [".bindery/runtime-context.md", ".claude/runtime-context.md"];
/// The most characters that are passed on.
pub const MOST_CHARS: usize = 10_000;

/// What the files say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuntimeText {
    /// The texts, one after the other; empty where there is nothing to say.
    pub text: String,
    /// The files that say something.
    pub files: Vec<String>,
    /// What was left out, and why.
    pub remarks: Vec<String>,
}

/// Reads the files of a project, bounded, each through the gate. One that cannot be read says nothing, and a
/// remark says so.
pub fn runtime_text(project: &Path, gate: &Gate) -> RuntimeText {
    let mut out = RuntimeText::default();
    for file in FILES {
        let path = project.join(file);
        if path.symlink_metadata().is_err() {
            continue;
        }
        match read(&path, project) {
            Err(why) => out.remarks.push(format!("{file}: {why}")),
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => out.add(file, &text, gate),
        }
    }
    out
}

impl RuntimeText {
    fn add(&mut self, file: &str, text: &str, gate: &Gate) {
        let room = MOST_CHARS.saturating_sub(self.text.chars().count());
        let length = text.chars().count();
        let kept: String = text.chars().take(room).collect();
        let passage = Passage {
            fragment: &format!("context:{file}"),
            shown: file,
            trust: Trust::Project,
            approval: Approval::Missing,
            approve: "read the file, and mend it",
            place: &|line| Position::line(file, line),
        };
        let passed = gate.pass(&kept, &passage);
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(passed.trim());
        if length > room {
            let left = length - room;
            let note = format!("\n[{left} characters of {file} are left out]");
            self.text.push_str(&note);
            self.remarks.push(format!(
                "{file}: {left} of {length} characters were left out; at most {MOST_CHARS} are passed on"
            ));
        }
        self.files.push(file.to_owned());
    }
}

fn read(path: &Path, project: &Path) -> Result<String, String> {
    let real = path.canonicalize().map_err(|error| error.to_string())?;
    let inside = project
        .canonicalize()
        .is_ok_and(|project| real.starts_with(project));
    if !inside {
        return Err("it is a link that leads out of the project".to_owned());
    }
    if !real.is_file() {
        return Err("it is no regular file".to_owned());
    }
    // A character has at most four bytes; one more tells that there is more.
    let most = 4 * MOST_CHARS as u64 + 4096;
    let mut bytes = Vec::new();
    let file = File::open(&real).map_err(|error| error.to_string())?;
    file.take(most)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Keeps the context of a session as the files are.
pub struct RuntimeFile {
    project: PathBuf,
    gate: Arc<Gate>,
    scope: Scope,
    told: RuntimeText,
    kept: Option<Registration>,
}

impl RuntimeFile {
    /// The files of `project`, registered in `scope`.
    pub fn new(project: PathBuf, gate: Arc<Gate>, scope: Scope) -> Self {
        Self {
            project,
            gate,
            scope,
            told: RuntimeText::default(),
            kept: None,
        }
    }
}

impl Refresh for RuntimeFile {
    fn refresh(&mut self, at: Moment<'_>) -> Result<Vec<Notice>, ProviderError> {
        if at.step > 1 {
            return Ok(Vec::new());
        }
        let now = runtime_text(&self.project, &self.gate);
        if now == self.told {
            return Ok(Vec::new());
        }
        self.kept = None;
        if !now.text.is_empty() {
            let source = Source::File {
                path: now.files.join(", ").into(),
                lines: None,
            };
            let context = Context::new("runtime-file", now.text.clone()).order(40).literal();
            self.kept = Some(self.scope.context(context.from_source(source, Trust::Project))?);
        }
        let notices = now.remarks.iter().map(|remark| told(remark)).collect();
        self.told = now;
        Ok(notices)
    }
}

fn told(remark: &str) -> Notice {
    Notice {
        level: bindery_sources::Level::Warning,
        code: "runtime-context".into(),
        at: Position::whole(FILES.join(", ")),
        message: remark.to_owned(),
        excerpt: None,
        mend: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn both_files_are_read_bounded_and_an_empty_one_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (project, gate) = (folder.path(), Gate::default());
        assert_eq!(runtime_text(project, &gate), RuntimeText::default());
        fs::create_dir_all(project.join(".bindery")).unwrap();
        fs::create_dir_all(project.join(".claude")).unwrap();
        fs::write(project.join(FILES[0]), "one\n").unwrap();
        fs::write(project.join(FILES[1]), "two\n").unwrap();
        let both = runtime_text(project, &gate);
        assert_eq!((both.text.as_str(), both.files.len()), ("one\n\ntwo", 2));
        fs::write(project.join(FILES[0]), " \n").unwrap();
        assert_eq!(runtime_text(project, &gate).text, "two");
        fs::write(project.join(FILES[1]), "é".repeat(MOST_CHARS + 1)).unwrap();
        let cut = runtime_text(project, &gate);
        assert!(
            cut.text
                .ends_with("[1 characters of .claude/runtime-context.md are left out]")
        );
        assert_eq!(cut.remarks.len(), 1);
        fs::remove_file(project.join(FILES[1])).unwrap();
        fs::create_dir(project.join(FILES[1])).unwrap();
        assert_eq!(runtime_text(project, &gate).remarks.len(), 1);
    }
}
