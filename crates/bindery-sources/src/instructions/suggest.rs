//! Names that were probably meant.

use std::fs;
use std::path::Path;

/// The candidate nearest to a word, if one is near enough to have been meant.
pub(super) fn near<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let lower = word.to_lowercase();
    candidates
        .map(|candidate| {
            let other = candidate.to_lowercase();
            (strsim::damerau_levenshtein(&lower, &other), candidate)
        })
        .filter(|(distance, candidate)| *distance <= 2 && *distance * 3 <= candidate.chars().count())
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}

/// The entry of the directory of `path` whose name is nearest to its own.
pub(super) fn near_file(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let names = names_in(path.parent()?);
    near(
        &name,
        names.iter().map(String::as_str).filter(|other| *other != name),
    )
}

/// The names in a directory, sorted; none where it cannot be read.
pub(super) fn names_in(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}
