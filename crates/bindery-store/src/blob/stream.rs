//! Reading a blob without holding it.

use std::io::{self, Read};

use bindery_core::{ContentHash, ContentHasher};

/// Gives what a reader gives, and fails at its end if the hash of it is another.
pub(super) struct Checked<R> {
    inner: R,
    hasher: ContentHasher,
    wanted: ContentHash,
}

impl<R> Checked<R> {
    pub(super) fn new(inner: R, wanted: ContentHash) -> Self {
        Self {
            inner,
            hasher: ContentHasher::default(),
            wanted,
        }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read > 0 {
            self.hasher.update(buffer.get(..read).unwrap_or_default());
        } else if !buffer.is_empty() && self.hasher.hash() != self.wanted {
            let why = format!(
                "blob {} is damaged: its content has another hash",
                self.wanted.short()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(read)
    }
}
