//! Blobs in a directory, read and written in pieces: what `object_store` does not do without holding all
//! of it in memory.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::Path;

use bindery_core::{ContentHash, ContentHasher};

use super::stream::Checked;
use super::{BlobError, ObjectBlobs, create_dirs, sync_dir};

/// How much is held at once.
const PIECE: usize = 64 << 10;

pub(super) fn failed(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> BlobError + use<> {
    let path = path.to_owned();
    move |cause| BlobError::Io {
        path: path.clone(),
        doing,
        cause,
    }
}

/// By way of a file without a name of its own: what it is called is known at its end.
pub(super) fn put_from(dir: &Path, from: &mut dyn Read) -> Result<(ContentHash, u64), BlobError> {
    create_dirs(dir).map_err(failed(dir, "making"))?;
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(failed(dir, "writing in"))?;
    let mut hasher = ContentHasher::default();
    let mut buffer = vec![0; PIECE];
    let mut length = 0_u64;
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(cause) => return Err(failed(dir, "reading what is to be kept in")(cause)),
        };
        let piece = buffer.get(..read).unwrap_or_default();
        hasher.update(piece);
        file.write_all(piece).map_err(failed(dir, "writing in"))?;
        length += read as u64;
    }
    let hash = hasher.hash();
    let path = dir.join(ObjectBlobs::name(&hash));
    let parent = path.parent().unwrap_or(dir);
    create_dirs(parent).map_err(failed(parent, "making"))?;
    file.as_file().sync_all().map_err(failed(&path, "syncing"))?;
    file.persist(&path)
        .map_err(|error| error.error)
        .map_err(failed(&path, "naming"))?;
    sync_dir(parent)
        .and_then(|()| sync_dir(dir))
        .map_err(failed(parent, "syncing the directory"))?;
    Ok((hash, length))
}

pub(super) fn open(dir: &Path, hash: &ContentHash) -> Result<Box<dyn Read + Send>, BlobError> {
    let path = dir.join(ObjectBlobs::name(hash));
    match File::open(&path) {
        Ok(file) => Ok(Box::new(Checked::new(file, *hash))),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Err(BlobError::Missing {
            hash: *hash,
            place: path.display().to_string(),
        }),
        Err(cause) => Err(failed(&path, "reading")(cause)),
    }
}

pub(super) fn find(dir: &Path, first: &str, rest: &str) -> Result<Vec<ContentHash>, BlobError> {
    let folder = dir.join(first);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(failed(&folder, "listing")(cause)),
    };
    let names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with(rest))
        .collect();
    Ok(hashes(first, names.iter().map(String::as_str)))
}

/// The hashes that names in the folder `first` spell, in order.
pub(super) fn hashes<'n>(first: &str, names: impl Iterator<Item = &'n str>) -> Vec<ContentHash> {
    let mut found: Vec<ContentHash> = names
        .filter_map(|name| format!("{first}{name}").parse().ok())
        .collect();
    found.sort_unstable();
    found
}
