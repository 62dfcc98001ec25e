//! Reading a session's file.

use std::sync::Arc;

use bindery_core::ContentHash;
use bindery_core::log::{Record, Seq};
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::file::LogFile;
use crate::store::{Head, LogReader, Stored};
use crate::{Blobs, SessionInfo, StoreError};

pub(super) const COLUMNS: &str = "seq, at_ms, type, v, ignorable, data, blob, hash";

/// A session's file, open.
pub(super) struct SqliteReader {
    pub(super) file: LogFile,
    pub(super) blobs: Arc<dyn Blobs>,
}

/// A row: a record whose payload may be elsewhere.
pub(super) struct EventRow {
    pub(super) seq: Seq,
    at_ms: u64,
    kind: Arc<str>,
    version: u32,
    ignorable: bool,
    data: Option<Arc<str>>,
    blob: Option<[u8; 32]>,
    hash: [u8; 32],
}

impl EventRow {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            seq: Seq::new(row.get::<_, i64>(0)?.cast_unsigned()),
            at_ms: row.get::<_, i64>(1)?.cast_unsigned(),
            kind: row.get(2)?,
            version: row.get(3)?,
            ignorable: row.get(4)?,
            data: row.get(5)?,
            blob: row.get(6)?,
            hash: row.get(7)?,
        })
    }

    /// The record, with its payload fetched.
    pub(super) fn fetch(self, blobs: &dyn Blobs, place: &str) -> Result<Stored, StoreError> {
        let seq = self.seq;
        let corrupt = |what: &str| StoreError::Corrupt {
            place: place.to_owned(),
            seq: Some(seq),
            what: what.to_owned(),
        };
        let data = match (self.data, self.blob) {
            (Some(data), _) => data,
            (None, Some(hash)) => {
                let bytes = blobs.get(&ContentHash::from_bytes(hash));
                let failed = |cause| StoreError::Blob {
                    place: place.to_owned(),
                    seq,
                    cause,
                };
                let text = String::from_utf8(bytes.map_err(failed)?);
                text.map_err(|_| corrupt("its blob is no text"))?.into()
            }
            (None, None) => return Err(corrupt("it has no payload")),
        };
        let record = Record {
            seq,
            at_ms: self.at_ms,
            kind: self.kind,
            version: self.version,
            ignorable: self.ignorable,
            data,
        };
        Ok(Stored {
            record,
            hash: ContentHash::from_bytes(self.hash),
        })
    }
}

/// The end of a file's log.
pub(super) fn head(file: &LogFile) -> Result<Head, StoreError> {
    last(&file.connection).map_err(file.failed("reading"))
}

/// The same, as it stands for whoever holds the connection.
pub(super) fn last(connection: &Connection) -> rusqlite::Result<Head> {
    let sql = "SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([], head_of).optional()?;
    Ok(found.unwrap_or(Head::EMPTY))
}

fn head_of(row: &Row<'_>) -> rusqlite::Result<Head> {
    Ok(Head {
        next: Seq::new(row.get::<_, i64>(0)?.cast_unsigned()).next(),
        hash: ContentHash::from_bytes(row.get(1)?),
    })
}

impl SqliteReader {
    /// What stands before `from`: the hash that the event there has to follow.
    fn before(&self, from: Seq) -> Result<Head, StoreError> {
        if from <= Seq::FIRST {
            return Ok(Head::EMPTY);
        }
        let query = || -> rusqlite::Result<Option<Head>> {
            let sql = "SELECT seq, hash FROM event WHERE seq = ?1";
            let mut statement = self.file.connection.prepare_cached(sql)?;
            statement
                .query_row([from.get().saturating_sub(1).cast_signed()], head_of)
                .optional()
        };
        let found = query().map_err(self.file.failed("reading"))?;
        // Past the end there is nothing to follow, and nothing to read.
        Ok(found.unwrap_or(Head {
            next: from,
            hash: bindery_core::log::GENESIS,
        }))
    }

    fn rows(&self, from: Seq, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = format!("SELECT {COLUMNS} FROM event WHERE seq >= ?1 ORDER BY seq LIMIT ?2");
        let mut out = Vec::new();
        let mut collect = || -> rusqlite::Result<()> {
            let mut statement = self.file.connection.prepare_cached(&sql)?;
            let mut rows = statement.query([from.get().cast_signed(), limit])?;
            while let Some(row) = rows.next()? {
                out.push(EventRow::read(row)?);
            }
            Ok(())
        };
        let outcome = collect();
        outcome.map_err(|cause| match self.file.failed("reading")(cause) {
            StoreError::Corrupt { place, what, .. } => {
                let seq = Some(out.last().map_or(from, |row: &EventRow| row.seq.next()));
                StoreError::Corrupt { place, seq, what }
            }
            StoreError::Sqlite { cause, .. } if cause.sqlite_error_code().is_none() => {
                let seq = Some(out.last().map_or(from, |row: &EventRow| row.seq.next()));
                self.file.corrupt(seq, cause.to_string())
            }
            other => other,
        })?;
        Ok(out)
    }
}

impl LogReader for SqliteReader {
    fn info(&self) -> Result<SessionInfo, StoreError> {
        self.file.info()
    }

    fn head(&self) -> Result<Head, StoreError> {
        head(&self.file)
    }

    fn records(&self, from: Seq, limit: usize) -> Result<Vec<Stored>, StoreError> {
        let from = from.max(Seq::FIRST);
        let rows = self.rows(from, limit)?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let mut head = self.before(from)?;
        let place = self.file.path.display().to_string();
        let mut out = Vec::with_capacity(rows.len());
        for row in rows {
            let stored = row.fetch(&*self.blobs, &place)?;
            head.follow(&stored)
                .map_err(|(seq, what)| self.file.corrupt(Some(seq), what))?;
            out.push(stored);
        }
        Ok(out)
    }
}
