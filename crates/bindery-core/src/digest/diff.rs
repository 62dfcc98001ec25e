//! A digest of a difference: its files, with what was added and removed, and where.

use std::fmt::Write as _;

use super::Bounds;
use super::clean::clean;

/// A difference shows itself within these first lines.
const LOOK: u64 = 40;
/// The most files that are told one by one.
const FILES: usize = 400;
/// The most places of a file that are told.
const PLACES: usize = 4;

#[derive(Debug, Default)]
pub(super) struct DiffDigest {
    is_diff: bool,
    files: Vec<File>,
    more_files: u64,
    more: (u64, u64),
    /// Whether the line before named an old file.
    seen: bool,
}

#[derive(Debug, Default)]
struct File {
    line: u64,
    name: String,
    added: u64,
    removed: u64,
    places: Vec<String>,
    more_places: u64,
}

impl DiffDigest {
    pub(super) fn line(&mut self, number: u64, line: &[u8]) {
        if !self.is_diff {
            if number > LOOK {
                return;
            }
            let begins = line.starts_with(b"diff --git ") || (self.seen && line.starts_with(b"+++ "));
            self.seen = line.starts_with(b"--- ");
            if !begins {
                return;
            }
            self.is_diff = true;
        }
        if line.starts_with(b"diff --git ") {
            self.begin(number, line.get(11..).unwrap_or_default());
        } else if line.starts_with(b"+++ ") {
            self.named(number, line.get(4..).unwrap_or_default());
        } else if line.starts_with(b"@@ ") {
            self.place(line);
        } else if line.starts_with(b"+") {
            self.count(1, 0);
        } else if line.starts_with(b"-") && !line.starts_with(b"--- ") {
            self.count(0, 1);
        }
    }

    fn begin(&mut self, number: u64, name: &[u8]) {
        if self.files.len() == FILES {
            self.more_files += 1;
            return;
        }
        let name = clean(name, 200);
        let name = name.rsplit_once(" b/").map_or(name.as_str(), |(_, new)| new);
        self.files.push(File {
            line: number,
            name: name.to_owned(),
            ..File::default()
        });
    }

    /// A file without a `diff --git` line before it.
    fn named(&mut self, number: u64, name: &[u8]) {
        let name = name.strip_prefix(b"b/").unwrap_or(name);
        let known = clean(name, 200);
        let is_begun = self
            .files
            .last()
            .is_some_and(|file| number - file.line < 12 && file.places.is_empty());
        if !is_begun && self.more_files == 0 {
            self.begin(number, known.as_bytes());
        }
    }

    fn place(&mut self, line: &[u8]) {
        if self.more_files > 0 {
            return;
        }
        if let Some(file) = self.files.last_mut() {
            if file.places.len() < PLACES {
                file.places.push(clean(line, 120));
            } else {
                file.more_places += 1;
            }
        }
    }

    fn count(&mut self, added: u64, removed: u64) {
        if let Some(file) = self.files.last_mut().filter(|_| self.more_files == 0) {
            file.added += added;
            file.removed += removed;
        } else {
            self.more.0 += added;
            self.more.1 += removed;
        }
    }

    pub(super) fn is_diff(&self) -> bool {
        self.is_diff
    }

    pub(super) fn show(&self, bounds: Bounds) -> (String, String) {
        let most = bounds.head + bounds.tail + bounds.notable;
        let mut body = String::new();
        let mut left = (self.more_files, self.more.0, self.more.1);
        for file in &self.files {
            if body.len() > most {
                left = (left.0 + 1, left.1 + file.added, left.2 + file.removed);
                continue;
            }
            let File {
                line,
                name,
                added,
                removed,
                ..
            } = file;
            // Writing to a string cannot fail.
            let _ = writeln!(body, "line {line}: {name} +{added} -{removed}");
            for place in &file.places {
                let _ = writeln!(body, "  {place}");
            }
            if file.more_places > 0 {
                let _ = writeln!(body, "  … {} more places", file.more_places);
            }
        }
        if left.0 > 0 {
            let _ = writeln!(body, "… {} more files, +{} -{}", left.0, left.1, left.2);
        }
        let shown = "the files that differ, with the lines added and removed and where".to_owned();
        (body.trim_end().to_owned(), shown)
    }
}
