//! Approvals on disk: read, changed by one process at a time, replaced as a whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bindery_core::ContentHash;

use super::ContextLock;
use crate::notice::{Notice, Position};
use crate::places::Places;
use crate::strict_file;

/// Whose approvals hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Home {
    /// The user's own, in the state directory: out of the repository's reach.
    #[default]
    User,
    /// The team's, in the repository's `.bindery/context.lock`. Whoever can write to the repository can
    /// approve; signatures are git's affair.
    Team,
}

/// Where approvals of one project lie.
#[derive(Debug, Clone)]
pub struct Store {
    file: PathBuf,
    shown: String,
    /// The project, for a file that must lie in it.
    within: Option<PathBuf>,
    /// Held while a file is changed.
    guard: PathBuf,
    /// The approved texts, by hash.
    texts: PathBuf,
}

impl Store {
    /// The approvals of the project of `places`; `None` where there is no state directory and `home`
    /// needs one.
    pub fn new(places: &Places, home: Home) -> Option<Self> {
        let locks = places.state.as_ref()?.join("locks");
        let project = places
            .project
            .canonicalize()
            .unwrap_or_else(|_| places.project.clone());
        let hash = ContentHash::of(project.as_os_str().as_encoded_bytes()).to_string();
        let name: String = hash.chars().take(32).collect();
        let own = locks.join(format!("{name}.toml"));
        let file = match home {
            Home::User => own,
            Home::Team => places.project.join(".bindery").join("context.lock"),
        };
        Some(Self {
            shown: places.shown(&file),
            file,
            within: (home == Home::Team).then(|| places.project.clone()),
            guard: locks.join(format!("{name}.guard")),
            texts: locks.join("texts"),
        })
    }

    /// The file, as people read it.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The approvals; none where there is no file yet.
    pub fn read(&self) -> Result<ContextLock, Notice> {
        match strict_file::read(&self.file, &self.shown, self.within.as_deref())? {
            None => Ok(ContextLock::default()),
            Some(text) => ContextLock::parse(&text, &self.shown),
        }
    }

    /// Changes the approvals. Two processes that do so at once take turns, and whoever reads meanwhile
    /// sees the old file or the new one, never a part.
    pub fn update<T>(&self, change: impl FnOnce(&mut ContextLock) -> T) -> Result<T, Notice> {
        let failed = |error: &io::Error| self.unwritable(&self.file, error);
        let folder = self.guard.parent().unwrap_or(&self.guard);
        fs::create_dir_all(folder).map_err(|error| self.unwritable(folder, &error))?;
        let guard = File::create(&self.guard).map_err(|error| self.unwritable(&self.guard, &error))?;
        guard
            .lock()
            .map_err(|error| self.unwritable(&self.guard, &error))?;
        let before = self.read()?;
        let mut lock = before.clone();
        let out = change(&mut lock);
        if lock != before {
            let text = lock.to_toml().map_err(|error| failed(&io::Error::other(error)))?;
            self.replace(&self.file, text.as_bytes())
                .map_err(|error| failed(&error))?;
        }
        // Closing the guard lets the next one in.
        drop(guard);
        Ok(out)
    }

    /// Keeps an approved text, so that a later change can be shown.
    pub fn keep(&self, bytes: &[u8]) -> Result<ContentHash, Notice> {
        let hash = ContentHash::of(bytes);
        let path = self.texts.join(hash.to_string());
        if self.text(hash).is_none() {
            self.replace(&path, bytes)
                .map_err(|error| self.unwritable(&path, &error))?;
        }
        Ok(hash)
    }

    /// An approved text, if it was kept on this machine and is whole.
    pub fn text(&self, hash: ContentHash) -> Option<Vec<u8>> {
        let bytes = fs::read(self.texts.join(hash.to_string())).ok()?;
        (ContentHash::of(&bytes) == hash).then_some(bytes)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = path.parent().unwrap_or(path);
        fs::create_dir_all(folder)?;
        if let Some(project) = self.within.as_deref().filter(|project| path.starts_with(project)) {
            // A repository may not have its approvals written elsewhere through a link.
            if !folder.canonicalize()?.starts_with(project.canonicalize()?) {
                return Err(io::Error::other(
                    "`.bindery` is a symbolic link that leads out of the project",
                ));
            }
        }
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        self.share(&file)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    /// A team's file is for everybody who may read the project; one's own is for oneself.
    #[cfg(unix)]
    fn share(&self, file: &tempfile::NamedTempFile) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        let mode = if self.within.is_some() { 0o644 } else { 0o600 };
        file.as_file().set_permissions(fs::Permissions::from_mode(mode))
    }

    #[cfg(not(unix))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "the same signature everywhere"
    )]
    fn share(&self, _: &tempfile::NamedTempFile) -> io::Result<()> {
        Ok(())
    }

    fn unwritable(&self, path: &Path, error: &io::Error) -> Notice {
        let message = format!(
            "{} cannot be written: {error}; nothing was approved or revoked",
            crate::visible::escaped(&path.to_string_lossy())
        );
        Notice::error("lock-unwritable", Position::whole(self.shown.as_str()), message)
            .mend("check the folder and the disk")
    }
}
