//! Files of one JSON value a line, appended to by programs that may be killed at any moment.
//!
//! Reading changes nothing: a line that is no JSON is passed on as it is, with its place. Only a writer
//! repairs, only the unterminated end of the file, and keeps aside what it takes away.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use crate::StoreError;

/// A line of a file.
#[derive(Debug)]
pub struct Row {
    /// Its number, from 1.
    pub line: u64,
    /// The offset of its first byte.
    pub offset: u64,
    /// What it holds.
    pub content: Content,
}

/// What a line holds.
#[derive(Debug)]
pub enum Content {
    /// A JSON value, as it was written.
    Value(Box<RawValue>),
    /// Something else; the line is kept.
    Malformed {
        /// Its bytes, without the line break.
        bytes: Vec<u8>,
        /// What the parser said.
        why: String,
    },
    /// The end of a file that breaks off within a record.
    Torn {
        /// Its bytes.
        bytes: Vec<u8>,
    },
}

/// The rows of a file, one after another. Lines of nothing but white space are no rows.
pub fn rows(mut from: impl BufRead) -> impl Iterator<Item = io::Result<Row>> {
    let (mut line, mut offset) = (0_u64, 0_u64);
    std::iter::from_fn(move || {
        loop {
            let mut bytes = Vec::new();
            match from.read_until(b'\n', &mut bytes) {
                Err(error) => return Some(Err(error)),
                Ok(0) => return None,
                Ok(_) => {}
            }
            line += 1;
            let start = offset;
            offset += bytes.len() as u64;
            if start == 0 && bytes.starts_with(b"\xef\xbb\xbf") {
                bytes.drain(..3);
            }
            if !bytes.trim_ascii().is_empty() {
                return Some(Ok(Row {
                    line,
                    offset: start,
                    content: content(bytes),
                }));
            }
        }
    })
}

fn content(mut bytes: Vec<u8>) -> Content {
    let terminated = bytes.last() == Some(&b'\n');
    if terminated {
        bytes.pop();
    } else if !is_whole(&bytes) {
        return Content::Torn { bytes };
    }
    match serde_json::from_slice::<Box<RawValue>>(&bytes) {
        Ok(raw) => Content::Value(raw),
        Err(error) => Content::Malformed {
            why: error.to_string(),
            bytes,
        },
    }
}

/// Whether an unterminated end is a whole record all the same. Only objects and arrays say where they end:
/// `12` may be the beginning of `123`.
fn is_whole(bytes: &[u8]) -> bool {
    matches!(bytes.trim_ascii().last(), Some(b'}' | b']'))
        && serde_json::from_slice::<&RawValue>(bytes).is_ok()
}

/// What opening for writing did to the end of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// Its last record was whole and only lacked the line break.
    Terminated,
    /// Its last record was torn. Its bytes are in a file of their own.
    SetAside {
        /// Where the torn record began.
        offset: u64,
        /// How many bytes it had.
        bytes: u64,
        /// The file that has them now.
        kept_in: PathBuf,
    },
}

/// A file that is appended to. It is locked against other writers until it is dropped.
#[derive(Debug)]
pub struct JsonLines {
    file: File,
    path: PathBuf,
    end: u64,
}

impl Drop for JsonLines {
    /// Closing the file would not do: a forked child may share the lock for a moment.
    fn drop(&mut self) {
        self.file.unlock().unwrap_or_default();
    }
}

impl JsonLines {
    /// Opens or creates a file, takes its lock and repairs its end.
    pub fn open(path: &Path) -> Result<(Self, Option<Repair>), StoreError> {
        let failed = |doing| StoreError::io(path, doing);
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path);
        let file = opened.map_err(failed("opening"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(cause)) => return Err(failed("locking")(cause)),
            Err(TryLockError::WouldBlock) => {
                let cause = io::Error::new(io::ErrorKind::WouldBlock, "another process is writing to it");
                return Err(failed("locking")(cause));
            }
        }
        let mut lines = Self {
            file,
            path: path.to_owned(),
            end: 0,
        };
        let repair = lines.repair()?;
        Ok((lines, repair))
    }

    /// Appends a value on a line of its own. It reaches the disk with [`JsonLines::sync`]. Where it cannot be
    /// written whole, nothing of it stays.
    pub fn append(&mut self, value: &RawValue) -> Result<(), StoreError> {
        let text = value.get();
        let mut line = if text.contains(['\n', '\r']) {
            // Line breaks between tokens; within strings they are escaped.
            let parsed: serde_json::Value = serde_json::from_str(text)
                .map_err(|cause| StoreError::io(&self.path, "writing to")(cause.into()))?;
            parsed.to_string()
        } else {
            text.to_owned()
        };
        line.push('\n');
        match self.file.write_all(line.as_bytes()) {
            Ok(()) => {
                self.end += line.len() as u64;
                Ok(())
            }
            Err(cause) => {
                // If this fails too, the next writer finds a torn end and repairs it.
                let undone = self
                    .file
                    .set_len(self.end)
                    .and_then(|()| self.file.seek(SeekFrom::End(0)));
                undone.map(drop).unwrap_or_default();
                Err(StoreError::io(&self.path, "writing to")(cause))
            }
        }
    }

    /// Waits until everything appended is on the disk.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.file
            .sync_data()
            .map_err(StoreError::io(&self.path, "syncing"))
    }

    fn repair(&mut self) -> Result<Option<Repair>, StoreError> {
        let path = self.path.clone();
        let failed = |doing| StoreError::io(&path, doing);
        let (offset, tail) = tail(&mut self.file).map_err(failed("reading"))?;
        self.end = offset + tail.len() as u64;
        if tail.is_empty() {
            return Ok(None);
        }
        if is_whole(&tail) {
            self.file.write_all(b"\n").map_err(failed("repairing"))?;
            self.end += 1;
            return Ok(Some(Repair::Terminated));
        }
        let kept_in = self.keep(offset, &tail)?;
        let cut = self
            .file
            .set_len(offset)
            .and_then(|()| self.file.seek(SeekFrom::End(0)));
        cut.map_err(failed("repairing"))?;
        self.sync()?;
        self.end = offset;
        Ok(Some(Repair::SetAside {
            offset,
            bytes: tail.len() as u64,
            kept_in,
        }))
    }

    /// Writes torn bytes to a file beside this one, before they are taken away here.
    fn keep(&self, offset: u64, tail: &[u8]) -> Result<PathBuf, StoreError> {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".torn-{offset}"));
        for attempt in 0_u32.. {
            let mut numbered = name.clone();
            if attempt > 0 {
                numbered.push(format!("-{attempt}"));
            }
            let path = self.path.with_file_name(numbered);
            let failed = |doing| StoreError::io(&path, doing);
            match File::create_new(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed("creating")(error)),
                Ok(mut file) => {
                    file.write_all(tail)
                        .and_then(|()| file.sync_all())
                        .map_err(failed("writing"))?;
                    return Ok(path);
                }
            }
        }
        Ok(self.path.clone())
    }
}

/// What follows the last line break, and where it begins. Leaves the file at its end.
fn tail(file: &mut File) -> io::Result<(u64, Vec<u8>)> {
    const STEP: u64 = 64 * 1024;
    let end = file.seek(SeekFrom::End(0))?;
    let mut start = end;
    let mut found = Vec::new();
    while start > 0 {
        let from = start.saturating_sub(STEP);
        let mut chunk = vec![0; usize::try_from(start - from).unwrap_or_default()];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(&mut chunk)?;
        let line_break = chunk.iter().rposition(|byte| *byte == b'\n');
        let kept = line_break.map_or(0, |at| at + 1);
        let rest = chunk.split_off(kept);
        start -= rest.len() as u64;
        found.push(rest);
        if line_break.is_some() {
            break;
        }
    }
    file.seek(SeekFrom::Start(end))?;
    found.reverse();
    Ok((start, found.concat()))
}

#[cfg(test)]
mod tests;
