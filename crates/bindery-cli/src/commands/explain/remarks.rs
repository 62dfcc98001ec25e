//! What one line of the table cannot say of a file.

use bindery::sources::instructions::{Candidate, Lost};

use super::names::Names;
use super::table::number;

/// How imports and what attaches are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// One after the other, each with its importer.
    List,
    /// Imports below the files that bring them in.
    Tree,
}

/// The remarks of a file.
pub(super) fn remarks(file: &Candidate, shape: Shape, names: &Names<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    if let (Some(importer), Shape::List) = (file.imported_by.last(), shape) {
        let line = file
            .import_line
            .map_or_else(String::new, |line| format!(":{line}"));
        remarks.push(format!("imported by {}{line}", names.file(importer)));
    } else if let Some(path) = file
        .attached_by
        .as_deref()
        .filter(|_| file.imported_by.is_empty())
    {
        remarks.push(format!("attached when {} is touched", names.file(path)));
    }
    if let Some(lost) = &file.lost {
        remarks.push(cut(file, lost));
    }
    if file.outside_project {
        remarks.push("from outside the project".to_owned());
    }
    remarks
}

/// What a cut took of a file.
pub(super) fn cut(file: &Candidate, lost: &Lost) -> String {
    let heading = lost
        .first_lost_heading
        .as_ref()
        .map_or_else(String::new, |heading| format!("; first lost heading `{heading}`"));
    format!(
        "lost {} of {} bytes from line {} on{heading}",
        number(lost.bytes),
        number(file.bytes),
        lost.from_line
    )
}
