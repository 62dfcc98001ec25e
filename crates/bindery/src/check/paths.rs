//! Paths in backticks: what a rule points at by name.

use std::path::{Path, PathBuf};

use bindery_sources::tree::{Spelling, Tree};
use pulldown_cmark::{Event, Parser};

use super::codes::Code;
use super::diagnostic::Diagnostic;
use super::subject::Subject;
use super::tables::Tables;

/// A path as written in a text, and where it begins.
pub(super) struct Named {
    pub(super) written: String,
    pub(super) start: usize,
}

/// What no path in a rule has: templates, patterns, addresses, calls.
const FOREIGN: [char; 22] = [
    '{', '}', '<', '>', '*', '$', '?', '|', '"', '\'', '(', ')', '=', ',', ';', ':', '@', '#', '!', '\\',
    '%', '&',
];

/// Words of a line that speaks of files which need not be there.
const UNSURE: [&str; 12] = [
    "creat", "generat", "e.g.", "example", "such as", "like ", "never", "not ", "n't", "ignore", "if ",
    "new ",
];

/// The paths in code spans that mean a file or folder: they have a slash, and an ending or a slash at the end.
pub(super) fn named(text: &str) -> Vec<Named> {
    let mut out = Vec::new();
    for (event, range) in Parser::new(text).into_offset_iter() {
        let Event::Code(code) = event else { continue };
        let line = line_around(text, range.start).to_lowercase();
        if is_path(&code) && !UNSURE.iter().any(|word| line.contains(word)) {
            out.push(Named {
                written: code.into_string(),
                start: range.start,
            });
        }
    }
    out
}

/// Whether a word without context reads as a relative path to a file or folder.
pub(super) fn is_path(word: &str) -> bool {
    let last = word.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let ending = last.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    let has_ending = ending.is_some_and(|(_, ending)| {
        (1..=5).contains(&ending.len()) && ending.chars().all(char::is_alphanumeric)
    });
    word.contains('/')
        && !word.starts_with(['/', '~', '-'])
        && !word.contains("...")
        && !word.contains("//")
        && !word.contains('…')
        && !word.contains(FOREIGN)
        && !word.contains(char::is_whitespace)
        && (has_ending || word.ends_with('/'))
}

/// Where a path may lie: beside the file that names it, or below the project's root. Nothing where its first
/// part is no folder of the project: then it means something else.
pub(super) fn places(written: &str, file: &Path, tree: &Tree) -> Vec<PathBuf> {
    let beside = file.parent().unwrap_or(tree.root());
    let first = written.split('/').find(|part| !matches!(*part, "" | "." | ".."));
    let known = |base: &&Path| {
        let first = base.join(first.unwrap_or_default());
        tree.spelling(&first) == Spelling::Exact
    };
    [beside, tree.root()]
        .iter()
        .filter(|base| known(base))
        .map(|base| base.join(written))
        .collect()
}

fn line_around(text: &str, at: usize) -> &str {
    let start = text
        .get(..at)
        .and_then(|before| before.rfind('\n'))
        .map_or(0, |end| end + 1);
    let rest = text.get(start..).unwrap_or_default();
    rest.split('\n').next().unwrap_or_default()
}

pub(super) fn check(subject: &Subject, _: &Tables, out: &mut Vec<Diagnostic>) {
    let root = subject.tree.root();
    if !subject.tree.is_complete() {
        return;
    }
    for (shown, text) in subject
        .instructions()
        .into_iter()
        .filter(|(_, text)| text.path.starts_with(root))
    {
        for named in named(&text.text) {
            let places = places(&named.written, &text.path, &subject.tree);
            let is_there = places.iter().any(|place| {
                subject.tree.spelling(place) == Spelling::Exact || subject.outside_tree.contains(place)
            });
            if places.is_empty() || is_there {
                continue;
            }
            let before = text.text.get(..named.start).unwrap_or_default();
            let line = u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX);
            let message = format!("`{}` is not there", named.written);
            let other = places
                .iter()
                .find_map(|place| match subject.tree.spelling(place) {
                    Spelling::OtherCase(other) => Some(other),
                    _ => None,
                });
            let mend = match other {
                Some(other) => format!("its name is `{}`", other.display()),
                None => "correct the path, or leave it out".to_owned(),
            };
            out.push(Diagnostic::new(Code::PathDead, shown.clone(), line, message).mend(mend));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_reads_as_a_file_is_a_path() {
        let text = "See `src/a.rs`, `src/`, `and/or`, `GET /x.y`, `src/*.rs`, `@a/b.js`, `/etc/x.md`, `a.md`, `https://x.y/z.md`.\n\n\
                    Create `src/new.rs`, never touch `src/old.rs`.\n";
        let found: Vec<String> = named(text).into_iter().map(|named| named.written).collect();
        assert_eq!(found, ["src/a.rs", "src/"]);
    }

    #[test]
    fn a_path_starts_in_a_folder_of_the_project() {
        let tree = Tree::of(Path::new("/p"), ["src/a.rs".into(), "web/app/b.ts".into()]);
        let all = |written| places(written, Path::new("/p/web/AGENTS.md"), &tree);
        assert_eq!(all("src/gone.rs"), [PathBuf::from("/p/src/gone.rs")]);
        assert_eq!(all("app/gone.ts"), [PathBuf::from("/p/web/app/gone.ts")]);
        assert!(all("origin/main.x").is_empty());
    }
}
