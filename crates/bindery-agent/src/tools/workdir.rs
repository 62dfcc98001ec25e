//! Where tools may go.

use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::tool::Outcome;

/// How far paths may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Not out of the working directory, however a path or a link is written.
    Inside,
    /// Anywhere.
    Machine,
}

/// A working directory.
#[derive(Debug, Clone)]
pub struct Workdir(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    reach: Reach,
}

/// A file for temporary use has this before its name.
const TEMPORARY: &str = ".bindery-";

impl Workdir {
    /// A working directory, links resolved.
    pub fn new(root: &Path, reach: Reach) -> io::Result<Self> {
        let root = root.canonicalize()?;
        Ok(Self(Arc::new(Inner { root, reach })))
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.0.root
    }

    /// The real path of what a call names; of something that does not exist yet, the real path of the
    /// nearest directory that does, with the rest behind it.
    pub(super) fn resolve(&self, named: &str) -> Result<PathBuf, Outcome> {
        let path = self.0.root.join(named);
        let real = real_path(&path).map_err(|error| Outcome::failed(format!("{named}: {error}")))?;
        if self.0.reach == Reach::Inside && !real.starts_with(&self.0.root) {
            let text = format!(
                "{named} lies outside the working directory {}, and this session may not leave it",
                self.0.root.display()
            );
            return Err(Outcome::failed(text));
        }
        Ok(real)
    }

    /// A path as calls name it.
    pub(super) fn shown(&self, path: &Path) -> String {
        let inner = path.strip_prefix(&self.0.root).unwrap_or(path);
        let shown = inner.display().to_string();
        if shown.is_empty() { ".".to_owned() } else { shown }
    }

    /// Puts a file in place as a whole: a crash leaves the old one or the new one. The permissions of a
    /// file that was there are kept.
    pub(super) fn put(&self, path: &Path, content: &str) -> io::Result<()> {
        let folder = path.parent().unwrap_or(self.root());
        std::fs::create_dir_all(folder)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY);
        let old = std::fs::metadata(path).ok();
        #[cfg(unix)]
        if old.is_none() {
            use std::os::unix::fs::PermissionsExt;
            // What `open` gives a new file; the umask takes away from it.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(content.as_bytes())?;
        if let Some(old) = old {
            std::fs::set_permissions(file.path(), old.permissions())?;
        }
        file.as_file().sync_all()?;
        file.persist(path).map(|_| ()).map_err(|error| error.error)
    }
}

/// Resolves links as far as the path exists. What does not exist must be plain names: `..` behind it
/// could not be checked, and a link that leads nowhere is refused.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    let mut rest: Vec<&std::ffi::OsStr> = Vec::new();
    let mut known = path;
    loop {
        match known.canonicalize() {
            Ok(real) => return Ok(rest.iter().rev().fold(real, |path, name| path.join(name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound && known.symlink_metadata().is_err() => {
                match (known.components().next_back(), known.parent()) {
                    (Some(Component::Normal(name)), Some(parent)) => {
                        rest.push(name);
                        known = parent;
                    }
                    _ => return Err(error),
                }
            }
            Err(error) => return Err(error),
        }
    }
}
