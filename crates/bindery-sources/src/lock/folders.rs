//! The folders of a project in which an agent may come upon instruction files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use crate::dialect::{Catalogue, Files};

/// The folders of `project`, at any depth, that hold an instruction file of any client, in path order.
/// What git ignores is passed over: it is in no commit that somebody else made.
pub fn folders(project: &Path) -> Vec<PathBuf> {
    let names = names();
    let mut found = BTreeSet::new();
    let walk = WalkBuilder::new(project)
        .hidden(false)
        .follow_links(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    for entry in walk.filter_map(Result::ok) {
        let path = entry.path();
        let inner = path.strip_prefix(project).unwrap_or(path);
        if let Some(name) = names.iter().find(|name| inner.ends_with(name)) {
            // `.claude/CLAUDE.md` belongs to the folder of `.claude`.
            found.extend(
                path.ancestors()
                    .nth(name.components().count())
                    .map(Path::to_owned),
            );
        }
    }
    found.into_iter().collect()
}

/// Names of instruction files within a folder, of every client.
fn names() -> BTreeSet<PathBuf> {
    let catalogue = Catalogue::shipped();
    let dialects = catalogue
        .list()
        .into_iter()
        .filter_map(|listed| catalogue.get(&listed.name).ok());
    let of_files = |files: &Files| files.names.iter().map(PathBuf::from).collect::<Vec<_>>();
    dialects
        .flat_map(|dialect| {
            let touched = dialect.touch.iter().flat_map(|touch| &touch.files);
            let placed = dialect.places.iter().flat_map(|place| &place.files);
            touched.chain(placed).flat_map(of_files).collect::<Vec<_>>()
        })
        .filter(|name| !name.is_absolute())
        .collect()
}
