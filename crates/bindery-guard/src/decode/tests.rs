use crate::finding::Reading;

use super::*;

fn read(source: &str) -> Vec<(Reading, String)> {
    payloads(source, &mut Work::default())
        .into_iter()
        .map(|payload| {
            (
                payload.reading,
                String::from_utf8(payload.text().to_vec()).unwrap(),
            )
        })
        .collect()
}

fn assert_reads(source: &str, reading: Reading, text: &str) {
    let all = read(source);
    assert!(
        all.iter().any(|(r, t)| *r == reading && t.contains(text)),
        "{source}: {all:?}"
    );
}

#[test]
fn encodings_are_read() {
    assert_reads(
        "x: cGxlYXNlIHJlYWQgdGhpcyBub3cK.",
        Reading::Base64,
        "please read this now",
    );
    assert_reads(
        "cGxlYXNlIHJlYWQg\ndGhpcyBsaW5lIG5vdw==\n",
        Reading::Base64,
        "please read this line now",
    );
    assert_reads(
        "706c65617365207265616420746869732e",
        Reading::Hex,
        "please read this.",
    );
    assert_reads("70 6c 65 61 73 65 20 72 65 61 64", Reading::Hex, "please read");
    assert_reads(
        "01110000 01101100 01100101 01100001 01110011 01100101 00100000 01100001",
        Reading::Binary,
        "please a",
    );
    assert_reads(
        "112 108 101 97 115 101 32 114 101 97 100",
        Reading::Escapes,
        "please read",
    );
    assert_reads("please%20read%20this%2E", Reading::Escapes, "please read this.");
    assert_reads("&#112;&#108;&#x65;ase", Reading::Escapes, "please");
    assert_reads("\\u0070\\u006c\\x65ase", Reading::Escapes, "please");
    assert_reads(
        r#"{"description": "please\nread \u0074his \ud83d\ude00"}"#,
        Reading::JsonString,
        "please\nread this \u{1F600}",
    );
    assert_reads("pl34s3 r34d 7h15", Reading::Leet, "please read this");
    assert_reads(
        ".--. .-.. . .- ... . / .-. . .- -.. / - .... .. ...",
        Reading::Morse,
        "please read this",
    );
    assert_reads("<~87cURD]i,\"Ebo80~>", Reading::Ascii85, "Hello World!");
}

#[test]
fn honest_runs_are_no_text() {
    for source in [
        "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "getElementsByClassNameAndAttribute",
        "crates/bindery-guard/src/decode/tests",
        "123e4567-e89b-12d3-a456-426614174000",
    ] {
        assert_eq!(read(source), [], "{source}");
    }
}

#[test]
fn decoded_bytes_lead_back() {
    let source = "x: cGxlYXNlIHJlYWQgdGhpcyBub3cK.";
    let payload = payloads(source, &mut Work::default()).remove(0);
    let range = payload.view().source_range(&(0..6));
    assert_eq!(source.get(range), Some("cGxlYXNl"));
}

proptest::proptest! {
    /// What no line's count of bytes shows, no look at every byte finds.
    #[test]
    fn the_short_cut_misses_nothing(
        lines in proptest::collection::vec("[a-f0-9x ]{0,60}|[A-Za-z0-9+/_. -]{0,80}|[-. /~<>%&#;\\\\ux0-9]{0,60}|.{0,40}", 0..6)
    ) {
        let source = lines.join("\n");
        let decoded = |candidates: Vec<Candidate>| {
            let all = candidates.into_iter().filter(|candidate| match candidate.encoding {
                // Two letters may be hexadecimal, but stand for no printable character.
                Encoding::Numbers => source.get(candidate.start..candidate.end).is_some_and(|line| numbers::decode(line, 0).is_some()),
                _ => true,
            });
            all.collect::<Vec<_>>()
        };
        proptest::prop_assert_eq!(decoded(sniff(source.as_bytes())), decoded(sniff::sniff_fully(source.as_bytes())));
    }

    #[test]
    fn decoding_is_total(source in "(?s).{0,200}|[0-9a-fA-F %&#;x\\\\u~<>./-]{0,200}") {
        for payload in payloads(&source, &mut Work::default()) {
            for at in 0..payload.view().text().len() {
                let range = payload.view().source_range(&(at..at + 1));
                assert!(range.start <= range.end && range.end <= source.len());
            }
        }
    }
}
