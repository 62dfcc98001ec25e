//! Saving what is readable of a damaged file.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use bindery_core::log::{Record, Seq};
use rusqlite::{Connection, OpenFlags};

use super::read::{COLUMNS, EventRow};
use super::{SqliteStore, wal};
use crate::exchange::write_row;
use crate::store::{Contention, Head, LogWriter, Store, Stored};
use crate::{Blobs, SessionId, StoreError};

/// How many records are appended at a time.
const BATCH: usize = 256;

/// No row of the event table is shorter than this many bytes: its hash alone is.
const SHORTEST_ROW: u64 = 32;

/// The most that a truncated file is lengthened, as a multiple of what is left of it. The added bytes take
/// no room: they are a hole in a temporary file.
const MOST_PADDING: u64 = 1000;

/// What a recovery saved and what it could not.
#[derive(Debug)]
pub struct RecoverReport {
    /// How many events, from the first one on without a gap, are in the new session.
    pub recovered: u64,
    /// What could not be read or does not belong to the chain, in order.
    pub lost: Vec<Lost>,
    /// How many events beyond the first gap could be read. They cannot continue the new session and are
    /// kept in `set_aside`.
    pub beyond: u64,
    /// The file with the events beyond the gap, as JSON Lines.
    pub set_aside: Option<PathBuf>,
    /// Damage of the write-ahead log, whose transactions cannot even be counted.
    pub log_damage: Option<String>,
}

/// A stretch of events that could not be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The first of them.
    pub first: Seq,
    /// The last of them; `None` where nothing after them could be read.
    pub last: Option<Seq>,
    /// Why.
    pub what: String,
}

/// Saves the readable part of `damaged` as session `id` of `store`, whose blobs are used. The damaged file
/// is not touched.
pub fn recover(
    damaged: &Path,
    store: &SqliteStore,
    id: &SessionId,
    at_ms: u64,
) -> Result<RecoverReport, StoreError> {
    let copy = Copy::of(damaged)?;
    store.create(id, at_ms)?;
    let log = store.write(id, "a recovery", Contention::Refuse)?;
    let aside = store.dir().join(format!("{id}.beyond.jsonl"));
    let log_damage = wal::check(damaged).err().map(|error| error.to_string());
    let report = RecoverReport {
        recovered: 0,
        lost: Vec::new(),
        beyond: 0,
        set_aside: None,
        log_damage,
    };
    let mut saving = Saving {
        log,
        batch: Vec::new(),
        head: Head::EMPTY,
        aside,
        file: None,
        report,
    };
    copy.salvage(&**store.blobs(), &mut saving)?;
    saving.finish()
}

/// A private copy of a damaged file, so that nothing SQLite does to it reaches the original.
struct Copy {
    connection: Connection,
    shown: String,
    most: u64,
    _dir: tempfile::TempDir,
}

impl Copy {
    fn of(damaged: &Path) -> Result<Self, StoreError> {
        let dir = tempfile::tempdir().map_err(StoreError::io(std::env::temp_dir(), "creating"))?;
        let path = dir.path().join("damaged.db");
        let mut bytes = fs::copy(damaged, &path).map_err(StoreError::io(damaged, "copying"))?;
        if wal::waits(damaged) {
            let from = wal::path_of(damaged);
            bytes += fs::copy(&from, wal::path_of(&path)).map_err(StoreError::io(&from, "copying"))?;
        }
        pad(&path).map_err(StoreError::io(damaged, "copying"))?;
        let shown = damaged.display().to_string();
        let opened = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE);
        let unreadable = |cause: rusqlite::Error| StoreError::Corrupt {
            place: shown.clone(),
            seq: None,
            what: format!("nothing in it can be read: {cause}"),
        };
        let connection = opened.map_err(unreadable)?;
        // A damaged file may still know how it begins; without a schema there is nothing to ask for.
        connection.prepare("SELECT seq FROM event").map_err(unreadable)?;
        Ok(Self {
            connection,
            shown,
            most: bytes / SHORTEST_ROW,
            _dir: dir,
        })
    }

    /// Reads on from each readable event, and looks for the next one where reading breaks off.
    fn salvage(&self, blobs: &dyn Blobs, saving: &mut Saving) -> Result<(), StoreError> {
        let mut next = Seq::FIRST;
        while let Some(what) = self.run(&mut next, blobs, saving)? {
            let first = next;
            let Some(row) = self.next_readable(first) else {
                saving.lose(first, None, what);
                break;
            };
            next = row.seq.next();
            saving.lose(first, Some(row.seq), what);
            saving.take(row.fetch(blobs, &self.shown))?;
        }
        Ok(())
    }

    /// Takes rows in order from `next` on; gives what broke off the reading, if something did.
    fn run(
        &self,
        next: &mut Seq,
        blobs: &dyn Blobs,
        saving: &mut Saving,
    ) -> Result<Option<String>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM event WHERE seq >= ?1 ORDER BY seq");
        let mut statement = match self.connection.prepare(&sql) {
            Ok(statement) => statement,
            Err(cause) => return Ok(Some(cause.to_string())),
        };
        let mut rows = match statement.query([next.get().cast_signed()]) {
            Ok(rows) => rows,
            Err(cause) => return Ok(Some(cause.to_string())),
        };
        loop {
            let row = match rows.next().and_then(|row| row.map(EventRow::read).transpose()) {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(None),
                Err(cause) => return Ok(Some(cause.to_string())),
            };
            if row.seq > *next {
                saving.lose(*next, Some(row.seq), "missing".to_owned());
            }
            *next = row.seq.next();
            saving.take(row.fetch(blobs, &self.shown))?;
        }
    }

    /// The next event after an unreadable place that can be read by itself.
    fn next_readable(&self, first: Seq) -> Option<EventRow> {
        let sql = format!("SELECT {COLUMNS} FROM event WHERE seq = ?1");
        let mut statement = self.connection.prepare(&sql).ok()?;
        let most = first.get().saturating_add(self.most);
        let newest = self
            .connection
            .query_row("SELECT max(seq) FROM event", [], |row| row.get::<_, i64>(0));
        let last = newest.map_or(most, |newest| newest.cast_unsigned().min(most));
        (first.get()..=last).find_map(|seq| statement.query_row([seq.cast_signed()], EventRow::read).ok())
    }
}

/// Lengthens a truncated copy to as many pages as its header counts: SQLite refuses a file that is shorter
/// than it says, and reads around pages that are empty.
fn pad(path: &Path) -> io::Result<()> {
    let mut header = [0; 32];
    let mut file = fs::OpenOptions::new().read(true).write(true).open(path)?;
    if file.read_exact(&mut header).is_err() {
        return Ok(());
    }
    let [.., a, b, c, d] = header;
    let pages = u64::from(u32::from_be_bytes([a, b, c, d]));
    // Bytes 16 and 17 are the page size, where 1 stands for 65536.
    let size = match header.get(16..18) {
        Some([high, low]) => u64::from(u16::from_be_bytes([*high, *low])),
        _ => 0,
    };
    let whole = pages.saturating_mul(if size == 1 { 65_536 } else { size });
    let length = file.metadata()?.len();
    // A damaged count must not make a file of terabytes.
    if whole > length && whole <= length.saturating_mul(MOST_PADDING) {
        file.set_len(whole)?;
    }
    Ok(())
}

/// Where what is read goes.
struct Saving {
    log: Box<dyn LogWriter>,
    batch: Vec<Record>,
    head: Head,
    aside: PathBuf,
    file: Option<fs::File>,
    report: RecoverReport,
}

impl Saving {
    /// Notes that everything from `first` to before `next` is gone.
    fn lose(&mut self, first: Seq, next: Option<Seq>, what: String) {
        let last = next.map(|next| Seq::new(next.get().saturating_sub(1)));
        if last.is_none_or(|last| last >= first) {
            self.report.lost.push(Lost { first, last, what });
        }
    }

    /// Keeps an event: in the session as long as it continues that, else aside.
    fn take(&mut self, fetched: Result<Stored, StoreError>) -> Result<(), StoreError> {
        let stored = match fetched {
            Ok(stored) => stored,
            Err(StoreError::Blob { seq, cause, .. }) => {
                self.lose(seq, Some(seq.next()), cause.to_string());
                return Ok(());
            }
            Err(StoreError::Corrupt {
                seq: Some(seq), what, ..
            }) => {
                self.lose(seq, Some(seq.next()), what);
                return Ok(());
            }
            Err(other) => return Err(other),
        };
        if self.report.lost.is_empty() {
            match self.head.follow(&stored) {
                Ok(()) => {
                    self.batch.push(stored.record);
                    return if self.batch.len() < BATCH {
                        Ok(())
                    } else {
                        self.flush()
                    };
                }
                Err((seq, what)) => self.lose(seq, Some(seq.next()), what),
            }
        }
        self.set_aside(&stored)
    }

    fn set_aside(&mut self, stored: &Stored) -> Result<(), StoreError> {
        let failed = || StoreError::io(&self.aside, "writing");
        if self.file.is_none() {
            self.file = Some(fs::File::create_new(&self.aside).map_err(failed())?);
        }
        if let Some(file) = &mut self.file {
            let mut line = Vec::new();
            write_row(&mut line, stored)
                .and_then(|()| file.write_all(&line))
                .map_err(failed())?;
        }
        self.report.beyond += 1;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.log.append(&self.batch)?;
        self.report.recovered += self.batch.len() as u64;
        self.batch.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<RecoverReport, StoreError> {
        self.flush()?;
        if let Some(file) = &self.file {
            file.sync_all().map_err(StoreError::io(&self.aside, "syncing"))?;
            self.report.set_aside = Some(self.aside);
        }
        Ok(self.report)
    }
}
