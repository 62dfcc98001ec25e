//! Large payloads, by content.
//!
//! The local directory is written here and not through `object_store`: that crate brings 83 others and an
//! executor for one directory, and a log that waits for `fsync` is synchronous anyway. A bucket joins
//! behind [`Blobs`].

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bindery_core::{ContentHash, ContentHasher};

mod stream;

/// Keeps bytes under their content hash.
pub trait Blobs: Send + Sync {
    /// Keeps bytes. When this returns they are durable. The same bytes may be put any number of times.
    fn put(&self, bytes: &[u8]) -> Result<ContentHash, BlobError>;

    /// The bytes, checked against their hash.
    fn get(&self, hash: &ContentHash) -> Result<Vec<u8>, BlobError>;

    /// Keeps all that a reader gives, without holding it in memory where that can be avoided. When this
    /// returns it is durable. The hash, and how many bytes there were.
    fn put_from(&self, from: &mut dyn Read) -> Result<(ContentHash, u64), BlobError> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).map_err(|cause| BlobError::Io {
            path: PathBuf::new(),
            doing: "reading what is to be kept",
            cause,
        })?;
        Ok((self.put(&bytes)?, bytes.len() as u64))
    }

    /// A reader of the bytes. It fails at the end if they are not those of the hash.
    fn open(&self, hash: &ContentHash) -> Result<Box<dyn Read + Send>, BlobError> {
        Ok(Box::new(io::Cursor::new(self.get(hash)?)))
    }

    /// The hashes whose digits begin so, in order.
    fn find(&self, digits: &str) -> Result<Vec<ContentHash>, BlobError>;
}

/// A blob that could not be kept or got.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// It is not there.
    #[error("blob {hash} is missing ({place})")]
    Missing {
        /// Its hash.
        hash: ContentHash,
        /// Where it was looked for.
        place: String,
    },
    /// It is something else.
    #[error("blob {hash} is damaged: its content has hash {found} ({place})")]
    Corrupt {
        /// Its hash.
        hash: ContentHash,
        /// The hash of what is there.
        found: ContentHash,
        /// Where.
        place: String,
    },
    /// The file system failed.
    #[error("{doing} {path}: {cause}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}

/// Blobs in a directory: `ab/cdef…`, one file each, readable by the owner only.
#[derive(Debug, Clone)]
pub struct DirBlobs {
    dir: PathBuf,
}

impl DirBlobs {
    /// Blobs in `dir`, which is created with the first one.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The file of a blob.
    pub fn path(&self, hash: &ContentHash) -> PathBuf {
        let name = hash.to_string();
        match name.split_at_checked(2) {
            Some((first, rest)) => self.dir.join(first).join(rest),
            None => self.dir.join(name),
        }
    }

    fn read(&self, hash: &ContentHash) -> Result<Vec<u8>, BlobError> {
        let path = self.path(hash);
        match fs::read(&path) {
            Ok(bytes) => check(hash, bytes, || path.display().to_string()),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Err(BlobError::Missing {
                hash: *hash,
                place: path.display().to_string(),
            }),
            Err(cause) => Err(BlobError::Io {
                path,
                doing: "reading",
                cause,
            }),
        }
    }
}

impl Blobs for DirBlobs {
    /// The bytes go to a file of another name, which gets its own when they are on the disk: a blob is
    /// there wholly or not at all. One that is there already and sound is left as it is.
    fn put(&self, bytes: &[u8]) -> Result<ContentHash, BlobError> {
        let hash = ContentHash::of(bytes);
        let path = self.path(&hash);
        let parent = path.parent().unwrap_or(&self.dir);
        let failed = |doing: &'static str| {
            let path = path.clone();
            move |cause: io::Error| BlobError::Io { path, doing, cause }
        };
        if self.read(&hash).is_err() {
            create_dirs(parent).map_err(failed("making room for"))?;
            let mut file = tempfile::NamedTempFile::new_in(parent).map_err(failed("writing"))?;
            file.write_all(bytes).map_err(failed("writing"))?;
            file.as_file().sync_all().map_err(failed("syncing"))?;
            file.persist(&path)
                .map_err(|error| error.error)
                .map_err(failed("naming"))?;
        }
        // Also where the blob was there: the one who wrote it may not have come to this yet.
        sync_dir(parent).map_err(failed("syncing the directory of"))?;
        Ok(hash)
    }

    fn get(&self, hash: &ContentHash) -> Result<Vec<u8>, BlobError> {
        self.read(hash)
    }

    /// As [`Blobs::put`], by way of a file whose name is not known before its end.
    fn put_from(&self, from: &mut dyn Read) -> Result<(ContentHash, u64), BlobError> {
        let failed = |doing: &'static str| {
            let path = self.dir.clone();
            move |cause: io::Error| BlobError::Io { path, doing, cause }
        };
        create_dirs(&self.dir).map_err(failed("making room in"))?;
        let mut file = tempfile::NamedTempFile::new_in(&self.dir).map_err(failed("writing in"))?;
        let mut hasher = ContentHasher::default();
        let mut buffer = vec![0; 64 << 10];
        let mut length = 0_u64;
        loop {
            let read = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(cause) => return Err(failed("reading what is to be kept in")(cause)),
            };
            let piece = buffer.get(..read).unwrap_or_default();
            hasher.update(piece);
            file.write_all(piece).map_err(failed("writing in"))?;
            length += read as u64;
        }
        let hash = hasher.hash();
        let path = self.path(&hash);
        let parent = path.parent().unwrap_or(&self.dir);
        create_dirs(parent).map_err(failed("making room in"))?;
        file.as_file().sync_all().map_err(failed("syncing in"))?;
        file.persist(&path)
            .map_err(|error| error.error)
            .map_err(failed("naming in"))?;
        sync_dir(parent).map_err(failed("syncing"))?;
        Ok((hash, length))
    }

    fn open(&self, hash: &ContentHash) -> Result<Box<dyn Read + Send>, BlobError> {
        let path = self.path(hash);
        match File::open(&path) {
            Ok(file) => Ok(Box::new(stream::Checked::new(file, *hash))),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Err(BlobError::Missing {
                hash: *hash,
                place: path.display().to_string(),
            }),
            Err(cause) => Err(BlobError::Io {
                path,
                doing: "reading",
                cause,
            }),
        }
    }

    fn find(&self, digits: &str) -> Result<Vec<ContentHash>, BlobError> {
        let Some((first, rest)) = digits.split_at_checked(2) else {
            return Ok(Vec::new());
        };
        let folder = self.dir.join(first);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(cause) => {
                return Err(BlobError::Io {
                    path: folder,
                    doing: "listing",
                    cause,
                });
            }
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let found = names.filter(|name| name.starts_with(rest));
        let mut found: Vec<ContentHash> = found
            .filter_map(|name| format!("{first}{name}").parse().ok())
            .collect();
        found.sort_unstable();
        Ok(found)
    }
}

/// Blobs in memory.
#[derive(Debug, Default)]
pub struct MemoryBlobs {
    blobs: Mutex<BTreeMap<ContentHash, Vec<u8>>>,
}

impl Blobs for MemoryBlobs {
    fn put(&self, bytes: &[u8]) -> Result<ContentHash, BlobError> {
        let hash = ContentHash::of(bytes);
        let mut blobs = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
        blobs.entry(hash).or_insert_with(|| bytes.to_vec());
        Ok(hash)
    }

    fn get(&self, hash: &ContentHash) -> Result<Vec<u8>, BlobError> {
        let blobs = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = blobs.get(hash).cloned();
        bytes.ok_or_else(|| BlobError::Missing {
            hash: *hash,
            place: "memory".to_owned(),
        })
    }

    fn find(&self, digits: &str) -> Result<Vec<ContentHash>, BlobError> {
        let blobs = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
        let found = blobs.keys().filter(|hash| hash.to_string().starts_with(digits));
        Ok(found.copied().collect())
    }
}

fn check(hash: &ContentHash, bytes: Vec<u8>, place: impl FnOnce() -> String) -> Result<Vec<u8>, BlobError> {
    let found = ContentHash::of(&bytes);
    if found == *hash {
        Ok(bytes)
    } else {
        Err(BlobError::Corrupt {
            hash: *hash,
            found,
            place: place(),
        })
    }
}

/// Creates directories that only their owner may enter, and makes their names durable.
pub(crate) fn create_dirs(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        create_dirs(parent)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    parent.map_or(Ok(()), sync_dir)
}

/// Makes the names in a directory durable, where the system has that notion.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(dir)?.sync_all()
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
