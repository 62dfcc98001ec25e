//! A session as a file of JSON Lines: a head, a line for each event with its hash, and an end. Exporting and
//! importing gives the same events with the same hashes; payloads are passed on byte by byte, large ones
//! included.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use bindery_core::ContentHash;
use bindery_core::log::{Record, Seq};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::json_lines::{Content, Row, rows};
use crate::store::{Contention, Head, LogReader, Store, Stored, records};
use crate::{SessionId, StoreError};

/// The format that is written and read.
const FORMAT: u32 = 1;

/// How many records are appended at a time.
const BATCH: usize = 1024;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadLine {
    bindery_log: u32,
    session: SessionId,
    created_at_ms: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventLine<'a> {
    seq: Seq,
    at_ms: u64,
    #[serde(rename = "type")]
    kind: Arc<str>,
    v: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ignorable: bool,
    #[serde(borrow)]
    data: &'a RawValue,
    hash: ContentHash,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndLine {
    end: End,
}

#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct End {
    events: u64,
    hash: ContentHash,
}

/// What an export wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportReport {
    /// How many events.
    pub events: u64,
    /// The end of the log.
    pub head: Head,
}

/// Writes a session's log to `out`, checking it on the way.
pub fn export(log: &dyn LogReader, out: impl Write, place: &Path) -> Result<ExportReport, StoreError> {
    let mut out = BufWriter::new(out);
    let failed = || StoreError::io(place, "writing");
    let info = log.info()?;
    let first = HeadLine {
        bindery_log: FORMAT,
        session: info.id,
        created_at_ms: info.created_at_ms,
    };
    write_line(&mut out, &first).map_err(failed())?;
    let mut report = ExportReport {
        events: 0,
        head: Head::EMPTY,
    };
    for stored in records(log, Seq::FIRST) {
        let stored = stored?;
        write_row(&mut out, &stored).map_err(failed())?;
        report.events += 1;
        report.head = Head {
            next: stored.record.seq.next(),
            hash: stored.hash,
        };
    }
    let end = End {
        events: report.events,
        hash: report.head.hash,
    };
    write_line(&mut out, &EndLine { end })
        .and_then(|()| out.flush())
        .map_err(failed())?;
    Ok(report)
}

/// Writes the line of one event.
pub(crate) fn write_row(out: &mut impl Write, stored: &Stored) -> io::Result<()> {
    let record = &stored.record;
    let line = EventLine {
        seq: record.seq,
        at_ms: record.at_ms,
        kind: record.kind.clone(),
        v: record.version,
        ignorable: record.ignorable,
        data: serde_json::from_str(&record.data)?,
        hash: stored.hash,
    };
    write_line(out, &line)
}

fn write_line(out: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

/// What to do with a file that is not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Import nothing.
    Refuse,
    /// Import what is whole, from the first event to the first gap.
    KeepReadable,
}

/// What an import found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// How many events are in the new session.
    pub events: u64,
    /// What was not imported, with its line; empty for a whole file.
    pub problems: Vec<(u64, String)>,
}

/// Reads an exported file into the new session `id` (the file's own id where none is given). The file is
/// read to its end before anything is created.
pub fn import(
    path: &Path,
    store: &dyn Store,
    id: Option<&SessionId>,
    damage: Damage,
) -> Result<ImportReport, StoreError> {
    let mut scan = Scan::default();
    scan.read(path, |_| Ok(()))?;
    let Some(first) = &scan.first else {
        let what = "its first line is no head of an exported session".to_owned();
        return Err(StoreError::Foreign {
            path: path.to_owned(),
            what,
        });
    };
    if damage == Damage::Refuse
        && let Some((line, what)) = scan.problems.first()
    {
        let (path, line, what) = (path.to_owned(), *line, what.clone());
        return Err(StoreError::NotWhole { path, line, what });
    }
    let id = id.unwrap_or(&first.session);
    store.create(id, first.created_at_ms)?;
    let mut log = store.write(id, "an import", Contention::Refuse)?;
    let mut batch = Vec::with_capacity(BATCH);
    Scan::default().read(path, |record| {
        batch.push(record);
        if batch.len() == BATCH {
            log.append(&batch)?;
            batch.clear();
        }
        Ok(())
    })?;
    log.append(&batch)?;
    Ok(ImportReport {
        events: scan.head.next.get().saturating_sub(1),
        problems: scan.problems,
    })
}

/// One reading of a file.
struct Scan {
    first: Option<HeadLine>,
    head: Head,
    end: Option<End>,
    problems: Vec<(u64, String)>,
    broken: bool,
    beyond: u64,
}

impl Default for Scan {
    fn default() -> Self {
        Self {
            first: None,
            head: Head::EMPTY,
            end: None,
            problems: Vec::new(),
            broken: false,
            beyond: 0,
        }
    }
}

impl Scan {
    fn read(
        &mut self,
        path: &Path,
        mut take: impl FnMut(Record) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let file = File::open(path).map_err(StoreError::io(path, "opening"))?;
        let mut last = 0;
        for row in rows(BufReader::new(file)) {
            let row = row.map_err(StoreError::io(path, "reading"))?;
            last = row.line;
            if let Some(record) = self.row(&row, path)? {
                take(record)?;
            }
            if self.first.is_none() {
                return Ok(());
            }
        }
        if self.beyond > 0 {
            let what = format!("{} more events lie beyond the gap", self.beyond);
            self.problems.push((last, what));
        }
        let whole = End {
            events: self.head.next.get().saturating_sub(1),
            hash: self.head.hash,
        };
        match self.end {
            Some(end) if end == whole => {}
            Some(end) => {
                let what = format!(
                    "{} events were exported, {} are readable",
                    end.events, whole.events
                );
                self.problems.push((last, what));
            }
            None => self
                .problems
                .push((last, "the end is missing: the file was cut short".to_owned())),
        }
        Ok(())
    }

    /// The record of a row, if it continues the log.
    fn row(&mut self, row: &Row, path: &Path) -> Result<Option<Record>, StoreError> {
        let text = match &row.content {
            Content::Value(raw) => raw.get(),
            Content::Malformed { why, .. } => {
                self.problems.push((row.line, format!("no JSON: {why}")));
                return Ok(None);
            }
            Content::Torn { bytes } => {
                self.problems
                    .push((row.line, format!("breaks off after {} bytes", bytes.len())));
                return Ok(None);
            }
        };
        if self.first.is_none() {
            self.first = serde_json::from_str(text).ok();
            if let Some(first) = &self.first
                && first.bindery_log > FORMAT
            {
                let (path, found) = (path.to_owned(), i64::from(first.bindery_log));
                return Err(StoreError::NewerFormat {
                    path,
                    found,
                    known: i64::from(FORMAT),
                });
            }
            return Ok(None);
        }
        if let Ok(EndLine { end }) = serde_json::from_str(text) {
            self.end = Some(end);
            return Ok(None);
        }
        Ok(self.event(row.line, text))
    }

    fn event(&mut self, line: u64, text: &str) -> Option<Record> {
        let event: EventLine<'_> = match serde_json::from_str(text) {
            Ok(event) => event,
            Err(error) => {
                self.problems.push((line, format!("no event: {error}")));
                return None;
            }
        };
        let record = Record {
            seq: event.seq,
            at_ms: event.at_ms,
            kind: event.kind,
            version: event.v,
            ignorable: event.ignorable,
            data: event.data.get().into(),
        };
        let stored = Stored {
            record,
            hash: event.hash,
        };
        if self.broken {
            self.beyond += 1;
            return None;
        }
        match self.head.follow(&stored) {
            Ok(()) => Some(stored.record),
            Err((_, what)) => {
                self.broken = true;
                self.problems.push((line, what));
                None
            }
        }
    }
}
