//! A folder of section files.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::{SectionFile, parse};
use crate::notice::{Notice, Position};
use crate::places::Places;
use crate::strict_file;

/// Most files of one folder: each is read before anything is sent.
const MOST_FILES: usize = 1000;

/// Every `*.md` of a folder, by name. A folder that does not exist holds none; folders below it are not
/// entered. `within` is where the files must really lie, links followed.
pub fn read_folder(
    folder: &Path,
    places: &Places,
    within: Option<&Path>,
) -> Result<Vec<SectionFile>, Vec<Notice>> {
    let mut problems = Vec::new();
    let mut files = Vec::new();
    for path in list(folder, places).map_err(|problem| vec![problem])? {
        match read(&path, &places.shown(&path), within) {
            Ok(file) => files.extend(file),
            Err(problem) => problems.push(problem),
        }
    }
    problems.extend(taken_twice(&files));
    if problems.is_empty() {
        Ok(files)
    } else {
        Err(problems)
    }
}

fn list(folder: &Path, places: &Places) -> Result<Vec<PathBuf>, Notice> {
    let shown = places.shown(folder);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // Nothing there: also where what should be a folder above it, such as the home, is none.
        Err(error)
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
                && fs::symlink_metadata(folder).is_err() =>
        {
            return Ok(Vec::new());
        }
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return Err(Notice::error(
                "sections-not-folder",
                Position::whole(shown),
                "this is not a directory",
            )
            .mend("make it a directory and put one Markdown file a section into it"));
        }
        Err(error) => return Err(strict_file::unreadable(folder, &shown, &error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|error| strict_file::unreadable(folder, &shown, &error))?
            .path();
        if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
        if paths.len() > MOST_FILES {
            let message = format!("there are more than {MOST_FILES} section files here");
            return Err(
                Notice::error("sections-too-many", Position::whole(shown), message)
                    .mend("join them; each section file is read for every request"),
            );
        }
    }
    // By code units of the name, whatever the order on disk and the locale.
    paths.sort();
    Ok(paths)
}

fn read(path: &Path, shown: &str, within: Option<&Path>) -> Result<Option<SectionFile>, Notice> {
    let Some(text) = strict_file::read(path, shown, within)? else {
        // Removed since the folder was listed.
        return Ok(None);
    };
    let stem = path.file_stem().unwrap_or_default();
    let Some(stem) = stem.to_str() else {
        return Err(Notice::error(
            "section-name",
            Position::whole(shown),
            "the file's name is not UTF-8, and it is the section's key",
        )
        .mend("rename the file"));
    };
    parse(&text, stem, shown).map(Some)
}

fn taken_twice(files: &[SectionFile]) -> Vec<Notice> {
    let mut seen: BTreeMap<&Arc<str>, &Arc<str>> = BTreeMap::new();
    let mut problems = Vec::new();
    for file in files {
        if let Some(first) = seen.insert(&file.key, &file.shown) {
            let message = format!("key `{}` is also the key of {first}", file.key);
            problems.push(
                Notice::error("section-duplicate", Position::whole(file.shown.clone()), message)
                    .mend("give one of them another `key`, or remove it"),
            );
        }
    }
    problems
}
