use std::fs;

use proptest::prelude::*;

use super::*;

fn raw(text: &str) -> Box<RawValue> {
    serde_json::from_str(text).unwrap()
}

/// Opens a file of these bytes for writing and appends `{"c":3}`; gives the repair, and the file after.
fn append_to(bytes: &[u8]) -> (Option<Repair>, Vec<u8>, Vec<Vec<u8>>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    fs::write(&path, bytes).unwrap();
    let (mut lines, repair) = JsonLines::open(&path).unwrap();
    lines.append(&raw("{\"c\":3}")).unwrap();
    lines.sync().unwrap();
    let after = fs::read(&path).unwrap();
    let mut aside: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    aside.retain(|other| *other != path);
    (
        repair,
        after,
        aside.iter().map(|path| fs::read(path).unwrap()).collect(),
    )
}

#[test]
fn a_torn_end_is_set_aside_before_the_next_append() {
    let (repair, after, aside) = append_to(b"{\"a\":1}\n{\"b\":");
    assert!(
        matches!(
            repair,
            Some(Repair::SetAside {
                offset: 8,
                bytes: 5,
                ..
            })
        ),
        "{repair:?}"
    );
    assert_eq!(after, b"{\"a\":1}\n{\"c\":3}\n");
    assert_eq!(aside, [b"{\"b\":"]);
}

#[test]
fn a_whole_last_record_is_only_terminated() {
    let (repair, after, aside) = append_to(b"{\"a\":1}\n{\"b\":2}");
    assert_eq!(repair, Some(Repair::Terminated));
    assert_eq!(after, b"{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n");
    assert!(aside.is_empty());
}

#[test]
fn a_number_may_be_half_of_one() {
    let (repair, after, aside) = append_to(b"1\n12");
    assert!(matches!(repair, Some(Repair::SetAside { .. })));
    assert_eq!(
        (after.as_slice(), aside),
        (&b"1\n{\"c\":3}\n"[..], vec![b"12".to_vec()])
    );
}

#[test]
fn a_tear_within_a_character_is_a_tear() {
    let (_, after, aside) = append_to(b"{\"a\":\"\xc3");
    assert_eq!(
        (after.as_slice(), aside),
        (&b"{\"c\":3}\n"[..], vec![b"{\"a\":\"\xc3".to_vec()])
    );
}

#[test]
fn malformed_rows_in_the_middle_are_kept_and_told() {
    let bytes = b"{\"a\":1}\nBAD\n\n{\"b\":2}\n{\"c\"";
    let (_, after, _) = append_to(bytes);
    assert_eq!(after, b"{\"a\":1}\nBAD\n\n{\"b\":2}\n{\"c\":3}\n");
    let read: Vec<String> = rows(&bytes[..])
        .map(|row| {
            let row = row.unwrap();
            let content = match row.content {
                Content::Value(raw) => raw.to_string(),
                Content::Malformed { bytes, .. } => format!("malformed {}", String::from_utf8_lossy(&bytes)),
                Content::Torn { bytes } => format!("torn {}", String::from_utf8_lossy(&bytes)),
            };
            format!("{}@{} {content}", row.line, row.offset)
        })
        .collect();
    assert_eq!(
        read,
        [
            "1@0 {\"a\":1}",
            "2@8 malformed BAD",
            "4@13 {\"b\":2}",
            "5@21 torn {\"c\""
        ]
    );
}

#[test]
fn a_second_writer_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let first = JsonLines::open(&path).unwrap();
    let told = JsonLines::open(&path).unwrap_err().to_string();
    assert!(told.contains("another process is writing"), "{told}");
    drop(first);
    JsonLines::open(&path).unwrap();
}

#[test]
fn a_second_tear_at_the_same_place_keeps_both() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    for torn in ["{\"a", "{\"b"] {
        fs::write(&path, torn).unwrap();
        JsonLines::open(&path).unwrap();
    }
    for (name, torn) in [("s.jsonl.torn-0", "{\"a"), ("s.jsonl.torn-0-1", "{\"b")] {
        assert_eq!(fs::read_to_string(dir.path().join(name)).unwrap(), torn);
    }
}

#[test]
fn a_value_of_several_lines_becomes_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    JsonLines::open(&path)
        .unwrap()
        .0
        .append(&raw("{\n\"b\": 1,\n\"a\": \"x\\n\"}"))
        .unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"b\":1,\"a\":\"x\\n\"}\n");
}

#[cfg(target_os = "linux")]
#[test]
fn no_room_is_told() {
    let path = Path::new("/dev/full");
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let mut lines = JsonLines {
        file,
        path: path.to_owned(),
        end: 0,
    };
    let told = lines.append(&raw("{}")).unwrap_err();
    assert!(matches!(told, StoreError::Full { .. }), "{told}");
}

proptest! {
    /// Wherever a writer was cut off, every whole row stays, the rest is kept aside, and appending goes on.
    #[test]
    fn a_cut_anywhere_loses_nothing(
        texts in proptest::collection::vec("\\PC{0,20}", 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let lines: Vec<String> = texts.iter().map(|text| serde_json::json!({"t": text}).to_string() + "
").collect();
        let file = lines.concat();
        let cut = cut.index(file.len() + 1);
        let kept = &file.as_bytes()[..cut];
        let (_, after, aside) = append_to(kept);
        let whole = kept.split(|byte| *byte == b'\n').count() - 1;
        let values = rows(&after[..]).filter(|row| matches!(row.as_ref().unwrap().content, Content::Value(_))).count();
        prop_assert_eq!(values, rows(&after[..]).count());
        prop_assert!(values == whole + 1 || values == whole + 2 && aside.is_empty());
        let rest: Vec<u8> = [&after[..after.len() - 8], &aside.concat()].concat();
        let rest = if rest.len() > kept.len() { rest[..kept.len()].to_vec() } else { rest };
        prop_assert_eq!(rest, kept);
    }

    #[test]
    fn any_bytes_are_rows(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for row in rows(&bytes[..]) {
            row.unwrap();
        }
        append_to(&bytes);
    }
}
