//! From a line of the text that is sent to a line of the file on disk.
//!
//! Clients drop front matter and comments and put imported files in the place of their imports, so the
//! two differ. The files are read again only when there is something to show.

use std::cell::OnceCell;
use std::path::Path;

use crate::notice::{Position, number};
use crate::reading::Reader;

/// Most bytes of a file that are searched for a line.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// Where the lines of a text came from.
pub struct Origin<'a> {
    text: &'a str,
    /// The file, then those that stand within it: where it is, and its name.
    files: Vec<(&'a Path, String)>,
    lines: OnceCell<Vec<Vec<String>>>,
}

impl<'a> Origin<'a> {
    /// For a text that came from files, the outermost first.
    pub fn new(text: &'a str, files: Vec<(&'a Path, String)>) -> Self {
        Self {
            text,
            files,
            lines: OnceCell::new(),
        }
    }

    /// The place of a line of the text, from 1. A line that cannot be found keeps its number in the text.
    pub fn place(&self, line: u32) -> Position {
        let index = usize::try_from(line).unwrap_or(0).saturating_sub(1);
        let wanted = self.text.lines().nth(index).unwrap_or_default().trim();
        let found = self
            .lines()
            .iter()
            .zip(&self.files)
            .enumerate()
            .find_map(|(at, (lines, (_, name)))| {
                // In the file itself nothing moves up; a file within it starts anew.
                let skipped = if at == 0 { index } else { 0 };
                let place = lines
                    .iter()
                    .skip(skipped)
                    .position(|other| other.trim() == wanted)?;
                Some(Position::line(
                    name.as_str(),
                    number(skipped + place).saturating_add(1),
                ))
            });
        found.unwrap_or_else(|| {
            let name = self.files.first().map_or("", |(_, name)| name.as_str());
            Position::line(name, line)
        })
    }

    fn lines(&self) -> &[Vec<String>] {
        self.lines.get_or_init(|| {
            let mut reader = Reader::new();
            let mut lines = |path: &Path| -> Vec<String> {
                let Ok(contents) = reader.read(path, MOST_BYTES) else {
                    return Vec::new();
                };
                String::from_utf8_lossy(&contents.bytes)
                    .lines()
                    .map(str::to_owned)
                    .collect()
            };
            self.files.iter().map(|(path, _)| lines(path)).collect()
        })
    }
}
