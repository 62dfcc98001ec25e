//! Large payloads, by content, through `object_store`: a local directory here, a bucket in a fleet.
//!
//! `object_store` is asynchronous and a log is not: what its local directory does, it does at once, or on
//! a thread of the runtime that it finds around it. Either way [`pollster`] waits for the end.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bindery_core::ContentHash;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt as _};

mod folder;
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
    /// It could not be kept or read.
    #[error("{doing} blob {hash} ({place}): {cause}")]
    Store {
        /// Its hash.
        hash: ContentHash,
        /// Where.
        place: String,
        /// What was being done.
        doing: &'static str,
        /// What the store said.
        #[source]
        cause: object_store::Error,
    },
    /// The directory for blobs could not be made, or its names not be made durable.
    #[error("{doing} {path}: {cause}", path = path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}

/// Blobs as objects named `ab/cdef…`.
#[derive(Debug, Clone)]
pub struct ObjectBlobs {
    place: Place,
}

#[derive(Debug, Clone)]
enum Place {
    /// A directory, which is made with the first blob. Only its owner may enter it.
    Dir(PathBuf),
    Store(Arc<dyn ObjectStore>),
}

impl ObjectBlobs {
    /// Blobs in a local directory: durable once they are put.
    pub fn in_dir(dir: impl Into<PathBuf>) -> Self {
        let place = Place::Dir(dir.into());
        Self { place }
    }

    /// Blobs in another store, as durable as that promises. Its futures must come to their end without the
    /// thread that waits for them.
    pub fn over(store: Arc<dyn ObjectStore>) -> Self {
        let place = Place::Store(store);
        Self { place }
    }

    /// The name of a blob.
    pub fn name(hash: &ContentHash) -> String {
        let name = hash.to_string();
        match name.split_at_checked(2) {
            Some((first, rest)) => format!("{first}/{rest}"),
            None => name,
        }
    }

    /// The store, and whether it is there; a directory may not be made yet.
    fn store(&self) -> object_store::Result<Arc<dyn ObjectStore>> {
        match &self.place {
            Place::Dir(dir) => Ok(Arc::new(LocalFileSystem::new_with_prefix(dir)?.with_fsync(true))),
            Place::Store(store) => Ok(store.clone()),
        }
    }

    fn shown(&self, hash: &ContentHash) -> String {
        let name = Self::name(hash);
        match &self.place {
            Place::Dir(dir) => dir.join(name).display().to_string(),
            Place::Store(store) => format!("{store}: {name}"),
        }
    }

    fn failed(&self, hash: &ContentHash, doing: &'static str) -> impl Fn(object_store::Error) -> BlobError {
        let (hash, place) = (*hash, self.shown(hash));
        move |cause| BlobError::Store {
            hash,
            place: place.clone(),
            doing,
            cause,
        }
    }

    fn read(&self, hash: &ContentHash) -> Result<Vec<u8>, BlobError> {
        let missing = || BlobError::Missing {
            hash: *hash,
            place: self.shown(hash),
        };
        if matches!(&self.place, Place::Dir(dir) if !dir.exists()) {
            return Err(missing());
        }
        let read = async {
            self.store()?
                .get(&Key::from(Self::name(hash)))
                .await?
                .bytes()
                .await
        };
        match pollster::block_on(read) {
            Ok(bytes) => check(hash, bytes.to_vec(), || self.shown(hash)),
            Err(object_store::Error::NotFound { .. }) => Err(missing()),
            Err(cause) => Err(self.failed(hash, "reading")(cause)),
        }
    }

    /// Makes the names in the directories of a blob durable, where the system has that notion.
    fn sync(&self, hash: &ContentHash) -> Result<(), BlobError> {
        let Place::Dir(dir) = &self.place else {
            return Ok(());
        };
        let path = dir.join(Self::name(hash));
        let parent = path.parent().unwrap_or(dir);
        let failed = |cause| BlobError::Io {
            path: parent.to_owned(),
            doing: "syncing the directory",
            cause,
        };
        sync_dir(parent).and_then(|()| sync_dir(dir)).map_err(failed)
    }
}

impl Blobs for ObjectBlobs {
    /// The bytes go to an object of another name, which gets its own when they are durable: a blob is there
    /// wholly or not at all. One that is there already and sound is left as it is.
    fn put(&self, bytes: &[u8]) -> Result<ContentHash, BlobError> {
        let hash = ContentHash::of(bytes);
        if self.read(&hash).is_err() {
            if let Place::Dir(dir) = &self.place {
                create_dirs(dir).map_err(|cause| BlobError::Io {
                    path: dir.clone(),
                    doing: "making",
                    cause,
                })?;
            }
            let key = Key::from(Self::name(&hash));
            let put = async { self.store()?.put(&key, bytes.to_vec().into()).await };
            pollster::block_on(put).map_err(self.failed(&hash, "writing"))?;
        }
        // Also where the blob was there: the one who wrote it may not have come to this yet.
        self.sync(&hash)?;
        Ok(hash)
    }

    fn get(&self, hash: &ContentHash) -> Result<Vec<u8>, BlobError> {
        self.read(hash)
    }

    fn put_from(&self, from: &mut dyn Read) -> Result<(ContentHash, u64), BlobError> {
        match &self.place {
            Place::Dir(dir) => folder::put_from(dir, from),
            Place::Store(_) => {
                let mut bytes = Vec::new();
                from.read_to_end(&mut bytes)
                    .map_err(|cause| folder::failed(Path::new(""), "reading what is to be kept")(cause))?;
                Ok((self.put(&bytes)?, bytes.len() as u64))
            }
        }
    }

    fn open(&self, hash: &ContentHash) -> Result<Box<dyn Read + Send>, BlobError> {
        match &self.place {
            Place::Dir(dir) => folder::open(dir, hash),
            Place::Store(_) => Ok(Box::new(io::Cursor::new(self.read(hash)?))),
        }
    }

    fn find(&self, digits: &str) -> Result<Vec<ContentHash>, BlobError> {
        let Some((first, rest)) = digits.split_at_checked(2) else {
            return Ok(Vec::new());
        };
        match &self.place {
            Place::Dir(dir) => folder::find(dir, first, rest),
            Place::Store(store) => {
                let prefix = Key::from(first);
                let listed = pollster::block_on(store.list_with_delimiter(Some(&prefix)));
                let listed = listed.map_err(|error| {
                    folder::failed(Path::new(&store.to_string()), "listing")(io::Error::other(error))
                })?;
                let names = listed
                    .objects
                    .iter()
                    .filter_map(|object| object.location.filename());
                Ok(folder::hashes(first, names.filter(|name| name.starts_with(rest))))
            }
        }
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
