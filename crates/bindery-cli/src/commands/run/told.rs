//! What was told already: files are read again turn by turn, and say the same.

use std::sync::{Arc, Mutex, PoisonError};

use bindery::sources::Notice;

/// Remembers notices for the session. Clones are one.
#[derive(Clone, Default)]
pub(super) struct Told {
    notices: Arc<Mutex<Vec<Notice>>>,
}

impl Told {
    /// These were told.
    pub(super) fn already(notices: &[Notice]) -> Self {
        Self {
            notices: Arc::new(Mutex::new(notices.to_vec())),
        }
    }

    /// Those of `notices` that were not told before. From here on they were.
    pub(super) fn new_of(&self, notices: &[Notice]) -> Vec<Notice> {
        let mut told = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        let mut new = Vec::new();
        for notice in notices {
            if !told.contains(notice) {
                told.push(notice.clone());
                new.push(notice.clone());
            }
        }
        new
    }
}
