//! Sessions to test with.

use bindery_core::log::{
    Draft, Payload, Record, Seq, TurnEnded, TurnOutcome, TurnStarted, UserMessage, examples,
};
use bindery_core::{ContentHash, Message};
use bindery_store::{Head, LogReader, SessionId, Store};

pub(crate) fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

/// A message of about `bytes` bytes.
pub(crate) fn message(n: u64, bytes: usize) -> Draft {
    let text = format!("{n}:{}", "x".repeat(bytes));
    Draft::new(
        n,
        UserMessage {
            message: Message::user("m", text),
            inbox: None,
        },
    )
}

pub(crate) fn record(seq: u64, bytes: usize) -> Record {
    let draft = message(seq, bytes);
    Record::encode(Seq::new(seq), draft.at_ms, &draft.payload).unwrap()
}

pub(crate) fn records(range: std::ops::RangeInclusive<u64>) -> Vec<Record> {
    range.map(|seq| record(seq, 10)).collect()
}

/// A turn without steps.
pub(crate) fn turn(turn: u64) -> [Payload; 2] {
    let outcome = TurnOutcome::Completed;
    [
        TurnStarted { turn }.into(),
        TurnEnded {
            turn,
            outcome,
            reason: None,
        }
        .into(),
    ]
}

/// Every type of event, as records.
pub(crate) fn all_types() -> Vec<Record> {
    let places = (1..).map(Seq::new);
    let record = |(seq, draft): (Seq, Draft)| Record::encode(seq, draft.at_ms, &draft.payload).unwrap();
    places.zip(examples()).map(record).collect()
}

/// The end that a log of these records must have.
pub(crate) fn expected_head(records: &[Record]) -> Head {
    records.iter().fold(Head::EMPTY, |head, record| {
        let data = ContentHash::of(record.data.as_bytes());
        Head {
            next: record.seq.next(),
            hash: bindery_core::log::chain(&head.hash, record, &data),
        }
    })
}

pub(crate) fn read_all(log: &dyn LogReader) -> Vec<Record> {
    log.records(Seq::FIRST, usize::MAX)
        .unwrap()
        .into_iter()
        .map(|stored| stored.record)
        .collect()
}

/// A session of `count` messages.
pub(crate) fn filled(store: &dyn Store, name: &str, count: u64) -> SessionId {
    let id = id(name);
    store.create(&id, 1).unwrap();
    let mut log = store
        .write(&id, "test", bindery_store::Contention::Refuse)
        .unwrap();
    log.append(&records(1..=count)).unwrap();
    id
}
