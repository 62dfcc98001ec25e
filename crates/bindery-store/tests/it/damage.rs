//! Full disks, forbidden directories, broken files: a clear error, and what is readable saved.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bindery_core::log::Seq;
use bindery_store::{
    Contention, Lost, ObjectBlobs, RecoverReport, SessionId, SqliteOptions, SqliteStore, Store, StoreError,
    recover,
};
use rusqlite::Connection;

use crate::common::{all_types, filled, id, read_all, record, records};

struct Scene {
    dir: tempfile::TempDir,
    store: SqliteStore,
    session: SessionId,
}

fn scene(events: u64) -> Scene {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::new(dir.path().join("s"));
    let session = filled(&store, "one", events);
    Scene { dir, store, session }
}

impl Scene {
    fn path(&self) -> PathBuf {
        self.store.path(&self.session)
    }

    /// Runs SQL on the file, past the triggers.
    fn sql(&self, sql: &str) {
        let connection = Connection::open(self.path()).unwrap();
        let free =
            "DROP TRIGGER IF EXISTS event_is_never_changed; DROP TRIGGER IF EXISTS event_is_never_removed;";
        connection.execute_batch(&format!("{free} {sql}")).unwrap();
    }

    fn read_error(&self) -> String {
        let read = self
            .store
            .read(&self.session)
            .and_then(|log| log.records(Seq::FIRST, usize::MAX));
        self.shown(&read.unwrap_err().to_string())
    }

    fn shown(&self, text: &str) -> String {
        text.replace(&self.dir.path().display().to_string(), "DIR")
    }

    fn recover(&self) -> RecoverReport {
        let before = fs::read(self.path()).unwrap();
        let report = recover(&self.path(), &self.store, &id("saved"), 1).unwrap();
        assert_eq!(
            fs::read(self.path()).unwrap(),
            before,
            "the damaged file is left alone"
        );
        report
    }

    fn saved(&self) -> Vec<bindery_core::log::Record> {
        read_all(&*self.store.read(&id("saved")).unwrap())
    }
}

fn lost(first: u64, last: u64, what: &str) -> Lost {
    Lost {
        first: Seq::new(first),
        last: Some(Seq::new(last)),
        what: what.to_owned(),
    }
}

#[test]
fn changed_rows_are_found_and_named() {
    let cases = [
        (
            "a payload",
            "UPDATE event SET data = replace(data, 'x', 'y') WHERE seq = 5",
        ),
        ("a time", "UPDATE event SET at_ms = 0 WHERE seq = 5"),
        ("a type", "UPDATE event SET type = 'turn_started' WHERE seq = 5"),
        ("a flag", "UPDATE event SET ignorable = 1 WHERE seq = 5"),
        ("a hash", "UPDATE event SET hash = zeroblob(32) WHERE seq = 5"),
        (
            "a short hash",
            "UPDATE event SET hash = zeroblob(3) WHERE seq = 5",
        ),
        ("a row removed", "DELETE FROM event WHERE seq = 5"),
        ("the first row removed", "DELETE FROM event WHERE seq = 1"),
        ("a row moved", "UPDATE event SET seq = 99 WHERE seq = 5"),
        ("no session row", "DELETE FROM session"),
        ("another session's row", "UPDATE session SET id = 'two'"),
        ("another program's file", "PRAGMA application_id = 7"),
        ("a newer format", "PRAGMA user_version = 9"),
        ("no table", "DROP TABLE event"),
    ];
    let mut told = Vec::new();
    for (name, sql) in cases {
        let scene = scene(9);
        scene.sql(sql);
        told.push(format!("{name}: {}", scene.read_error()));
    }
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn the_log_is_append_only_for_everybody() {
    let scene = scene(3);
    let connection = Connection::open(scene.path()).unwrap();
    for sql in ["DELETE FROM event", "UPDATE event SET at_ms = 0"] {
        let refused = connection.execute(sql, []).unwrap_err().to_string();
        assert_eq!(refused, "the log is append-only");
    }
}

#[test]
fn what_precedes_and_follows_a_changed_row_is_saved() {
    let scene = scene(9);
    scene.sql("UPDATE event SET data = replace(data, 'x', 'y') WHERE seq = 5");
    let report = scene.recover();
    assert_eq!((report.recovered, report.beyond), (4, 5));
    assert_eq!(
        report.lost,
        [lost(
            5,
            5,
            "its hash does not match its content and the event before it"
        )]
    );
    assert_eq!(scene.saved(), records(1..=4));
    let aside = fs::read_to_string(report.set_aside.unwrap()).unwrap();
    assert_eq!(aside.lines().count(), 5);
    let mut log = scene.store.write(&id("saved"), "t", Contention::Refuse).unwrap();
    log.append(&[record(5, 3)]).unwrap();
}

#[test]
fn a_removed_row_is_a_gap() {
    let scene = scene(9);
    scene.sql("DELETE FROM event WHERE seq IN (5, 6)");
    let report = scene.recover();
    assert_eq!((report.recovered, report.beyond), (4, 3));
    assert_eq!(report.lost, [lost(5, 6, "missing")]);
}

/// Overwrites the page that holds event `seq`, found by its content.
fn break_page_of(path: &Path, seq: u64) {
    let bytes = fs::read(path).unwrap();
    let needle = format!("\"text\":\"{seq}:");
    let at = bytes
        .windows(needle.len())
        .position(|window| window == needle.as_bytes())
        .unwrap();
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start((at / 4096 * 4096) as u64)).unwrap();
    file.write_all(&[0xa5; 4096]).unwrap();
}

#[test]
fn a_broken_page_costs_its_own_events_only() {
    let scene = scene(500);
    break_page_of(&scene.path(), 250);
    let told = scene.read_error();
    assert!(
        told.contains("is damaged at event 2") && told.contains("recover"),
        "{told}"
    );
    let report = scene.recover();
    let [gap] = &report.lost[..] else {
        panic!("{:?}", report.lost)
    };
    let last = gap.last.unwrap();
    assert!(gap.first <= Seq::new(250) && last >= Seq::new(250));
    let width = last.get() - gap.first.get() + 1;
    assert!(width < 40, "{gap:?}");
    assert_eq!(report.recovered, gap.first.get() - 1);
    assert_eq!(report.recovered + width + report.beyond, 500);
    assert_eq!(scene.saved(), records(1..=report.recovered));
}

#[test]
fn a_truncated_file_gives_what_is_left() {
    let scene = scene(500);
    let length = fs::metadata(scene.path()).unwrap().len();
    let file = fs::OpenOptions::new().write(true).open(scene.path()).unwrap();
    file.set_len(length / 2 / 4096 * 4096).unwrap();
    let told = scene.read_error();
    assert!(told.contains("damaged"), "{told}");
    let report = scene.recover();
    assert!(report.recovered > 50 && report.recovered < 499, "{report:?}");
    assert!(!report.lost.is_empty());
    assert_eq!(scene.saved(), records(1..=report.recovered));
}

#[test]
fn files_of_others_are_named() {
    let scene = scene(3);
    let mut told = Vec::new();
    for bytes in [
        &b""[..],
        b"hello",
        &[0; 5000],
        b"SQLite format 3\0and then nothing of the kind",
    ] {
        fs::write(scene.path(), bytes).unwrap();
        let error = scene.read_error();
        let write = scene
            .store
            .write(&scene.session, "t", Contention::Refuse)
            .map(drop)
            .unwrap_err();
        assert_eq!(scene.shown(&write.to_string()), error);
        assert_eq!(fs::read(scene.path()).unwrap(), bytes);
        told.push(error);
    }
    insta::assert_snapshot!(told.join("\n"));
    let listing = scene.store.list().unwrap();
    assert_eq!((listing.sessions.len(), listing.problems.len()), (0, 1));
}

#[test]
fn a_lost_or_changed_blob_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let options = SqliteOptions {
        inline_bytes: 1000,
        ..SqliteOptions::default()
    };
    let store = SqliteStore::new(dir.path()).with_options(options);
    let session = filled(&store, "one", 1);
    let large = record(2, 5000);
    let mut log = store.write(&session, "t", Contention::Refuse).unwrap();
    log.append(&[large.clone(), record(3, 1)]).unwrap();
    assert_eq!(read_all(&*log)[1], large);
    let name = ObjectBlobs::name(&bindery_core::ContentHash::of(large.data.as_bytes()));
    let blob = dir.path().join("blobs").join(name);
    assert_eq!(fs::read(&blob).unwrap(), large.data.as_bytes());
    let error = || log.records(Seq::FIRST, 9).unwrap_err().to_string();
    fs::write(&blob, "other").unwrap();
    assert!(
        error().starts_with("event 2 of ") && error().contains("is damaged"),
        "{}",
        error()
    );
    fs::remove_file(&blob).unwrap();
    assert!(error().contains("is missing"), "{}", error());
    let report = recover(&store.path(&session), &store, &id("saved"), 1).unwrap();
    assert_eq!((report.recovered, report.beyond, report.lost.len()), (1, 1, 1));
    // The same content, put again, heals it.
    log.append(&[bindery_core::log::Record {
        seq: Seq::new(4),
        ..large
    }])
    .unwrap();
    assert_eq!(read_all(&*log).len(), 4);
}

#[test]
fn a_full_disk_loses_nothing_and_leaves_no_half_batch() {
    let scene = scene(1);
    let options = SqliteOptions {
        most_pages: Some(12),
        ..SqliteOptions::default()
    };
    let store = scene.store.clone().with_options(options);
    let mut log = store.write(&scene.session, "t", Contention::Refuse).unwrap();
    let mut kept = 1;
    let error = loop {
        let batch = [
            record(kept + 1, 900),
            record(kept + 2, 900),
            record(kept + 3, 900),
        ];
        match log.append(&batch) {
            Ok(_) => kept += 3,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert!(
        error.to_string().contains("nothing of this batch was written"),
        "{error}"
    );
    assert!(kept > 3);
    assert_eq!(read_all(&*log).len() as u64, kept);
    drop(log);
    let mut log = scene
        .store
        .write(&scene.session, "t", Contention::Refuse)
        .unwrap();
    log.append(&[record(kept + 1, 900)]).unwrap();
}

/// Runs as a process whose files may not grow beyond a limit.
#[test]
#[ignore = "the process that the test below limits"]
fn limited_writer() {
    let Some(dir) = std::env::var_os("BINDERY_TEST_LIMIT_DIR") else {
        return;
    };
    let store = SqliteStore::new(PathBuf::from(dir));
    let mut log = store.write(&id("one"), "t", Contention::Refuse).unwrap();
    let error = (2..)
        .find_map(|seq| log.append(&[record(seq, 3000)]).err())
        .unwrap();
    println!("\nrefused {error}");
    println!("kept {}", read_all(&*log).len());
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_is_told_and_goes_on_later() {
    let scene = scene(1);
    let script =
        "trap '' XFSZ; ulimit -f 128; exec \"$0\" --exact damage::limited_writer --ignored --nocapture";
    let run = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env("BINDERY_TEST_LIMIT_DIR", scene.store.dir())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(said.contains("refused") && said.contains("one.db"), "{said}");
    let kept: u64 = said
        .lines()
        .find_map(|line| line.strip_prefix("kept ")?.parse().ok())
        .unwrap();
    assert!(kept > 3, "{said}");
    let mut log = scene
        .store
        .write(&scene.session, "t", Contention::Refuse)
        .unwrap();
    assert_eq!(read_all(&*log).len() as u64, kept);
    log.append(&[record(kept + 1, 3000)]).unwrap();
}

/// Whether permissions mean anything to this process: to root they do not.
#[cfg(unix)]
fn obeys_permissions(dir: &Path) -> bool {
    fs::write(dir.join("probe"), "").is_err()
}

#[cfg(unix)]
#[test]
fn a_read_only_directory_can_be_read_and_not_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = scene(3);
    fs::remove_file(scene.store.dir().join("one.lock")).unwrap();
    let allow = |mode| fs::set_permissions(scene.store.dir(), fs::Permissions::from_mode(mode)).unwrap();
    allow(0o500);
    if obeys_permissions(scene.store.dir()) {
        assert_eq!(
            read_all(&*scene.store.read(&scene.session).unwrap()),
            records(1..=3)
        );
        let refused = scene
            .store
            .write(&scene.session, "t", Contention::Refuse)
            .map(drop);
        assert!(matches!(refused, Err(StoreError::ReadOnly { .. })), "{refused:?}");
        let refused = scene.store.create(&id("two"), 1);
        assert!(matches!(refused, Err(StoreError::ReadOnly { .. })), "{refused:?}");
    }
    allow(0o700);
}

#[test]
fn a_damaged_write_ahead_log_is_told_before_it_is_written_over() {
    let scene = scene(1);
    let copy = scene.dir.path().join("copy");
    fs::create_dir(&copy).unwrap();
    {
        let mut log = scene
            .store
            .write(&scene.session, "t", Contention::Refuse)
            .unwrap();
        for seq in 2..=20 {
            log.append(&[record(seq, 100)]).unwrap();
        }
        // As a crash would leave it: the write-ahead log not yet merged.
        for name in ["one.db", "one.db-wal"] {
            fs::copy(scene.store.dir().join(name), copy.join(name)).unwrap();
        }
    }
    let store = SqliteStore::new(&copy);
    let wal = copy.join("one.db-wal");
    let whole = fs::read(&wal).unwrap();
    let with = |bytes: &[u8]| {
        fs::write(&wal, bytes).unwrap();
        let original = fs::read(store.path(&scene.session)).unwrap();
        let outcome = store
            .write(&scene.session, "t", Contention::Refuse)
            .map(|log| read_all(&*log).len());
        fs::write(store.path(&scene.session), original).unwrap();
        outcome.map_err(|error| error.to_string())
    };
    // A torn last transaction was never acknowledged.
    let torn = with(&whole[..whole.len() - 100]);
    assert!(torn.as_ref().is_ok_and(|events| *events < 20), "{torn:?}");
    let mut middle = whole.clone();
    middle[5000] ^= 1;
    let told = with(&middle).unwrap_err();
    assert!(
        told.contains("frame 1 is damaged") && told.contains("acknowledged"),
        "{told}"
    );
    assert_eq!(fs::read(&wal).unwrap(), middle, "it is still there");
    let report = recover(&store.path(&scene.session), &store, &id("saved"), 1).unwrap();
    assert!(report.log_damage.is_some_and(|what| what.contains("frame 1")));
    let mut header = whole.clone();
    header[20] ^= 1;
    assert!(with(&header).unwrap_err().contains("header is damaged"));
    assert_eq!(with(&whole).unwrap(), 20);
}

#[test]
fn a_foreign_writer_is_noticed() {
    let scene = scene(3);
    let mut log = scene
        .store
        .write(&scene.session, "t", Contention::Refuse)
        .unwrap();
    let connection = Connection::open(scene.path()).unwrap();
    connection
        .execute("INSERT INTO event SELECT 4, at_ms, type, v, ignorable, data, blob, hash FROM event WHERE seq = 3", [])
        .unwrap();
    let refused = log.append(&[record(4, 1)]);
    assert!(matches!(refused, Err(StoreError::Fenced { .. })), "{refused:?}");
    assert!(matches!(
        log.records(Seq::FIRST, 9),
        Err(StoreError::Corrupt { seq: Some(_), .. })
    ));
}

#[test]
fn types_of_events_pass_through_untouched() {
    let scene = scene(0);
    let mut log = scene
        .store
        .write(&scene.session, "t", Contention::Refuse)
        .unwrap();
    log.append(&all_types()).unwrap();
    assert_eq!(read_all(&*log), all_types());
}
