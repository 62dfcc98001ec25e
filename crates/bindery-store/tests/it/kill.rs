//! A writer that is killed at any moment loses nothing that it was told is written.
//!
//! The test runs itself again as the writer, which says on standard output what was acknowledged, and kills
//! it (`SIGKILL`) after a seeded number of acknowledgements and a seeded spell of spinning.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::common::{id, message, read_all};
use bindery_core::log::{Draft, Seq, SessionStarted, TurnEnded, TurnOutcome, TurnStarted};
use bindery_store::{Contention, Journal, SqliteOptions, SqliteStore, Store as _, load};

const KILLS: u64 = 220;

/// How many writers in a row go on with one session; each reading afterwards takes as long as that is.
const KILLS_A_SESSION: u64 = 20;
const DIR: &str = "BINDERY_TEST_KILL_DIR";
const SESSION: &str = "BINDERY_TEST_KILL_SESSION";

/// Small enough that some payloads of the writer are blobs.
fn store(dir: &Path) -> SqliteStore {
    SqliteStore::new(dir).with_options(SqliteOptions {
        inline_bytes: 600,
        ..SqliteOptions::default()
    })
}

/// The writer: turns without end, each acknowledged with the place of its last event.
#[test]
#[ignore = "the process that the test below kills"]
fn writer() {
    let (Some(dir), Ok(session)) = (env::var_os(DIR), env::var(SESSION)) else {
        return;
    };
    let store = store(Path::new(&dir));
    let mut journal = Journal::open(&store, &id(&session), "the victim", Contention::Refuse).unwrap();
    let mut out = std::io::stdout();
    if let Some(turn) = journal.state().open_turn().map(|turn| turn.number) {
        let ended = TurnEnded {
            turn,
            outcome: TurnOutcome::Interrupted,
            reason: None,
        };
        journal.commit(vec![Draft::new(0, ended)]).unwrap();
    }
    loop {
        let turn = journal.state().turns() + 1;
        journal
            .commit(vec![Draft::new(turn, TurnStarted { turn })])
            .unwrap();
        let place = journal.state().next_seq().get();
        let size = usize::try_from(place % 1000).unwrap();
        let drafts = (place..place + place % 4)
            .map(|n| message(n, size))
            .collect::<Vec<_>>();
        journal.commit(drafts).unwrap();
        let ended = TurnEnded {
            turn,
            outcome: TurnOutcome::Completed,
            reason: None,
        };
        let last = journal
            .commit(vec![Draft::new(turn, ended)])
            .unwrap()
            .unwrap()
            .last;
        writeln!(out, "\nacknowledged {last}").unwrap();
        out.flush().unwrap();
    }
}

fn spawn(dir: &Path, session: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "kill::writer",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(DIR, dir)
        .env(SESSION, session)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The generator `SplitMix64`: the same kills every time, as far as scheduling allows.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Lets the writer acknowledge `acks` times, spins, kills it; gives the last place it acknowledged, whatever
/// it managed to say before it died.
fn kill_after(mut child: Child, acks: u64, spin: u64) -> Option<u64> {
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let place = |line: &str| line.strip_prefix("acknowledged ")?.parse::<u64>().ok();
    let mut last = None;
    let mut seen = 0;
    while seen < acks
        && let Some(Ok(line)) = said.next()
    {
        if let Some(at) = place(&line) {
            (last, seen) = (Some(at), seen + 1);
        }
    }
    for n in 0..spin {
        std::hint::black_box(n);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    said.map_while(Result::ok)
        .filter_map(|line| place(&line))
        .last()
        .or(last)
}

#[derive(Default)]
struct Hits {
    acknowledged: u64,
    within_turns: u64,
}

#[test]
fn a_killed_writer_loses_nothing_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    // Sessions do not know each other, and writers mostly wait for the disk.
    let hits: Vec<Hits> = std::thread::scope(|scope| {
        let sessions = 0..KILLS / KILLS_A_SESSION;
        let kill = |number| {
            let dir = dir.path();
            scope.spawn(move || kill_writers_of(dir, &format!("killed-{number}"), number))
        };
        let running: Vec<_> = sessions.map(kill).collect();
        running
            .into_iter()
            .map(|session| session.join().unwrap())
            .collect()
    });
    let acknowledged: u64 = hits.iter().map(|hits| hits.acknowledged).sum();
    let within_turns: u64 = hits.iter().map(|hits| hits.within_turns).sum();
    // Kills that hit nothing would prove nothing.
    assert!(
        acknowledged > KILLS / 2,
        "only {acknowledged} writers acknowledged anything"
    );
    assert!(within_turns > 0, "no kill fell within a turn");
}

fn kill_writers_of(dir: &Path, name: &str, mut seed: u64) -> Hits {
    let mut hits = Hits::default();
    let store = store(dir);
    let session = id(name);
    let program = SessionStarted {
        program: "test".into(),
        directory: None,
        forked_from: None,
        sent_by: None,
    };
    let mut journal = Journal::create(&store, &session, 1, "t").unwrap();
    journal.commit(vec![Draft::new(1, program)]).unwrap();
    drop(journal);
    let mut known: Vec<bindery_core::log::Record> = Vec::new();
    for kill in 0..KILLS_A_SESSION {
        let acks = random(&mut seed) % 4;
        let spin = random(&mut seed) % 2_000_000;
        let last = kill_after(spawn(dir, name), acks, spin);
        hits.acknowledged += u64::from(last.is_some());

        let reader = store.read(&session).unwrap();
        let all = read_all(&*reader);
        assert!(
            all.len() as u64 >= last.unwrap_or_default(),
            "kill {kill}: {last:?} of {}",
            all.len()
        );
        assert!(
            all.starts_with(&known),
            "kill {kill}: what was read before changed"
        );
        let state = load(&*reader).unwrap();
        assert_eq!(state.last(), Some(Seq::new(all.len() as u64)));
        hits.within_turns += u64::from(state.open_turn().is_some());
        known = all;
    }
    let mut journal = Journal::open(&store, &session, "t", Contention::Refuse).unwrap();
    assert!(journal.commit(vec![message(1, 1)]).unwrap().is_some());
    hits
}
