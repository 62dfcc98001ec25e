//! Damage in a write-ahead log that SQLite itself passes over.
//!
//! SQLite takes the first frame with a wrong checksum for the end of its log. After a crash that is right:
//! the last transaction was not acknowledged. But where more than one transaction lies beyond it, the first
//! of them had been: commits wait for the disk, so the next one began only after that. Such a log has
//! lost something that was acknowledged, and that has to be said before the next append writes over it.
//! (Format: "WAL-mode File Format" of the SQLite documentation.)

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::StoreError;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
const MAGIC: u32 = 0x377f_0682;

/// The write-ahead log of a file.
pub(super) fn path_of(database: &Path) -> PathBuf {
    let mut name = OsString::from(database);
    name.push("-wal");
    name.into()
}

/// Whether something waits in the write-ahead log.
pub(super) fn waits(database: &Path) -> bool {
    fs::metadata(path_of(database)).is_ok_and(|data| data.len() > 0)
}

/// Refuses a write-ahead log that lost acknowledged transactions.
pub(super) fn check(database: &Path) -> Result<(), StoreError> {
    let path = path_of(database);
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(StoreError::io(&path, "reading"))?,
    };
    match examine(&bytes) {
        None => Ok(()),
        Some(what) => Err(StoreError::Corrupt {
            place: path.display().to_string(),
            seq: None,
            what,
        }),
    }
}

/// What is wrong with a write-ahead log, if anything is.
fn examine(bytes: &[u8]) -> Option<String> {
    let (header, frames) = bytes.split_at_checked(HEADER)?;
    let magic = number(header, 0)?;
    let big_endian = magic & 1 == 1;
    let page = usize::try_from(number(header, 8)?).ok()?;
    let mut sum = checksum((0, 0), header.get(..24)?, big_endian);
    if magic & !1 != MAGIC || !page.is_power_of_two() || Some(sum) != pair(header, 24) {
        let lost = "its header is damaged, and with it everything it holds".to_owned();
        return (!frames.is_empty()).then_some(lost);
    }
    let salts = pair(header, 16)?;
    let mut damaged = None;
    let mut commits_beyond = 0;
    for (index, frame) in frames.chunks_exact(FRAME_HEADER + page).enumerate() {
        if pair(frame, 8)? != salts {
            break;
        }
        if damaged.is_none() {
            sum = checksum(sum, frame.get(..8)?, big_endian);
            sum = checksum(sum, frame.get(FRAME_HEADER..)?, big_endian);
            if Some(sum) == pair(frame, 16) {
                continue;
            }
            damaged = Some(index);
        }
        commits_beyond += usize::from(number(frame, 4)? != 0);
    }
    let frame = damaged.filter(|_| commits_beyond > 1)?;
    Some(format!(
        "frame {frame} is damaged, and {commits_beyond} transactions from there on, all but the last \
         acknowledged, cannot be read"
    ))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk::<4>()
        .map(|four| u32::from_be_bytes(*four))
}

fn pair(bytes: &[u8], at: usize) -> Option<(u32, u32)> {
    Some((number(bytes, at)?, number(bytes, at + 4)?))
}

/// SQLite's running checksum.
fn checksum(start: (u32, u32), bytes: &[u8], big_endian: bool) -> (u32, u32) {
    let read = if big_endian {
        u32::from_be_bytes
    } else {
        u32::from_le_bytes
    };
    let (words, _) = bytes.as_chunks::<4>();
    let (pairs, _) = words.as_chunks::<2>();
    pairs.iter().fold(start, |(s0, s1), [a, b]| {
        let s0 = s0.wrapping_add(read(*a)).wrapping_add(s1);
        (s0, s1.wrapping_add(read(*b)).wrapping_add(s0))
    })
}
