//! What opening and appending cost, counted in records: no more than there are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bindery_core::log::{Record, Seq};
use bindery_store::{
    Contention, Head, Journal, LogReader, LogWriter, MemoryStore, SessionInfo, Store, StoreError, Stored,
};

use crate::common::{filled, message};

/// Counts what is read and written through it.
struct Counting {
    log: Box<dyn LogWriter>,
    read: Arc<AtomicU64>,
    written: Arc<AtomicU64>,
}

impl LogReader for Counting {
    fn info(&self) -> Result<SessionInfo, StoreError> {
        self.log.info()
    }

    fn head(&self) -> Result<Head, StoreError> {
        self.log.head()
    }

    fn records(&self, from: Seq, limit: usize) -> Result<Vec<Stored>, StoreError> {
        let page = self.log.records(from, limit)?;
        self.read.fetch_add(page.len() as u64, Ordering::Relaxed);
        Ok(page)
    }
}

impl LogWriter for Counting {
    fn append(&mut self, records: &[Record]) -> Result<Head, StoreError> {
        self.written.fetch_add(records.len() as u64, Ordering::Relaxed);
        self.log.append(records)
    }
}

#[test]
fn opening_reads_each_record_once_and_appending_reads_none() {
    for size in [0, 1, 1023, 1024, 1025, 20_000] {
        let store = MemoryStore::default();
        let session = filled(&store, "one", size);
        let (read, written) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let log = Counting {
            log: store.write(&session, "t", Contention::Refuse).unwrap(),
            read: read.clone(),
            written: written.clone(),
        };
        let mut journal = Journal::over(Box::new(log)).unwrap();
        assert_eq!(read.load(Ordering::Relaxed), size);
        for n in 0..10 {
            journal.commit(vec![message(n, 1), message(n, 1)]).unwrap();
        }
        assert_eq!(
            (read.load(Ordering::Relaxed), written.load(Ordering::Relaxed)),
            (size, 20)
        );
    }
}
