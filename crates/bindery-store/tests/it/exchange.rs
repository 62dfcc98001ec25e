//! Export and import.

use std::fs;
use std::path::Path;

use bindery_store::{Contention, Damage, MemoryStore, SqliteStore, Store, StoreError, export, import};
use proptest::prelude::*;

use crate::common::{all_types, filled, id, read_all};

fn exported(store: &dyn Store, name: &str, to: &Path) -> String {
    let out = fs::File::create(to).unwrap();
    export(&*store.read(&id(name)).unwrap(), out, to).unwrap();
    fs::read_to_string(to).unwrap()
}

#[test]
fn a_session_comes_back_with_its_hashes() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::new(dir.path().join("a"));
    store.create(&id("one"), 7).unwrap();
    store
        .write(&id("one"), "t", Contention::Refuse)
        .unwrap()
        .append(&all_types())
        .unwrap();
    let file = dir.path().join("one.jsonl");
    let text = exported(&store, "one", &file);

    let other = SqliteStore::new(dir.path().join("b"));
    let report = import(&file, &other, None, Damage::Refuse).unwrap();
    assert_eq!(
        (report.events, report.problems),
        (all_types().len() as u64, vec![])
    );
    let (from, to) = (store.read(&id("one")).unwrap(), other.read(&id("one")).unwrap());
    assert_eq!(from.head().unwrap(), to.head().unwrap());
    assert_eq!(from.info().unwrap(), to.info().unwrap());
    assert_eq!(read_all(&*from), read_all(&*to));
    assert_eq!(exported(&other, "one", &dir.path().join("again.jsonl")), text);
    import(&file, &other, Some(&id("renamed")), Damage::Refuse).unwrap();
    assert!(matches!(
        import(&file, &other, None, Damage::Refuse),
        Err(StoreError::Exists(_))
    ));
}

/// Does something to the lines of a file.
type Edit = fn(&mut Vec<String>);

/// Imports an edited export of ten events; gives how many events came, and what is told.
fn edited(edit: impl Fn(&mut Vec<String>)) -> (Result<u64, String>, Option<(u64, String)>) {
    let dir = tempfile::tempdir().unwrap();
    let store = MemoryStore::default();
    filled(&store, "one", 10);
    let file = dir.path().join("one.jsonl");
    let mut lines: Vec<String> = exported(&store, "one", &file)
        .lines()
        .map(|line| format!("{line}\n"))
        .collect();
    edit(&mut lines);
    fs::write(&file, lines.concat()).unwrap();
    let shown = |text: String| text.replace(&file.display().to_string(), "FILE");
    let strict_store = MemoryStore::default();
    let strict = import(&file, &strict_store, None, Damage::Refuse);
    if strict.is_err() {
        assert!(
            strict_store.list().unwrap().sessions.is_empty(),
            "a refused import leaves nothing"
        );
    }
    let strict = strict
        .map(|report| report.events)
        .map_err(|error| shown(error.to_string()));
    let lenient = import(&file, &MemoryStore::default(), None, Damage::KeepReadable).ok();
    (
        strict,
        lenient.map(|report| {
            let told: Vec<String> = report
                .problems
                .into_iter()
                .map(|(line, what)| format!("line {line}: {what}"))
                .collect();
            (report.events, told.join("; "))
        }),
    )
}

#[test]
fn damage_is_told_with_its_line_and_what_is_whole_can_be_kept() {
    let cases: [(&str, Edit); 10] = [
        ("untouched", |_| {}),
        ("blank lines and carriage returns", |lines| {
            lines.insert(3, "\n".into());
            lines[5] = lines[5].replace('\n', "\r\n");
        }),
        ("a foreign row between events", |lines| {
            lines.insert(4, "BAD\n".into());
        }),
        ("a row replaced", |lines| lines[4] = "BAD\n".into()),
        ("a row removed", |lines| drop(lines.remove(4))),
        ("a row twice", |lines| lines.insert(4, lines[4].clone())),
        ("a content changed", |lines| {
            lines[4] = lines[4].replace("xxx", "yyy");
        }),
        ("cut within a row", |lines| {
            lines.truncate(6);
            let torn: String = lines[5].chars().take(30).collect();
            lines[5] = torn;
        }),
        ("cut between rows", |lines| lines.truncate(6)),
        ("no head", |lines| drop(lines.remove(0))),
    ];
    let mut told = Vec::new();
    for (name, edit) in cases {
        let (strict, lenient) = edited(edit);
        told.push(format!("{name}\n  refuse: {strict:?}\n  keep: {lenient:?}"));
    }
    insta::assert_snapshot!(told.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_changed_byte_never_passes(at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let dir = tempfile::tempdir().unwrap();
        let store = MemoryStore::default();
        filled(&store, "one", 5);
        let file = dir.path().join("one.jsonl");
        let mut bytes = exported(&store, "one", &file).into_bytes();
        let at = at.index(bytes.len());
        let before = std::mem::replace(&mut bytes[at], to);
        fs::write(&file, &bytes).unwrap();
        let other = MemoryStore::default();
        if let Ok(report) = import(&file, &other, None, Damage::Refuse) {
            // What does pass says the same: the head's own fields, or white space.
            let name = other.list().unwrap().sessions.remove(0).id;
            let (read, original) = (other.read(&name).unwrap(), store.read(&id("one")).unwrap());
            prop_assert_eq!(report.events, 5, "{} became {}", before, to);
            prop_assert_eq!(read_all(&*read), read_all(&*original));
        }
    }
}
