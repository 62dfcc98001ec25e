//! Appending to a session's file.

use bindery_core::ContentHash;
use bindery_core::log::{Record, Seq};
use rusqlite::{TransactionBehavior, params};

use super::lease::Lease;
use super::read::{SqliteReader, head};
use crate::store::{Head, LogReader, LogWriter, Stored};
use crate::{SessionInfo, StoreError};

const INSERT: &str = "INSERT INTO event (seq, at_ms, type, v, ignorable, data, blob, hash) \
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

/// A session's file, open for writing.
pub(super) struct SqliteWriter {
    // Dropped in this order: the file is closed before the lease ends.
    reader: SqliteReader,
    _lease: Lease,
    head: Head,
    inline_bytes: usize,
    /// Whether a failed batch may have reached the disk all the same.
    unsure: bool,
}

impl SqliteWriter {
    pub(super) fn new(reader: SqliteReader, lease: Lease, head: Head, inline_bytes: usize) -> Self {
        Self {
            reader,
            _lease: lease,
            head,
            inline_bytes,
            unsure: false,
        }
    }

    /// The hash of each payload; those that are large are kept as blobs, before any event cites them.
    fn place(&self, records: &[Record]) -> Result<Vec<Placed>, StoreError> {
        let place = |record: &Record| {
            if record.data.len() <= self.inline_bytes {
                return Ok(Placed {
                    hash: ContentHash::of(record.data.as_bytes()),
                    inline: true,
                });
            }
            let kept = self.reader.blobs.put(record.data.as_bytes());
            let hash = kept.map_err(|cause| self.blob_failed(record.seq, cause))?;
            Ok(Placed { hash, inline: false })
        };
        records.iter().map(place).collect()
    }

    fn blob_failed(&self, seq: Seq, cause: crate::BlobError) -> StoreError {
        StoreError::Blob {
            place: self.reader.file.path.display().to_string(),
            seq,
            cause,
        }
    }
}

struct Placed {
    hash: ContentHash,
    inline: bool,
}

impl LogReader for SqliteWriter {
    fn info(&self) -> Result<SessionInfo, StoreError> {
        self.reader.info()
    }

    fn head(&self) -> Result<Head, StoreError> {
        self.reader.head()
    }

    fn records(&self, from: Seq, limit: usize) -> Result<Vec<Stored>, StoreError> {
        self.reader.records(from, limit)
    }
}

impl LogWriter for SqliteWriter {
    fn append(&mut self, records: &[Record]) -> Result<Head, StoreError> {
        if self.unsure {
            self.head = head(&self.reader.file)?;
            self.unsure = false;
        }
        self.head.check(&self.reader.file.id, records)?;
        if records.is_empty() {
            return Ok(self.head);
        }
        let placed = self.place(records)?;
        self.unsure = true;
        self.head = self.insert(records, &placed)?;
        self.unsure = false;
        Ok(self.head)
    }
}

impl SqliteWriter {
    fn insert(&mut self, records: &[Record], placed: &[Placed]) -> Result<Head, StoreError> {
        let expected = self.head;
        let session = self.reader.file.id.clone();
        let found = head(&self.reader.file)?;
        if found != expected {
            return Err(StoreError::Fenced {
                session,
                expected: expected.next,
                found: found.next,
            });
        }
        let failed = self.reader.file.failed("appending to");
        let mut write = || -> rusqlite::Result<Head> {
            let mut end = expected;
            let connection = &mut self.reader.file.connection;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            {
                let mut insert = transaction.prepare_cached(INSERT)?;
                for (record, placed) in records.iter().zip(placed) {
                    end = end.after(record, &placed.hash);
                    insert.execute(params![
                        record.seq.get().cast_signed(),
                        record.at_ms.cast_signed(),
                        &*record.kind,
                        record.version,
                        record.ignorable,
                        placed.inline.then_some(&*record.data),
                        (!placed.inline).then_some(placed.hash.as_bytes()),
                        end.hash.as_bytes(),
                    ])?;
                }
            }
            transaction.commit()?;
            Ok(end)
        };
        match write() {
            Ok(end) => Ok(end),
            // The place was filled between the look and the transaction.
            Err(cause) if cause.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) => {
                let found = head(&self.reader.file)?.next;
                Err(StoreError::Fenced {
                    session,
                    expected: expected.next,
                    found,
                })
            }
            Err(cause) => Err(failed(cause)),
        }
    }
}
