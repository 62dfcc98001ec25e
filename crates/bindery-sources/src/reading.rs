//! Reading files that somebody else laid down: bounded, never blocking, each at most once.
//!
//! Nothing here fails outright: what cannot be read comes back as a [`Problem`] with a name.

mod decode;
mod kind;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use decode::{Decoded, Encoding, decode};
pub use kind::{Found, Problem, look};

/// A file's bytes, up to the bound.
#[derive(Debug, Clone)]
pub struct Contents {
    /// The bytes, at most as many as the bound allows.
    pub bytes: Vec<u8>,
    /// How many bytes the file has.
    pub size: u64,
    /// BLAKE3 of the bytes read, in hexadecimal.
    pub hash: String,
}

impl Contents {
    fn new(bytes: Vec<u8>, size: u64) -> Self {
        let hash = blake3::hash(&bytes).to_hex().to_string();
        Self { bytes, size, hash }
    }

    /// Whether the file has more than was read.
    pub fn is_bounded(&self) -> bool {
        self.size > self.bytes.len() as u64
    }
}

/// Identity of a file whatever it is called: device and inode where there are such, else the path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    #[cfg(unix)]
    Inode(u64, u64),
    #[cfg(not(unix))]
    Path(PathBuf),
}

/// Reads files, each real file at most once however often it is asked for.
#[derive(Debug, Default)]
pub struct Reader {
    read: BTreeMap<Identity, Result<Arc<Contents>, Problem>>,
    opened: Vec<PathBuf>,
}

impl Reader {
    /// A reader that has read nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The first `bound` bytes of a file.
    pub fn read(&mut self, path: &Path, bound: u64) -> Result<Arc<Contents>, Problem> {
        let found = look(path)?;
        found.is_readable()?;
        let identity = identity(path, &found);
        if let Some(known) = self.read.get(&identity) {
            return known.clone();
        }
        self.opened.push(path.to_owned());
        let contents = read_once(path, bound).map(Arc::new);
        self.read.insert(identity, contents.clone());
        contents
    }

    /// The paths opened so far, in order. No file is among them twice.
    pub fn opened(&self) -> &[PathBuf] {
        &self.opened
    }
}

#[cfg(unix)]
fn identity(_path: &Path, found: &Found) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Identity::Inode(found.metadata.dev(), found.metadata.ino())
}

#[cfg(not(unix))]
fn identity(path: &Path, _found: &Found) -> Identity {
    Identity::Path(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
}

/// Whether two paths lead to one file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let known = |path: &Path| look(path).map(|found| identity(path, &found));
    known(one).is_ok_and(|one| known(other).is_ok_and(|other| one == other))
}

/// Opens without waiting for a writer, looks again at what was opened (it may have been swapped since),
/// and reads at most `bound` bytes.
fn read_once(path: &Path, bound: u64) -> Result<Contents, Problem> {
    let file = open(path).map_err(|fault| Problem::of(path, &fault))?;
    let metadata = file.metadata().map_err(|fault| Problem::of(path, &fault))?;
    Found::of(metadata.clone()).is_readable()?;
    let mut bytes = Vec::new();
    let expected = usize::try_from(metadata.len().min(bound)).unwrap_or(0);
    bytes
        .try_reserve_exact(expected)
        .map_err(|_| Problem::TooLarge { size: metadata.len() })?;
    file.take(bound)
        .read_to_end(&mut bytes)
        .map_err(|fault| Problem::of(path, &fault))?;
    let size = metadata.len().max(bytes.len() as u64);
    Ok(Contents::new(bytes, size))
}

#[cfg(unix)]
fn open(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).map_err(std::io::Error::other)?;
    File::options().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> std::io::Result<File> {
    File::open(path)
}
