//! The log beside plain SQLite that inserts the same bytes at the same durability, and what opening and
//! replaying cost. Ratios count, not numbers: `cargo bench -p bindery-store`.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use bindery_core::Message;
use bindery_core::log::{Draft, Record, Replay, Seq, SessionState, UserMessage};
use bindery_store::{Contention, Journal, SessionId, SqliteStore, Store, StoreError, events, load};
use rusqlite::{Connection, params};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const ROUNDS: usize = 7;
const COMMITS: u64 = 400;
const LARGE: u64 = 100_000;

fn draft(n: u64) -> Draft {
    let text = format!("{n} {}", "The quick brown fox \"jumps\" over it.\n".repeat(12));
    Draft::new(
        n,
        UserMessage {
            message: Message::user("message:0", text),
            inbox: None,
        },
    )
}

fn record(n: u64) -> Result<Record, StoreError> {
    let draft = draft(n);
    Ok(Record::encode(Seq::new(n), draft.at_ms, &draft.payload)?)
}

fn ours(dir: &Path, batch: u64) -> Outcome<Duration> {
    let store = SqliteStore::new(dir);
    let mut journal = Journal::create(&store, &"one".parse()?, 1, "bench")?;
    let commits: Vec<Vec<Draft>> = (0..COMMITS)
        .map(|commit| (0..batch).map(|n| draft(commit * batch + n)).collect())
        .collect();
    let began = Instant::now();
    for drafts in commits {
        journal.commit(drafts)?;
    }
    Ok(began.elapsed())
}

fn plain(dir: &Path, batch: u64) -> Outcome<Duration> {
    let mut connection = Connection::open(dir.join("plain.db"))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.execute_batch("CREATE TABLE event (seq INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT")?;
    let texts: Vec<Record> = (1..=COMMITS * batch).map(record).collect::<Result<_, _>>()?;
    let began = Instant::now();
    for commit in texts.chunks(usize::try_from(batch)?) {
        let transaction = connection.transaction()?;
        for record in commit {
            let mut insert = transaction.prepare_cached("INSERT INTO event (seq, data) VALUES (?1, ?2)")?;
            insert.execute(params![record.seq.get().cast_signed(), &*record.data])?;
        }
        transaction.commit()?;
    }
    Ok(began.elapsed())
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64)
}

/// Rounds of both in turn, so that a busy moment hits both.
fn beside(batch: u64, out: &mut impl std::io::Write) -> Outcome<()> {
    let (mut us, mut them) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let dir = tempfile::tempdir()?;
        us.push(ours(dir.path(), batch)?);
        them.push(plain(dir.path(), batch)?);
    }
    let (us, them) = (median(us), median(them));
    let rate = |seconds: f64| f64::from(u32::try_from(COMMITS * batch).unwrap_or(u32::MAX)) / seconds;
    writeln!(
        out,
        "durable appends, {batch} a commit: {:.0}/s, plain SQLite {:.0}/s, ratio {:.2}",
        rate(us),
        rate(them),
        them / us
    )?;
    Ok(())
}

fn filled(store: &SqliteStore, count: u64) -> Outcome<SessionId> {
    let id: SessionId = "large".parse()?;
    store.create(&id, 1)?;
    let mut log = store.write(&id, "bench", Contention::Refuse)?;
    let records: Vec<Record> = (1..=count).map(record).collect::<Result<_, _>>()?;
    for batch in records.chunks(5000) {
        log.append(batch)?;
    }
    Ok(id)
}

fn timed<T>(mut run: impl FnMut() -> Outcome<T>) -> Outcome<f64> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        black_box(run()?);
        times.push(began.elapsed());
    }
    Ok(median(times))
}

fn opening(out: &mut impl std::io::Write) -> Outcome<()> {
    let dir = tempfile::tempdir()?;
    let store = SqliteStore::new(dir.path());
    let id = filled(&store, LARGE)?;
    let ours = timed(|| Ok(load(&*store.read(&id)?)?))?;
    let replayed = timed(|| {
        let log = store.read(&id)?;
        let mut replay = Replay::default();
        for event in events(&*log, Seq::FIRST) {
            replay.follow(&event?)?;
        }
        Ok(replay)
    })?;
    let plain = timed(|| {
        let connection = Connection::open(store.path(&id))?;
        let mut statement = connection.prepare("SELECT data FROM event ORDER BY seq")?;
        let mut rows = statement.query([])?;
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            bytes += row.get::<_, String>(0)?.len();
        }
        Ok(bytes)
    })?;
    writeln!(
        out,
        "opening {LARGE} events, checked and folded: {:.0} ms; plain SELECT of the same bytes {:.0} ms; \
         replayed {:.0} ms",
        ours * 1e3,
        plain * 1e3,
        replayed * 1e3
    )?;
    Ok(())
}

/// One more message at growing lengths of history.
fn one_more(out: &mut impl std::io::Write) -> Outcome<()> {
    for length in [100, 1_000, 10_000, 100_000_u64] {
        let mut state = SessionState::default();
        for n in 1..=length {
            state.apply(&draft(n).at(Seq::new(n)))?;
        }
        let more: Vec<_> = (length + 1..=length + 1000)
            .map(|n| draft(n).at(Seq::new(n)))
            .collect();
        let began = Instant::now();
        for event in &more {
            state.apply(event)?;
        }
        let each = began.elapsed().as_secs_f64() / 1000.0;
        writeln!(out, "one more message after {length}: {:.2} µs", each * 1e6)?;
    }
    Ok(())
}

fn main() -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    beside(1, &mut out)?;
    beside(10, &mut out)?;
    opening(&mut out)?;
    one_more(&mut out)
}
