//! JSON Lines from elsewhere: rows cover every byte, an import keeps whole what it takes, and what was
//! imported is exported and imported again as the same log.
//!
//! The first byte says whether what is readable of a damaged file is kept.

#![no_main]

use std::path::Path;

use bindery_store::json_lines::rows;
use bindery_store::{Damage, MemoryStore, SessionId, Store, export, import, load};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [choice, bytes @ ..] = input else { return };
    let rows: Vec<_> = rows(bytes).map(|row| row.expect("memory can be read")).collect();
    assert!(rows.len() <= bytes.len());
    let damage = if choice % 2 == 0 { Damage::Refuse } else { Damage::KeepReadable };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("s.jsonl");
    std::fs::write(&file, bytes).expect("a file");
    let (store, id): (MemoryStore, SessionId) = (MemoryStore::default(), "s".parse().expect("an id"));
    let Ok(report) = import(&file, &store, Some(&id), damage) else {
        return;
    };
    assert!(damage == Damage::KeepReadable || report.problems.is_empty());
    let log = store.read(&id).expect("what was imported can be read");
    let _folds = load(&*log);
    let mut out = Vec::new();
    export(&*log, &mut out, Path::new("memory")).expect("it can be exported");
    std::fs::write(&file, &out).expect("a file");
    let second = MemoryStore::default();
    import(&file, &second, Some(&id), Damage::Refuse).expect("what was exported is whole");
    let again = second.read(&id).expect("it can be read");
    assert_eq!(log.head().expect("a head").hash, again.head().expect("a head").hash);
});
