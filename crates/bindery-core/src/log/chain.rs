//! The hash chain: each event's hash covers its own bytes and the hash before it.

use crate::ContentHash;

use super::Record;

/// What stands before the first event. It is the same for every session, so that a fork shares the
/// hashes of what it has in common with its origin.
pub const GENESIS: ContentHash = ContentHash::from_bytes([0; 32]);

/// The hash of a record after `previous`. The payload enters by its own content hash: whether its bytes
/// stand in the log or in a blob store changes nothing, and `data_hash` lets a chain be checked without
/// the blobs.
pub fn chain(previous: &ContentHash, record: &Record, data_hash: &ContentHash) -> ContentHash {
    let seq = record.seq.get().to_le_bytes();
    let at = record.at_ms.to_le_bytes();
    let version = record.version.to_le_bytes();
    let fields: [&[u8]; 7] = [
        previous.as_bytes(),
        &seq,
        &at,
        record.kind.as_bytes(),
        &version,
        &[u8::from(record.ignorable)],
        data_hash.as_bytes(),
    ];
    ContentHash::of_fields("bindery-log-1", fields)
}
