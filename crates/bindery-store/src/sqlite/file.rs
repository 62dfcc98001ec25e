//! A session's SQLite file: its format, and how it is opened.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags, params};

use super::bare_info;
use crate::{SessionId, SessionInfo, StoreError};

/// Marks the file as ours ("Bind").
const APPLICATION_ID: i64 = 0x4269_6e64;

/// The format that is written. Older ones are read.
const FORMAT: i64 = 1;

/// How long SQLite waits for a reader that recovers or a writer that checkpoints.
const BUSY_MS: u32 = 5_000;

const SCHEMA: &str = include_str!("schema.sql");

/// An open file.
pub(super) struct LogFile {
    pub(super) path: PathBuf,
    pub(super) id: SessionId,
    pub(super) connection: Connection,
}

impl LogFile {
    /// Creates the file of a session. It gets its name when it is complete.
    pub(super) fn create(path: &Path, id: &SessionId, at_ms: u64) -> Result<(), StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let unfinished = path.with_extension("new");
        remove_if_there(&unfinished)?;
        let file = Self::connect(unfinished.clone(), id, flags)?;
        let made = || -> rusqlite::Result<()> {
            file.connection.execute_batch(SCHEMA)?;
            file.connection
                .pragma_update(None, "application_id", APPLICATION_ID)?;
            file.connection.pragma_update(None, "user_version", FORMAT)?;
            let row = params![id.as_str(), at_ms.cast_signed()];
            file.connection
                .execute("INSERT INTO session (id, created_at_ms) VALUES (?1, ?2)", row)?;
            Ok(())
        };
        made().map_err(file.failed("creating"))?;
        let closed = file.connection.close();
        closed.map_err(|(_, cause)| StoreError::Sqlite {
            path: unfinished.clone(),
            doing: "closing",
            cause,
        })?;
        std::fs::rename(&unfinished, path).map_err(StoreError::io(path, "naming"))
    }

    /// Opens the file to append to it.
    pub(super) fn open_to_write(
        path: PathBuf,
        id: &SessionId,
        most_pages: Option<u32>,
    ) -> Result<Self, StoreError> {
        let file = Self::connect(path, id, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        file.check()?;
        let tuned = || -> rusqlite::Result<()> {
            file.connection.pragma_update(None, "journal_mode", "wal")?;
            // Every commit waits for the disk: what is acknowledged stays, whatever fails next.
            file.connection.pragma_update(None, "synchronous", "full")?;
            if let Some(most) = most_pages {
                file.connection.pragma_update(None, "max_page_count", most)?;
            }
            Ok(())
        };
        tuned().map_err(file.failed("opening"))?;
        Ok(file)
    }

    /// Opens the file to read it. Where the directory cannot be written and nothing waits in the
    /// write-ahead log, the file is read as one that nobody changes.
    pub(super) fn open_to_read(path: PathBuf, id: &SessionId) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let opened = Self::connect(path.clone(), id, flags).and_then(|file| file.check().map(|()| file));
        match opened {
            Err(StoreError::ReadOnly { .. }) if !super::wal::waits(&path) => {
                let uri = immutable_uri(&path);
                let file = Self::connect_as(path, id, flags | OpenFlags::SQLITE_OPEN_URI, &uri)?;
                file.check()?;
                Ok(file)
            }
            other => other,
        }
    }

    fn connect(path: PathBuf, id: &SessionId, flags: OpenFlags) -> Result<Self, StoreError> {
        let name = path.clone();
        Self::connect_as(path, id, flags, name.as_path())
    }

    fn connect_as(
        path: PathBuf,
        id: &SessionId,
        flags: OpenFlags,
        name: impl AsRef<Path>,
    ) -> Result<Self, StoreError> {
        let opened = Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        let connection = opened.map_err(failure(&path, "opening"))?;
        let wait = std::time::Duration::from_millis(BUSY_MS.into());
        connection.busy_timeout(wait).map_err(failure(&path, "opening"))?;
        Ok(Self {
            path,
            id: id.clone(),
            connection,
        })
    }

    /// Refuses a file that is not a log, or not the log of this session.
    fn check(&self) -> Result<(), StoreError> {
        let number = |name: &str| {
            let value = self
                .connection
                .pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            value.map_err(self.failed("opening"))
        };
        let (application, format) = (number("application_id")?, number("user_version")?);
        if application != APPLICATION_ID {
            let what = if std::fs::metadata(&self.path).is_ok_and(|data| data.len() == 0) {
                "it is empty".to_owned()
            } else {
                format!("it is a database with application id {application:#x}")
            };
            return Err(StoreError::Foreign {
                path: self.path.clone(),
                what,
            });
        }
        if format > FORMAT {
            let path = self.path.clone();
            return Err(StoreError::NewerFormat {
                path,
                found: format,
                known: FORMAT,
            });
        }
        let tables =
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('session', 'event')";
        let found = self.connection.query_row(tables, [], |row| row.get::<_, i64>(0));
        if found.map_err(self.failed("opening"))? != 2 {
            return Err(self.corrupt(None, "a table is missing"));
        }
        let (id, _) = self.session()?;
        if id != self.id.as_str() {
            let what = format!("it holds session `{id}`; rename it back, or import it under a new id");
            return Err(StoreError::Foreign {
                path: self.path.clone(),
                what,
            });
        }
        Ok(())
    }

    /// The session's id and time of creation.
    fn session(&self) -> Result<(String, u64), StoreError> {
        let query = "SELECT id, created_at_ms FROM session";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()));
        match self.connection.query_row(query, [], row) {
            Err(rusqlite::Error::QueryReturnedNoRows) => Err(StoreError::Corrupt {
                place: self.path.display().to_string(),
                seq: None,
                what: "the row that names the session is missing".to_owned(),
            }),
            other => other.map_err(self.failed("reading")),
        }
    }

    pub(super) fn info(&self) -> Result<SessionInfo, StoreError> {
        let (_, created_at_ms) = self.session()?;
        let query = "SELECT seq, at_ms FROM event ORDER BY seq DESC LIMIT 1";
        let row = |row: &rusqlite::Row<'_>| {
            Ok((
                row.get::<_, i64>(0)?.cast_unsigned(),
                row.get::<_, i64>(1)?.cast_unsigned(),
            ))
        };
        let bare = bare_info(&self.id, created_at_ms);
        match self.connection.query_row(query, [], row) {
            Ok((events, last_at_ms)) => Ok(SessionInfo {
                events,
                last_at_ms,
                ..bare
            }),
            Err(rusqlite::Error::QueryReturnedNoRows) => Ok(bare),
            Err(cause) => Err(self.failed("reading")(cause)),
        }
    }

    pub(super) fn failed(&self, doing: &'static str) -> impl FnOnce(rusqlite::Error) -> StoreError + use<> {
        failure(&self.path, doing)
    }

    pub(super) fn corrupt(&self, seq: Option<bindery_core::log::Seq>, what: impl Into<String>) -> StoreError {
        StoreError::Corrupt {
            place: self.path.display().to_string(),
            seq,
            what: what.into(),
        }
    }
}

/// Types what SQLite said.
fn failure(path: &Path, doing: &'static str) -> impl FnOnce(rusqlite::Error) -> StoreError + use<> {
    let path = path.to_owned();
    move |cause| {
        let text = cause.to_string();
        match cause.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { path, cause: text },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                StoreError::ReadOnly { path, cause: text }
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt {
                place: path.display().to_string(),
                seq: None,
                what: text,
            },
            // The system would not take the bytes: a limit of file sizes, a quota, a failing disk.
            Some(ErrorCode::SystemIoFailure) if extended(&cause) == Some(IOERR_WRITE) => StoreError::Full {
                path,
                cause: "the system refused the bytes (a quota, a limit, or a failing disk?)".to_owned(),
            },
            _ => StoreError::Sqlite { path, doing, cause },
        }
    }
}

/// `SQLITE_IOERR_WRITE`.
const IOERR_WRITE: i32 = 778;

fn extended(cause: &rusqlite::Error) -> Option<i32> {
    cause.sqlite_error().map(|error| error.extended_code)
}

/// The name by which SQLite opens a file as one that nobody changes.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                uri.push(char::from(*byte));
            }
            other => uri.extend(['%', hex(other >> 4), hex(other & 15)]),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

fn hex(digit: u8) -> char {
    char::from_digit(digit.into(), 16).unwrap_or('0')
}

fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::io(path, "removing")(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
