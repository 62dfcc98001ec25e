//! What every store promises. One suite, run on each.

use std::sync::mpsc;
use std::time::Duration;

use crate::common::{all_types, expected_head, filled, id, message, read_all, record, records, turn};
use bindery_core::log::{Draft, Payload, Seq, TurnStarted};
use bindery_store::{
    Contention, Head, Journal, MemoryStore, SqliteOptions, SqliteStore, Store, StoreError, events, fork, load,
};

/// A store, and what has to live as long as it.
type Made = (Box<dyn Store>, Option<tempfile::TempDir>);

fn memory() -> Made {
    (Box::new(MemoryStore::default()), None)
}

fn sqlite() -> Made {
    let dir = tempfile::tempdir().unwrap();
    (Box::new(SqliteStore::new(dir.path().join("sessions"))), Some(dir))
}

/// Everything above 20 bytes is a blob.
fn sqlite_with_blobs() -> Made {
    let dir = tempfile::tempdir().unwrap();
    let options = SqliteOptions {
        inline_bytes: 20,
        ..SqliteOptions::default()
    };
    (
        Box::new(SqliteStore::new(dir.path()).with_options(options)),
        Some(dir),
    )
}

macro_rules! conforms {
    ($($law:ident),+ $(,)?) => {
        mod in_memory { $(#[test] fn $law() { let (store, _kept) = super::memory(); super::$law(&*store); })+ }
        mod in_sqlite { $(#[test] fn $law() { let (store, _kept) = super::sqlite(); super::$law(&*store); })+ }
        mod in_sqlite_with_blobs {
            $(#[test] fn $law() { let (store, _kept) = super::sqlite_with_blobs(); super::$law(&*store); })+
        }
    };
}

conforms!(
    an_id_that_was_handed_out_can_be_opened,
    what_was_appended_is_read,
    the_chain_is_the_same_everywhere,
    pages_join,
    records_have_to_follow,
    a_batch_is_all_or_nothing,
    a_second_writer_is_refused_and_told_who_writes,
    a_second_writer_waits,
    readers_read_while_somebody_writes,
    sessions_are_listed,
    a_fork_leaves_its_origin_alone,
    a_journal_refuses_what_would_not_fold,
    a_journal_goes_on_where_the_last_one_stopped,
);

fn an_id_that_was_handed_out_can_be_opened(store: &dyn Store) {
    let new = id("new");
    assert!(matches!(store.read(&new), Err(StoreError::NotFound(_))));
    assert!(matches!(
        store.write(&new, "t", Contention::Refuse),
        Err(StoreError::NotFound(_))
    ));
    store.create(&new, 5).unwrap();
    assert!(matches!(store.create(&new, 6), Err(StoreError::Exists(_))));
    let info = store.read(&new).unwrap().info().unwrap();
    assert_eq!((info.created_at_ms, info.events, info.last_at_ms), (5, 0, 5));
    assert_eq!(
        store
            .write(&new, "t", Contention::Refuse)
            .unwrap()
            .head()
            .unwrap(),
        Head::EMPTY
    );
}

fn what_was_appended_is_read(store: &dyn Store) {
    let one = id("one");
    store.create(&one, 1).unwrap();
    let mut log = store.write(&one, "t", Contention::Refuse).unwrap();
    let all = all_types();
    let (first, rest) = all.split_at(7);
    log.append(first).unwrap();
    assert_eq!(log.append(&[]).unwrap(), expected_head(first));
    log.append(rest).unwrap();
    assert_eq!(read_all(&*log), all);
    drop(log);
    let log = store.read(&one).unwrap();
    assert_eq!(read_all(&*log), all);
    assert_eq!(load(&*log).unwrap().last(), all.last().map(|record| record.seq));
    let info = log.info().unwrap();
    assert_eq!(
        (info.events, info.last_at_ms),
        (all.len() as u64, all.last().unwrap().at_ms)
    );
}

fn the_chain_is_the_same_everywhere(store: &dyn Store) {
    let one = filled(store, "one", 50);
    let log = store.read(&one).unwrap();
    assert_eq!(log.head().unwrap(), expected_head(&records(1..=50)));
    let last = log.records(Seq::new(50), 1).unwrap();
    assert_eq!(last[0].hash, expected_head(&records(1..=50)).hash);
}

fn pages_join(store: &dyn Store) {
    let one = filled(store, "one", 2500);
    let log = store.read(&one).unwrap();
    let seqs = |from: u64, limit| -> Vec<u64> {
        let page = log.records(Seq::new(from), limit).unwrap();
        page.iter().map(|stored| stored.record.seq.get()).collect()
    };
    assert_eq!(seqs(0, 2), [1, 2]);
    assert_eq!(seqs(2499, 10), [2499, 2500]);
    assert_eq!(seqs(2501, 10), [0; 0]);
    assert_eq!(seqs(9999, 10), [0; 0]);
    assert_eq!(seqs(5, 0), [0; 0]);
    assert_eq!(events(&*log, Seq::FIRST).map(Result::unwrap).count(), 2500);
    let from: Vec<u64> = events(&*log, Seq::new(2400))
        .map(|event| event.unwrap().seq.get())
        .collect();
    assert_eq!(from, (2400..=2500).collect::<Vec<_>>());
}

fn records_have_to_follow(store: &dyn Store) {
    let one = filled(store, "one", 3);
    let mut log = store.write(&one, "t", Contention::Refuse).unwrap();
    for wrong in [
        vec![record(3, 1)],
        vec![record(5, 1)],
        vec![record(4, 1), record(6, 1)],
    ] {
        assert!(matches!(log.append(&wrong), Err(StoreError::OutOfOrder { .. })));
    }
    let mut two_lines = record(4, 1);
    two_lines.data = "{\n}".into();
    assert!(matches!(log.append(&[two_lines]), Err(StoreError::NotOneLine(_))));
    log.append(&[record(4, 1)]).unwrap();
    assert_eq!(read_all(&*log).len(), 4);
}

fn a_batch_is_all_or_nothing(store: &dyn Store) {
    let one = filled(store, "one", 3);
    let mut log = store.write(&one, "t", Contention::Refuse).unwrap();
    log.append(&[record(4, 1), record(5, 1), record(9, 1)])
        .unwrap_err();
    assert_eq!(log.head().unwrap(), expected_head(&records(1..=3)));
}

fn a_second_writer_is_refused_and_told_who_writes(store: &dyn Store) {
    let one = filled(store, "one", 1);
    let first = store.write(&one, "the first", Contention::Refuse).unwrap();
    match store.write(&one, "the second", Contention::Refuse).map(drop) {
        Err(StoreError::Busy { owner, .. }) => assert!(owner.contains("the first"), "{owner}"),
        other => panic!("{other:?}"),
    }
    let short = Contention::Wait(Duration::from_millis(1));
    assert!(matches!(
        store.write(&one, "t", short),
        Err(StoreError::Busy { .. })
    ));
    let two = filled(store, "two", 1);
    store.write(&two, "t", Contention::Refuse).unwrap();
    drop(first);
    store.write(&one, "t", Contention::Refuse).unwrap();
}

fn a_second_writer_waits(store: &dyn Store) {
    let one = filled(store, "one", 1);
    let mut first = store.write(&one, "the first", Contention::Refuse).unwrap();
    let (asks, asked) = mpsc::channel();
    std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            asks.send(()).unwrap();
            let log = store
                .write(&one, "the second", Contention::Wait(Duration::from_mins(1)))
                .unwrap();
            log.head().unwrap().next
        });
        asked.recv().unwrap();
        first.append(&[record(2, 1)]).unwrap();
        drop(first);
        assert_eq!(second.join().unwrap(), Seq::new(3));
    });
}

fn readers_read_while_somebody_writes(store: &dyn Store) {
    let one = filled(store, "one", 1);
    let before = store.read(&one).unwrap();
    let mut log = store.write(&one, "t", Contention::Refuse).unwrap();
    let during = store.read(&one).unwrap();
    log.append(&records(2..=9)).unwrap();
    for reader in [before, during] {
        assert_eq!(read_all(&*reader).len(), 9);
        assert_eq!(reader.head().unwrap(), log.head().unwrap());
    }
}

fn sessions_are_listed(store: &dyn Store) {
    assert!(store.list().unwrap().sessions.is_empty());
    for (name, events) in [("b", 2), ("a", 0), ("c.d", 1)] {
        filled(store, name, events);
    }
    let listing = store.list().unwrap();
    assert!(listing.problems.is_empty());
    let shown: Vec<String> = listing
        .sessions
        .iter()
        .map(|info| format!("{} {}", info.id, info.events))
        .collect();
    assert_eq!(shown, ["a 0", "b 2", "c.d 1"]);
}

fn a_fork_leaves_its_origin_alone(store: &dyn Store) {
    let one = filled(store, "one", 5);
    let origin = store.read(&one).unwrap();
    let ephemeral = MemoryStore::default();
    let mut copy = fork(&*origin, Some(Seq::new(3)), &ephemeral, &id("copy"), 1, "t").unwrap();
    assert_eq!(copy.head().unwrap(), expected_head(&records(1..=3)));
    copy.append(&[record(4, 99)]).unwrap();
    assert_eq!(read_all(&*origin), records(1..=5));
    let whole = fork(&*origin, None, store, &id("whole"), 1, "t").unwrap();
    assert_eq!(whole.head().unwrap(), origin.head().unwrap());
}

fn a_journal_refuses_what_would_not_fold(store: &dyn Store) {
    let mut journal = Journal::create(store, &id("one"), 1, "t").unwrap();
    journal.commit(vec![message(1, 5)]).unwrap();
    let before = journal.state().clone();
    let wrong = Draft::new(2, TurnStarted { turn: 7 });
    let refused = journal.commit(vec![message(2, 5), wrong]);
    assert!(matches!(refused, Err(StoreError::Fold(_))), "{refused:?}");
    assert_eq!(journal.state(), &before);
    assert_eq!(journal.head().unwrap().next, Seq::new(2));
    let committed = journal
        .commit(vec![message(2, 5), message(3, 5)])
        .unwrap()
        .unwrap();
    assert_eq!((committed.first, committed.last), (Seq::new(2), Seq::new(3)));
    assert_eq!(journal.commit(vec![]).unwrap(), None);
}

fn a_journal_goes_on_where_the_last_one_stopped(store: &dyn Store) {
    let one = id("one");
    store.create(&one, 1).unwrap();
    let mut states = Vec::new();
    for number in 1..=3 {
        let mut journal = Journal::open(store, &one, "t", Contention::Refuse).unwrap();
        states.last().inspect(|last| assert_eq!(journal.state(), *last));
        let drafts = turn(number).map(|payload: Payload| Draft {
            at_ms: number,
            payload,
        });
        journal.commit(drafts.to_vec()).unwrap();
        states.push(journal.state().clone());
    }
    assert_eq!(states.last().map(bindery_core::log::SessionState::turns), Some(3));
}
