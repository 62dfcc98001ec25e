//! `bindery bench log`: durable appends and replayed requests beside plain SQLite inserts of the same bytes at
//! the same durability, opening a large session, and what one more message costs as a session grows.

mod made;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use bindery::Provider;
use bindery::log::{Draft, Record, Seq};
use bindery_agent::{Bodies, replay};
use bindery_store::{Contention, Journal, SessionId, SqliteStore, Store, load};
use clap::Args;
use rusqlite::{Connection, params};

use self::made::{Talk, turn};
use super::measure::{Spread, in_turn, worked};
use crate::layout::thousands;
use crate::status::Status;
use crate::terminal::Terminal;

#[derive(Debug, Args)]
pub(crate) struct BenchLogArgs {
    /// How often each is run
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Events of the large session
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    events: u64,
    /// Where the files are written, so that the disk that counts is measured; a temporary folder by default
    #[arg(long, value_name = "DIR")]
    dir: Option<std::path::PathBuf>,
}

/// Commits of a run.
const COMMITS: u64 = 200;
/// Requests of the session that is replayed.
const REQUESTS: usize = 200;
/// Lengths of the sessions to which one more message is said.
const LENGTHS: [usize; 5] = [250, 500, 1000, 2000, 8000];
/// How many messages are said one by one at each length.
const MORE: usize = 64;

/// A rate beside another: how many a second.
struct Rates {
    what: String,
    ours: f64,
    beside: &'static str,
    theirs: f64,
}

pub(super) fn run(args: &BenchLogArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let runs = args.runs as usize;
    let folder = |what: &str| -> anyhow::Result<tempfile::TempDir> {
        let made = match &args.dir {
            Some(dir) => tempfile::tempdir_in(dir),
            None => tempfile::tempdir(),
        };
        made.with_context(|| format!("no folder for {what}"))
    };
    let mut rows = Vec::new();
    for batch in [1, 10] {
        rows.push(appends(batch, runs, &mut || folder("appends"))?);
    }
    rows.push(replays(runs, &mut || folder("replays"))?);
    print(&rows, terminal)?;
    let dir = folder("a large session")?;
    opening(args.events, runs, dir.path(), terminal)?;
    curve(runs, terminal)?;
    Ok(Status::Success)
}

fn print(rows: &[Rates], terminal: &mut Terminal) -> anyhow::Result<()> {
    let out = &mut terminal.out;
    let head = ("what, a second", "ours", "beside", "theirs", "ratio");
    writeln!(
        out,
        "{:<30} {:>9} {:<32} {:>9} {:>6}",
        head.0, head.1, head.2, head.3, head.4
    )?;
    for row in rows {
        let ratio = row.ours / row.theirs;
        let Rates {
            what,
            ours,
            beside,
            theirs,
        } = row;
        writeln!(
            out,
            "{what:<30} {ours:>9.0} {beside:<32} {theirs:>9.0} {ratio:>6.2}"
        )?;
    }
    writeln!(
        out,
        "\nmedians; a ratio above 1 means that ours does more a second"
    )?;
    Ok(())
}

fn rate(count: u64, times: &[Duration]) -> f64 {
    let median = Spread::times(times.iter().copied()).median();
    f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / median
}

/// Events that are acknowledged: folded, written, chained, synced; beside their bytes inserted and synced.
fn appends(
    batch: u64,
    runs: usize,
    folder: &mut dyn FnMut() -> anyhow::Result<tempfile::TempDir>,
) -> anyhow::Result<Rates> {
    let drafts = made::prompts(COMMITS * batch);
    let texts = texts(&drafts)?;
    let size = usize::try_from(batch)?;
    let dir = folder()?;
    let mut number = 0_u32;
    let mut path = || {
        number += 1;
        dir.path().join(number.to_string())
    };
    let paths: Vec<_> = (0..2 * runs + 2).map(|_| path()).collect();
    let mut paths = paths.into_iter();
    let mut next = || paths.next().context("more runs than folders");
    let mut folders = Vec::new();
    for _ in 0..=runs {
        folders.push((next()?, next()?));
    }
    let (mut mine, mut plain): (Vec<_>, Vec<_>) = folders.into_iter().unzip();
    let ours = || append_ours(&mine.pop().context("a folder a run")?, &drafts, size);
    let theirs = || insert(&plain.pop().context("a folder a run")?, &texts, size);
    let (ours, theirs) = in_turn(runs, ours, theirs)?;
    Ok(Rates {
        what: format!("durable appends, {batch} a commit"),
        ours: rate(COMMITS * batch, &ours),
        beside: "SQLite inserts of their bytes",
        theirs: rate(COMMITS * batch, &theirs),
    })
}

fn append_ours(dir: &Path, drafts: &[Draft], batch: usize) -> anyhow::Result<Duration> {
    std::fs::create_dir_all(dir)?;
    let store = SqliteStore::new(dir);
    let mut journal = Journal::create(&store, &"one".parse()?, 1, "bench")?;
    let batches: Vec<Vec<Draft>> = drafts.chunks(batch).map(<[Draft]>::to_vec).collect();
    let began = Instant::now();
    for batch in batches {
        journal.commit(batch)?;
    }
    Ok(began.elapsed())
}

/// The plainest thing that keeps bytes as durably: one table, WAL, `synchronous=FULL`.
fn insert(dir: &Path, texts: &[Vec<u8>], batch: usize) -> anyhow::Result<Duration> {
    std::fs::create_dir_all(dir)?;
    let mut connection = Connection::open(dir.join("plain.db"))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.execute_batch("CREATE TABLE event (seq INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT")?;
    let began = Instant::now();
    for batch in texts.chunks(batch) {
        let transaction = connection.transaction()?;
        for text in batch {
            let mut insert = transaction.prepare_cached("INSERT INTO event (data) VALUES (?1)")?;
            insert.execute(params![text])?;
        }
        transaction.commit()?;
    }
    Ok(began.elapsed())
}

fn texts(drafts: &[Draft]) -> anyhow::Result<Vec<Vec<u8>>> {
    let text = |(seq, draft): (u64, &Draft)| {
        let record = Record::encode(Seq::new(seq), draft.at_ms, &draft.payload)?;
        Ok(record.data.as_bytes().to_vec())
    };
    (1..).zip(drafts).map(text).collect()
}

/// Requests rebuilt from the log and compared; beside the same bodies inserted, as a log that keeps whole
/// requests would have to.
fn replays(
    runs: usize,
    folder: &mut dyn FnMut() -> anyhow::Result<tempfile::TempDir>,
) -> anyhow::Result<Rates> {
    let dir = folder()?;
    let store = SqliteStore::new(dir.path().join("ours"));
    let id: SessionId = "talk".parse()?;
    let mut journal = Journal::create(&store, &id, 1, "bench")?;
    let mut talk = Talk::new(Provider::Anthropic)?;
    for number in 0..REQUESTS {
        journal.commit(talk.turn(number)?)?;
    }
    drop(journal);
    let mut bodies: Vec<Vec<u8>> = Vec::new();
    replay::each(&*store.read(&id)?, |asked| {
        bodies.extend(asked.body().map(<[u8]>::to_vec).ok());
        replay::Go::On
    })?;
    let mut number = 0_u32;
    let theirs = || {
        number += 1;
        insert(&dir.path().join(format!("plain-{number}")), &bodies, 1)
    };
    let ours = || {
        let began = Instant::now();
        let verified = replay::verify(&*store.read(&id)?)?;
        anyhow::ensure!(verified.differences.is_empty(), "a request is another");
        Ok(began.elapsed())
    };
    let (ours, theirs) = in_turn(runs, ours, theirs)?;
    Ok(Rates {
        what: "replayed requests, verified".to_owned(),
        ours: rate(REQUESTS as u64, &ours),
        beside: "SQLite inserts of their bodies",
        theirs: rate(REQUESTS as u64, &theirs),
    })
}

/// A large session: opened, checked and folded.
fn opening(events: u64, runs: usize, dir: &Path, terminal: &mut Terminal) -> anyhow::Result<()> {
    let store = SqliteStore::new(dir);
    let id: SessionId = "large".parse()?;
    store.create(&id, 1)?;
    let mut log = store.write(&id, "bench", Contention::Refuse)?;
    let mut first = 1_u64;
    let mut turns = 0;
    while first <= events {
        let records: Result<Vec<Record>, _> = (first..)
            .zip(turn(turns, first))
            .map(|(seq, draft)| Record::encode(Seq::new(seq), draft.at_ms, &draft.payload))
            .collect();
        let records = records?;
        first += records.len() as u64;
        turns += 1;
        log.append(&records)?;
    }
    drop(log);
    let mut times = Vec::new();
    for _ in 0..runs {
        times.push(worked(|| Ok(load(&*store.read(&id)?)?))?);
    }
    let count = thousands(bindery::TokenCount::exact(first - 1));
    let shown = Spread::times(times).shown();
    writeln!(
        terminal.out,
        "\na session of {count} events is opened, checked and folded in {shown} (cpu)"
    )?;
    Ok(())
}

/// What one more message costs: followed, and the next request rebuilt to the byte, with its hash.
fn curve(runs: usize, terminal: &mut Terminal) -> anyhow::Result<()> {
    let out = &mut terminal.out;
    writeln!(
        out,
        "\n{:<12} {:>12} {:>16} {:>16}",
        "messages", "body", "one more", "all anew"
    )?;
    for length in LENGTHS {
        let (mut more, mut anew, mut bytes) = (Vec::new(), Vec::new(), 0);
        for _ in 0..runs {
            let mut talk = Talk::new(Provider::Anthropic)?;
            talk.grow(length)?;
            let mut bodies = Bodies::default();
            talk.rebuild(&mut bodies)?;
            let said = worked(|| {
                for _ in 0..MORE {
                    talk.say_one_more()?;
                    bytes = talk.rebuild(&mut bodies)?.1;
                }
                Ok(())
            });
            more.push(said? / u32::try_from(MORE)?);
            anew.push(worked(|| talk.rebuild(&mut Bodies::default()))?);
        }
        let (more, anew) = (Spread::times(more).shown(), Spread::times(anew).shown());
        let kilobytes = bytes / 1000;
        writeln!(out, "{length:<12} {kilobytes:>9} kB {more:>16} {anew:>16}")?;
    }
    writeln!(
        out,
        "\none more: a message is followed and the next body rebuilt to the byte and hashed (cpu)"
    )?;
    Ok(())
}
