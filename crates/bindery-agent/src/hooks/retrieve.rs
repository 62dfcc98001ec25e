//! What the harness reads for a state and shows to the model.

use std::path::{Path, PathBuf};

use bindery_core::Trust;
use bindery_guard::policy::Approval;
use bindery_hooks::Owner;
use bindery_sources::Position;
use bindery_sources::gate::{Gate, Passage};
use bindery_sources::reading::Reader;
use globset::GlobBuilder;

/// The most bytes of one file that are shown.
const MOST_FILE: usize = 64 * 1024;
/// The most bytes that are shown for one state.
const MOST_ALL: usize = 256 * 1024;
/// The most files that one pattern brings in.
const MOST_FILES: usize = 200;

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retrieved {
    /// The files, as they are shown, each under its name.
    pub text: String,
    /// Their names.
    pub files: Vec<String>,
    /// What is not shown, and why.
    pub remarks: Vec<String>,
}

/// Reads the files of a state. `Err` says what is missing: then the state does not hold. A repository's own
/// declaration reaches files of the repository only.
pub fn retrieve(
    project: &Path,
    home: Option<&Path>,
    owner: Owner,
    patterns: &[String],
    gate: &Gate,
) -> Result<Retrieved, String> {
    let mut out = Retrieved {
        text: String::new(),
        files: Vec::new(),
        remarks: Vec::new(),
    };
    let mut found: Vec<PathBuf> = Vec::new();
    for pattern in patterns {
        for path in matching(project, home, owner, pattern, &mut out.remarks)? {
            if !found.contains(&path) {
                found.push(path);
            }
        }
    }
    if found.is_empty() {
        return Err(format!("nothing matches {}", patterns.join(", ")));
    }
    for path in found {
        out.add(&path, project, owner, gate)?;
    }
    Ok(out)
}

impl Retrieved {
    fn add(&mut self, path: &Path, project: &Path, owner: Owner, gate: &Gate) -> Result<(), String> {
        let shown = path
            .strip_prefix(project)
            .unwrap_or(path)
            .to_string_lossy()
            .into_owned();
        let real = path
            .canonicalize()
            .map_err(|error| format!("{shown} cannot be read: {error}"))?;
        let inside = project
            .canonicalize()
            .is_ok_and(|project| real.starts_with(project));
        if owner == Owner::Project && !inside {
            return Err(format!("{shown} lies outside of the project"));
        }
        let contents = Reader::new().read(&real, 16 * 1024 * 1024);
        let contents = contents.map_err(|problem| format!("{shown} cannot be read: {problem:?}"))?;
        let text = String::from_utf8_lossy(&contents.bytes).into_owned();
        let room = MOST_FILE.min(MOST_ALL.saturating_sub(self.text.len()));
        let end = text.floor_char_boundary(room);
        let kept = text.get(..end).unwrap_or_default();
        let passage = Passage {
            fragment: &format!("retrieved:{shown}"),
            shown: &shown,
            trust: if inside { Trust::Project } else { Trust::User },
            approval: Approval::Missing,
            approve: "read the file, and mend it",
            place: &|line| Position::line(shown.as_str(), line),
        };
        let passed = gate.pass(kept, &passage);
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        for part in ["# ", &shown, "\n\n", passed.trim_end()] {
            self.text.push_str(part);
        }
        let left = text.len().saturating_sub(end);
        if left > 0 {
            let note = format!("\n[{left} bytes of {shown} are left out]");
            self.text.push_str(&note);
            self.remarks
                .push(format!("{left} bytes of {shown} were not shown"));
        }
        self.files.push(shown);
        Ok(())
    }
}

/// The files that a pattern names, in order. A path without wildcards has to be there.
fn matching(
    project: &Path,
    home: Option<&Path>,
    owner: Owner,
    pattern: &str,
    remarks: &mut Vec<String>,
) -> Result<Vec<PathBuf>, String> {
    let whole = match (pattern.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_), None) => return Err(format!("{pattern}: there is no home directory")),
        (None, _) => project.join(pattern),
    };
    if owner == Owner::Project && !whole.starts_with(project) {
        return Err(format!("{pattern} leads out of the project"));
    }
    let is_wild =
        |part: &std::path::Component<'_>| part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    let literal: PathBuf = whole.components().take_while(|part| !is_wild(part)).collect();
    if literal == whole {
        return if whole.is_file() {
            Ok(vec![whole])
        } else {
            Err(format!("{pattern} is not there"))
        };
    }
    let glob = GlobBuilder::new(&whole.to_string_lossy())
        .literal_separator(true)
        .build();
    let glob = glob.map_err(|error| error.to_string())?.compile_matcher();
    let walk = ignore::WalkBuilder::new(&literal)
        .standard_filters(false)
        .max_depth(Some(12))
        .build();
    let files = walk.filter_map(Result::ok).map(ignore::DirEntry::into_path);
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.is_file() && glob.is_match(path))
        .collect();
    files.sort();
    let left = files.len().saturating_sub(MOST_FILES);
    if left > 0 {
        remarks.push(format!("{left} files that match {pattern} were not shown"));
        files.truncate(MOST_FILES);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_are_shown_in_order_and_what_is_missing_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("p");
        fs::create_dir_all(project.join("memory/topics")).unwrap();
        fs::write(project.join("memory/MEMORY.md"), "INDEX\n").unwrap();
        fs::write(project.join("memory/topics/b.md"), "B").unwrap();
        fs::write(project.join("memory/topics/a.md"), "A").unwrap();
        fs::write(folder.path().join("secret.md"), "SECRET").unwrap();
        let gate = Gate::default();
        let read = |patterns: &[&str], owner| {
            let patterns: Vec<String> = patterns.iter().map(|one| (*one).to_owned()).collect();
            retrieve(&project, None, owner, &patterns, &gate)
        };
        let all = read(&["memory/MEMORY.md", "memory/**/*.md"], Owner::Project).unwrap();
        assert_eq!(
            all.files,
            ["memory/MEMORY.md", "memory/topics/a.md", "memory/topics/b.md"]
        );
        assert!(
            all.text.starts_with("# memory/MEMORY.md\n\nINDEX"),
            "{}",
            all.text
        );
        assert_eq!(
            read(&["no.md"], Owner::User),
            Err("no.md is not there".to_owned())
        );
        assert!(read(&["none/*.md"], Owner::User).is_err());
        assert!(read(&["../secret.md"], Owner::Project).is_err());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.path().join("secret.md"), project.join("memory/link.md"))
                .unwrap();
            assert!(read(&["memory/link.md"], Owner::Project).is_err());
            assert!(read(&["memory/link.md"], Owner::User).is_ok());
        }
    }
}
