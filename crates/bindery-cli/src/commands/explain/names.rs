//! Paths as people read them: below the working directory as they are, the home directory as `~`.

use std::path::Path;

use bindery::sources::instructions::{Host, Manifest};

use crate::terminal::printable;

/// From where a reader looks.
#[derive(Clone, Copy)]
pub(super) struct Names<'n> {
    /// The working directory.
    pub(super) cwd: &'n Path,
    /// The home directory.
    pub(super) home: Option<&'n Path>,
}

impl<'n> Names<'n> {
    /// As a manifest's reader looks.
    pub(super) fn of(manifest: &'n Manifest, host: &'n Host) -> Self {
        Self {
            cwd: &manifest.cwd,
            home: host.home.as_deref(),
        }
    }

    /// A file, from the working directory.
    pub(super) fn file(&self, path: &Path) -> String {
        match path.strip_prefix(self.cwd) {
            Ok(rest) if !rest.as_os_str().is_empty() => printable(&rest.display().to_string()),
            _ => self.place(path),
        }
    }

    /// A file or directory, whole or from the home directory.
    pub(super) fn place(&self, path: &Path) -> String {
        let home = self.home.and_then(|home| path.strip_prefix(home).ok());
        printable(&match home {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        })
    }

    /// A sentence with the working directory and home shortened.
    pub(super) fn sentence(&self, text: &str) -> String {
        let cwd = format!("{}/", self.cwd.display());
        let short = text.replace(&cwd, "");
        printable(&match self.home {
            Some(home) if home != Path::new("/") => short.replace(&format!("{}/", home.display()), "~/"),
            _ => short,
        })
    }
}
