//! Large results on their way in: kept whole elsewhere, digested here.

use std::io::{self, Read};
use std::sync::Arc;

use bindery_core::ContentHash;
use bindery_core::digest::{Bounds, Digest};
use bindery_store::{BlobError, Blobs};

/// Results of more bytes than this stand as a digest, where nobody says otherwise.
const LARGEST: usize = 16 << 10;

/// Takes large results in.
#[derive(Clone)]
pub struct Intake {
    blobs: Arc<dyn Blobs>,
    /// A result of more bytes is digested.
    pub largest: usize,
    /// How much of it is shown.
    pub bounds: Bounds,
}

impl Intake {
    /// Keeps what is large in `blobs`.
    pub fn new(blobs: Arc<dyn Blobs>) -> Self {
        Self {
            blobs,
            largest: LARGEST,
            bounds: Bounds::default(),
        }
    }

    /// Where it is kept.
    pub fn blobs(&self) -> &Arc<dyn Blobs> {
        &self.blobs
    }

    /// The digest of a result that is too large to stand in the conversation, once all of it is kept.
    pub fn text(&self, text: &str) -> Result<Option<String>, BlobError> {
        if text.len() <= self.largest {
            return Ok(None);
        }
        self.digest(&mut text.as_bytes()).map(Some)
    }

    /// Keeps all that a reader gives, and returns its digest. Memory does not grow with it.
    pub fn digest(&self, from: &mut dyn Read) -> Result<String, BlobError> {
        let mut tee = Tee {
            from,
            digest: Digest::new(self.bounds),
        };
        let (hash, _): (ContentHash, u64) = self.blobs.put_from(&mut tee)?;
        Ok(tee.digest.finish().text(&hash))
    }
}

/// Reads what passes.
struct Tee<'r> {
    from: &'r mut dyn Read,
    digest: Digest,
}

impl Read for Tee<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.digest.push(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}
