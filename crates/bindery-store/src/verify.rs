//! Checking and extending the chain.

use bindery_core::ContentHash;
use bindery_core::log::{Record, Seq, chain};

use crate::{Head, SessionId, StoreError, Stored};

impl Head {
    /// The end after one more record.
    pub(crate) fn after(&self, record: &Record, data_hash: &ContentHash) -> Self {
        Self {
            next: record.seq.next(),
            hash: chain(&self.hash, record, data_hash),
        }
    }

    /// Refuses records that do not follow this end, or that no line could hold.
    pub(crate) fn check(&self, session: &SessionId, records: &[Record]) -> Result<(), StoreError> {
        let mut expected = self.next;
        for record in records {
            if record.seq != expected {
                let (session, found) = (session.clone(), record.seq);
                return Err(StoreError::OutOfOrder {
                    session,
                    expected,
                    found,
                });
            }
            if record.data.contains(['\n', '\r']) {
                return Err(StoreError::NotOneLine(record.seq));
            }
            expected = expected.next();
        }
        Ok(())
    }

    /// Follows a stored record, or says why it does not belong here.
    pub(crate) fn follow(&mut self, stored: &Stored) -> Result<(), (Seq, String)> {
        let record = &stored.record;
        if record.seq != self.next {
            let what = if record.seq > self.next {
                format!("event {} is missing; {} follows", self.next, record.seq)
            } else {
                format!("event {} stands where {} should", record.seq, self.next)
            };
            return Err((self.next, what));
        }
        let after = self.after(record, &ContentHash::of(record.data.as_bytes()));
        if after.hash != stored.hash {
            let what = "its hash does not match its content and the event before it".to_owned();
            return Err((record.seq, what));
        }
        *self = after;
        Ok(())
    }
}
