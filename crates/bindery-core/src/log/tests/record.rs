//! How events are written, and what is refused on reading.

use super::*;

fn record(kind: &str, version: u32, ignorable: bool, data: &str) -> Record {
    Record {
        seq: Seq::new(7),
        at_ms: 1,
        kind: kind.into(),
        version,
        ignorable,
        data: data.into(),
    }
}

#[test]
fn every_type_has_an_example_that_is_read_back() {
    let mut seen = Vec::new();
    let mut state = SessionState::default();
    for draft in examples() {
        let event = draft.at(state.next_seq());
        let record = event.encode().unwrap();
        assert_eq!(record.decode().unwrap(), event);
        assert_eq!(record.decode().unwrap().encode().unwrap(), record);
        assert!(!record.data.contains('\n'));
        seen.push(record.kind);
        state.apply(&event).unwrap();
    }
    for row in Payload::CATALOGUE {
        assert!(
            seen.iter().any(|kind| **kind == *row.kind),
            "no example of {}",
            row.kind
        );
    }
}

#[test]
fn payloads_are_pinned() {
    let lines: Vec<String> = examples()
        .into_iter()
        .map(|draft| format!("{} {}", draft.payload.kind(), draft.payload.to_json().unwrap()))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn what_is_not_known_is_refused_unless_it_may_be_ignored() {
    let refused = |record: Record| record.decode().unwrap_err().to_string();
    insta::assert_snapshot!(
        [
            refused(record("acme/review", 1, false, "{}")),
            refused(record("turn_started", 2, false, "{\"turn\":1}")),
            refused(record("turn_started", 1, false, "{\"turn\":1,\"more\":2}")),
            refused(record("turn_started", 1, false, "{}")),
            refused(record("acme/review", 1, true, "{")),
        ]
        .join("\n")
    );
    for ignorable in [
        record("acme/review", 3, true, "{\"b\": 1.50, \"a\": 2}"),
        record("turn_started", 2, true, "{\"turn\":[]}"),
    ] {
        let event = ignorable.decode().unwrap();
        assert!(matches!(event.payload, Payload::Foreign(_)));
        assert_eq!(event.encode().unwrap(), ignorable);
    }
}

#[test]
fn the_chain_covers_every_part_of_a_record() {
    let hash = |record: &Record, previous: &crate::ContentHash| {
        chain(previous, record, &crate::ContentHash::of(record.data.as_bytes()))
    };
    let one = record("a", 1, false, "{}");
    let base = hash(&one, &GENESIS);
    let others = [
        Record {
            seq: Seq::new(8),
            ..one.clone()
        },
        Record {
            at_ms: 2,
            ..one.clone()
        },
        Record {
            kind: "b".into(),
            ..one.clone()
        },
        Record {
            version: 2,
            ..one.clone()
        },
        Record {
            ignorable: true,
            ..one.clone()
        },
        Record {
            data: "[]".into(),
            ..one.clone()
        },
    ];
    for other in &others {
        assert_ne!(hash(other, &GENESIS), base, "{other:?}");
    }
    assert_ne!(hash(&one, &base), base);
}

#[test]
fn payloads_of_earlier_versions_are_read() {
    let first = |reported: &str| {
        let data = format!(
            "{{\"attempt\":12,\"usage\":{{\"uncached\":1,\"cache_read\":2,\"cache_write_5m\":3,\"cache_write_1h\":4,\
             \"output\":5}},\"origin\":\"provider\"{reported}}}"
        );
        match record("usage_reported", 1, false, &data)
            .decode()
            .unwrap()
            .payload
        {
            Payload::UsageReported(reported) => reported.usage,
            other => panic!("{other:?}"),
        }
    };
    let classes = first("");
    assert_eq!((classes.uncached, classes.read, classes.output), (1, 2, 5));
    assert_eq!((classes.write_5m, classes.write_1h), (3, 4));
    let buckets =
        first(",\"reported\":{\"uncached\":1,\"read\":2,\"write_30m\":7,\"output\":3,\"reasoning\":2}");
    assert_eq!(
        (buckets.write_5m, buckets.write_30m, buckets.reasoning),
        (0, 7, 2)
    );
    // What a provider itself wrote is no bucket of ours; the classes stand.
    assert_eq!(first(",\"reported\":{\"prompt_tokens\":9}"), classes);
    let tool = "{\"call\":\"c\",\"content\":{\"key\":\"k\",\"kind\":\"tool-result\",\"lane\":\"messages\",\"group\":\"appended\",\
                \"authority\":\"tool\",\"trust\":\"external\",\"source\":{\"type\":\"plugin\",\"name\":\"t\"},\"text\":\"x\"}}";
    for version in [1, 2] {
        assert!(record("tool_returned", version, false, tool).decode().is_ok());
    }
}
