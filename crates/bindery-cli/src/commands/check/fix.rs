//! `--fix`: files replaced as a whole or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context as _;
use bindery::check::{Fix, Report, Subject, apply};

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Fixed {
    /// Fixes made.
    pub(super) made: usize,
    left: usize,
    files: Vec<String>,
}

impl Fixed {
    /// Says so.
    pub(super) fn tell(&self, err: &mut dyn Write) -> io::Result<()> {
        if !self.files.is_empty() {
            writeln!(err, "fixed {} in {}", self.made, self.files.join(", "))?;
        }
        if self.left > 0 {
            writeln!(
                err,
                "left {} alone: two fixes touch one place, or the file changed; run again",
                self.left
            )?;
        }
        Ok(())
    }
}

/// Makes every fix of a report.
pub(super) fn write(subject: &Subject, report: &Report) -> anyhow::Result<Fixed> {
    let mut by_file: BTreeMap<&str, Vec<&Fix>> = BTreeMap::new();
    for one in &report.diagnostics {
        if let Some(fix) = &one.fix {
            by_file.entry(&one.at.path).or_default().push(fix);
        }
    }
    let mut fixed = Fixed::default();
    for (shown, fixes) in by_file {
        let Some(text) = subject.texts.get(shown) else {
            continue;
        };
        // Where a link leads, so that it stays a link; never out of the project.
        let path = fs::canonicalize(&text.path).with_context(|| format!("cannot find {shown}"))?;
        if !path.starts_with(subject.tree.root()) {
            fixed.left += fixes.len();
            continue;
        }
        let bytes = fs::read(&path).with_context(|| format!("cannot read {shown}"))?;
        let applied = apply(&bytes, &fixes);
        fixed.left += applied.left;
        if applied.made > 0 {
            replace(&path, &applied.bytes)
                .with_context(|| format!("cannot write {shown}; it is unchanged"))?;
            fixed.made += applied.made;
            fixed.files.push(shown.to_owned());
        }
    }
    Ok(fixed)
}

/// A new file beside the old one takes its place, with its permissions, in one step.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(bytes)?;
    new.as_file().set_permissions(fs::metadata(path)?.permissions())?;
    new.as_file().sync_all()?;
    new.persist(path).map_err(|error| error.error)?;
    Ok(())
}
