//! Appending to a session's file.

use bindery_core::ContentHash;
use bindery_core::log::{Record, Seq};
use rusqlite::{Connection, TransactionBehavior, params};

use super::lease::Lease;
use super::read::{SqliteReader, head, last};
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
        let file = &mut self.reader.file;
        match write(&mut file.connection, expected, records, placed) {
            Ok(Written::To(end)) => Ok(end),
            Ok(Written::Fenced(found)) => Err(StoreError::Fenced {
                session,
                expected: expected.next,
                found,
            }),
            Err(cause) => Err(file.failed("appending to")(cause)),
        }
    }
}

/// What became of a batch.
enum Written {
    /// It stands in the file, and ends here.
    To(Head),
    /// Somebody else wrote: the file goes on here.
    Fenced(Seq),
}

/// Writes a batch in one transaction, in which the file's end is looked at too: it cannot move between.
fn write(
    connection: &mut Connection,
    expected: Head,
    records: &[Record],
    placed: &[Placed],
) -> rusqlite::Result<Written> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = last(&transaction)?;
    if found != expected {
        return Ok(Written::Fenced(found.next));
    }
    let mut end = expected;
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
    Ok(Written::To(end))
}
