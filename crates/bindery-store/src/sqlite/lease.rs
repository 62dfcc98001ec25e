//! One writer at a time: a lock that the kernel releases with the process, so that none is ever stale.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::store::Contention;
use crate::{SessionId, StoreError};

/// How often a waiting writer looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// How much of a holder's description is shown.
const SHOWN: u64 = 200;

/// The right to write to a session, until it is dropped.
pub(super) struct Lease {
    locked: File,
}

impl Drop for Lease {
    /// Closing the file would not do: a child that was forked and has not yet come to its own program
    /// shares the lock, and would hold it on.
    fn drop(&mut self) {
        self.locked.unlock().unwrap_or_default();
    }
}

impl Lease {
    pub(super) fn take(
        path: &Path,
        id: &SessionId,
        owner: &str,
        contention: Contention,
    ) -> Result<Self, StoreError> {
        let failed = |doing| StoreError::io(path, doing);
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path);
        let mut file = opened.map_err(failed("opening"))?;
        let until = match contention {
            Contention::Refuse => None,
            Contention::Wait(time) => Instant::now().checked_add(time),
        };
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(cause)) => return Err(failed("locking")(cause)),
                Err(TryLockError::WouldBlock) => {}
            }
            let left = until.and_then(|until| until.checked_duration_since(Instant::now()));
            let Some(left) = left.filter(|left| !left.is_zero()) else {
                return Err(StoreError::Busy {
                    session: id.clone(),
                    owner: holder(&mut file),
                });
            };
            std::thread::sleep(left.min(LOOK_AGAIN));
        }
        // Only what others are told: a failure to write it takes nothing from the lock.
        let told = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| {
            let owner: String = owner.chars().filter(|c| !c.is_control()).collect();
            writeln!(file, "{owner} (process {})", std::process::id())
        });
        match told {
            Ok(()) | Err(_) => Ok(Self { locked: file }),
        }
    }
}

fn holder(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let read = file.take(SHOWN).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    if read.is_err() || text.is_empty() {
        "another process".to_owned()
    } else {
        text
    }
}
