//! Sessions as SQLite files, one a session: what damages one leaves the others alone, and writers of
//! different sessions never wait for each other.
//!
//! `ID.db` is the log (with `-wal` and `-shm` while it is open), `ID.lock` the writer's lease,
//! `blobs/` holds payloads above [`SqliteOptions::inline_bytes`].

mod append;
mod file;
mod lease;
mod read;
mod recover;
mod wal;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::blob::{Blobs, ObjectBlobs, create_dirs, sync_dir};
use crate::store::{Contention, Listing, LogReader, LogWriter, Store};
use crate::{SessionId, SessionInfo, StoreError};

pub use recover::{Lost, RecoverReport, recover};

use file::LogFile;
use lease::Lease;

/// Settings of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Payloads longer than this many bytes go to the blobs.
    pub inline_bytes: usize,
    /// The most pages of 4096 bytes that a session's file may have; `None` for SQLite's own limit.
    pub most_pages: Option<u32>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            inline_bytes: 64 * 1024,
            most_pages: None,
        }
    }
}

/// Sessions in a directory.
#[derive(Clone)]
pub struct SqliteStore {
    dir: PathBuf,
    blobs: Arc<dyn Blobs>,
    options: SqliteOptions,
}

impl SqliteStore {
    /// A store in `dir`, which is created with the first session. Blobs go beside the sessions.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        let blobs = Arc::new(ObjectBlobs::in_dir(dir.join("blobs")));
        Self {
            dir,
            blobs,
            options: SqliteOptions::default(),
        }
    }

    /// The same store with other settings.
    #[must_use]
    pub fn with_options(mut self, options: SqliteOptions) -> Self {
        self.options = options;
        self
    }

    /// The same store with its blobs elsewhere.
    #[must_use]
    pub fn with_blobs(mut self, blobs: Arc<dyn Blobs>) -> Self {
        self.blobs = blobs;
        self
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file of a session.
    pub fn path(&self, id: &SessionId) -> PathBuf {
        self.dir.join(format!("{id}.db"))
    }

    /// Where large payloads are.
    pub fn blobs(&self) -> &Arc<dyn Blobs> {
        &self.blobs
    }

    fn lease(&self, id: &SessionId, owner: &str, contention: Contention) -> Result<Lease, StoreError> {
        Lease::take(&self.dir.join(format!("{id}.lock")), id, owner, contention)
    }

    fn reader(&self, id: &SessionId) -> Result<read::SqliteReader, StoreError> {
        let path = self.path(id);
        if !path.exists() {
            return Err(StoreError::NotFound(id.clone()));
        }
        let file = LogFile::open_to_read(path, id)?;
        Ok(read::SqliteReader {
            file,
            blobs: self.blobs.clone(),
        })
    }

    /// The ids for which there is a file, in order.
    fn ids(&self) -> Result<Vec<SessionId>, StoreError> {
        let failed = || StoreError::io(&self.dir, "listing");
        let mut ids = Vec::new();
        let entries = match std::fs::read_dir(&self.dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(ids),
            other => other.map_err(failed())?,
        };
        for entry in entries {
            let name = entry.map_err(failed())?.file_name();
            ids.extend(
                name.to_str()
                    .and_then(|name| name.strip_suffix(".db")?.parse().ok()),
            );
        }
        ids.sort_unstable();
        Ok(ids)
    }
}

impl Store for SqliteStore {
    fn create(&self, id: &SessionId, at_ms: u64) -> Result<(), StoreError> {
        create_dirs(&self.dir).map_err(StoreError::io(&self.dir, "creating"))?;
        let _lease = self.lease(id, "its creator", Contention::Refuse)?;
        let path = self.path(id);
        if path.exists() {
            return Err(StoreError::Exists(id.clone()));
        }
        LogFile::create(&path, id, at_ms)?;
        sync_dir(&self.dir).map_err(StoreError::io(&self.dir, "syncing"))
    }

    fn list(&self) -> Result<Listing, StoreError> {
        let mut listing = Listing::default();
        for id in self.ids()? {
            match self.reader(&id).and_then(|reader| reader.info()) {
                Ok(info) => listing.sessions.push(info),
                Err(problem) => listing.problems.push(problem),
            }
        }
        Ok(listing)
    }

    fn read(&self, id: &SessionId) -> Result<Box<dyn LogReader>, StoreError> {
        Ok(Box::new(self.reader(id)?))
    }

    fn write(
        &self,
        id: &SessionId,
        owner: &str,
        contention: Contention,
    ) -> Result<Box<dyn LogWriter>, StoreError> {
        let path = self.path(id);
        if !path.exists() {
            return Err(StoreError::NotFound(id.clone()));
        }
        let lease = self.lease(id, owner, contention)?;
        wal::check(&path)?;
        let file = LogFile::open_to_write(path, id, self.options.most_pages)?;
        let head = read::head(&file)?;
        let reader = read::SqliteReader {
            file,
            blobs: self.blobs.clone(),
        };
        Ok(Box::new(append::SqliteWriter::new(
            reader,
            lease,
            head,
            self.options.inline_bytes,
        )))
    }
}

/// The information of a session without events.
fn bare_info(id: &SessionId, created_at_ms: u64) -> SessionInfo {
    SessionInfo {
        id: id.clone(),
        created_at_ms,
        events: 0,
        last_at_ms: created_at_ms,
    }
}
