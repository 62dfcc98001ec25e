use proptest::prelude::*;
use std::fmt::Write as _;

use super::*;

fn hash() -> crate::ContentHash {
    crate::ContentHash::of(b"x")
}

/// A build log: many steps, one kind of warning thousands of times, two errors deep inside.
fn build_log(lines: u64) -> String {
    let mut log = String::new();
    for number in 1..=lines {
        let line = match number {
            n if n == lines / 2 => "error[E0308]: mismatched types\n  --> src/deep.rs:7:9\n   |\n".to_owned(),
            n if n % 10 == 0 => format!("{n} WARN request failed after {n} ms\n"),
            n if n == lines => "make: *** [all] Error 2\n".to_owned(),
            n => format!("{n} INFO compiling unit {n}\n"),
        };
        log.push_str(&line);
    }
    log
}

#[test]
fn errors_and_the_last_lines_of_a_log_are_kept() {
    let log = build_log(20_000);
    let digested = digest(&log, Bounds::about(2_000));
    let text = digested.text(&hash());
    assert_eq!(digested.shape, Shape::Log);
    assert!(text.len() < 4_500, "{}", text.len());
    insta::assert_snapshot!(text);
}

#[test]
fn failing_tests_are_named() {
    let mut out = String::from("running 900 tests\n");
    for number in 0..900 {
        let end = if number == 444 { "FAILED" } else { "ok" };
        let _ = writeln!(out, "test area::case_{number} ... {end}");
    }
    out.push_str("\nfailures:\n\n---- area::case_444 stdout ----\nthread 'x' panicked at src/a.rs:3:5:\nleft: 1\nright: 2\n\n");
    out.push_str("test result: FAILED. 899 passed; 1 failed; 0 ignored\n");
    let digested = digest(&out, Bounds::about(2_000));
    let text = digested.text(&hash());
    assert_eq!(digested.shape, Shape::Tests);
    for kept in [
        "area::case_444 ... FAILED",
        "panicked at src/a.rs:3:5",
        "left: 1",
        "899 passed; 1 failed",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn json_stays_json() {
    let rows: Vec<serde_json::Value> = (0..5_000)
        .map(|n| serde_json::json!({"id": n, "name": "x".repeat(900), "tags": ["a", "b"]}))
        .collect();
    let text = serde_json::json!({"rows": rows, "next": null, "total": 5000}).to_string();
    let digested = digest(&text, Bounds::default());
    assert_eq!(digested.shape, Shape::Json);
    let shown = digested.text(&hash());
    let body = shown.split_once('\n').unwrap().1;
    let value: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(value["rows"][3], "… 4997 more elements");
    assert_eq!(
        (&value["next"], &value["total"]),
        (&serde_json::Value::Null, &5000.into())
    );
}

#[test]
fn a_diff_is_told_by_its_files() {
    let mut diff = String::new();
    for number in 0..300 {
        let _ = writeln!(
            diff,
            "diff --git a/src/f{number}.rs b/src/f{number}.rs\nindex 1..2 100644\n--- a/src/f{number}.rs\n+++ b/src/f{number}.rs\n@@ -1,2 +1,3 @@ fn f()\n-old\n+new\n+more"
        );
    }
    let digested = digest(&diff, Bounds::about(2_000));
    assert_eq!(digested.shape, Shape::Diff);
    let text = digested.text(&hash());
    assert!(
        text.contains("line 1: src/f0.rs +2 -1\n  @@ -1,2 +1,3 @@ fn f()"),
        "{text}"
    );
    assert!(text.ends_with("… 261 more files, +522 -261"), "{text}");
}

#[test]
fn terminal_sequences_and_overwritten_progress_are_gone() {
    let text = "\u{1b}[31merror\u{1b}[0m: \u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7}\n10%\r50%\r100%\r\n\u{1b}(Bdone\n";
    let shown = digest(text, Bounds::default()).text(&hash());
    assert!(shown.contains("1| error: link"), "{shown}");
    assert!(shown.contains("2| 100%\n"), "{shown}");
    assert!(shown.contains("3| done"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn odd_inputs_have_a_digest() {
    for input in [
        &b""[..],
        b"\n",
        b"\xff\xfe\x00",
        b"{",
        b"[1,",
        b"{\"a\":tru}",
        b"\"\\ud800\"",
        b"[[[[[[[",
    ] {
        let mut digest = Digest::new(Bounds::about(100));
        digest.push(input);
        let digested = digest.finish();
        assert_ne!(digested.shape, Shape::Json, "{input:?}");
        assert_eq!(digested.bytes, input.len() as u64);
    }
    // A line without end is not held.
    let mut digest = Digest::new(Bounds::about(1_000));
    for _ in 0..100 {
        digest.push(&vec![b'x'; 100_000]);
    }
    let digested = digest.finish();
    assert!(
        digested.text(&hash()).len() < 4_000,
        "{}",
        digested.text(&hash()).len()
    );
}

fn pieces() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[a-z 0-9é\u{1f469}]{0,30}",
        Just("error: it failed 12 times".to_owned()),
        Just("\u{1b}[1mbold\u{1b}[0m".to_owned()),
        Just("test result: ok".to_owned()),
    ];
    prop::collection::vec(line, 0..60).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn the_pieces_do_not_matter(text in pieces(), cut in 1_usize..50) {
        let whole = digest(&text, Bounds::about(300));
        let mut digest = Digest::new(Bounds::about(300));
        for piece in text.as_bytes().chunks(cut) {
            digest.push(piece);
        }
        prop_assert_eq!(digest.finish(), whole);
    }

    #[test]
    fn json_of_any_kind_stays_json(value in values()) {
        let text = value.to_string();
        let mut digest = Digest::new(Bounds { head: 20, tail: 20, notable: 20, line: 9 });
        for piece in text.as_bytes().chunks(7) {
            digest.push(piece);
        }
        let digested = digest.finish();
        if value.is_object() || value.is_array() {
            prop_assert_eq!(digested.shape, Shape::Json, "{}", text);
            let body = digested.text(&hash());
            let body = body.split_once('\n').unwrap().1;
            prop_assert!(serde_json::from_str::<serde_json::Value>(body).is_ok(), "{}", body);
        }
    }
}

fn values() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "(\\PC|\n|\"|\\\\|\u{1f469}){0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec(("(\\PC|\"){0,12}", inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
