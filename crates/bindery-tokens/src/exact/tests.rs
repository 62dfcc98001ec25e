use std::fmt::Write as _;

use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

use super::*;

const BOTH: [Encoding; 2] = [Encoding::O200kBase, Encoding::Cl100kBase];

/// The reference: a port of `tiktoken` that runs the published expressions themselves.
fn reference(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
    }
}

#[track_caller]
fn agrees(text: &str) {
    for encoding in BOTH {
        let expected = reference(encoding).encode_ordinary(text).len() as u64;
        let counted = ExactCounter::new(encoding).tokens(text);
        assert_eq!(counted, expected, "{} of {text:?}", encoding.name());
    }
}

/// Pre-tokens one by one, so that two errors cannot cancel out in a count.
fn pieces<S: Split>(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = S::next(Text::new(text), at);
        pieces.push(text.get(at..end).unwrap());
        at = end;
    }
    pieces
}

/// Counts made with `tiktoken` 0.14 in Python: `len(get_encoding(name).encode_ordinary(text))`.
#[test]
fn known_counts() {
    let cases: &[(&str, u64, u64)] = &include!("known_counts.in");
    for (text, o200k, cl100k) in cases {
        assert_eq!(
            ExactCounter::new(Encoding::O200kBase).tokens(text),
            *o200k,
            "{text:?}"
        );
        assert_eq!(
            ExactCounter::new(Encoding::Cl100kBase).tokens(text),
            *cl100k,
            "{text:?}"
        );
    }
}

#[test]
fn long_runs_agree_and_stay_fast() {
    for unit in [
        "a",
        "A",
        " ",
        "\n",
        "-",
        "é",
        "あ",
        "0",
        "ab",
        "👩‍👩‍👧",
        " \n",
        "\u{301}",
        "/\n",
    ] {
        for length in [95, 96, 97, 98, 1000, 4099] {
            agrees(&unit.repeat(length));
        }
    }
    // A scan for the lowest pair would take hours for this one.
    let counted = ExactCounter::new(Encoding::O200kBase).tokens(&"xq".repeat(200_000));
    assert!(counted > 20_000, "{counted}");
}

#[test]
fn every_scalar_agrees_beside_every_kind_of_neighbour() {
    let mut text = String::new();
    for scalar in ('\0'..=char::MAX).step_by(61).chain('\0'..='\u{24ff}') {
        let _ = write!(
            text,
            "a{scalar}B {scalar}1{scalar}{scalar} \n{scalar}'s A{scalar}C"
        );
        if text.len() > 60_000 {
            agrees(&text);
            text.clear();
        }
    }
    agrees(&text);
}

#[test]
fn pieces_of_letters_and_marks() {
    // An upper run that ends in no lower letter gives up all after its last caseless letter.
    assert_eq!(pieces::<O200k>("AあBC"), ["Aあ", "BC"]);
    // A mark leads the word, or is the word, or belongs to the symbols before it.
    assert_eq!(pieces::<O200k>("\u{301}ABC"), ["\u{301}", "ABC"]);
    assert_eq!(pieces::<O200k>("!!\u{301}x"), ["!!\u{301}", "x"]);
    assert_eq!(
        pieces::<O200k>("It'S don't 'tis"),
        ["It'S", " don't", " '", "tis"]
    );
    assert_eq!(
        pieces::<Cl100k>("It'S don't 'tis"),
        ["It", "'S", " don", "'t", " '", "tis"]
    );
    assert_eq!(pieces::<O200k>("a/b//\n/\nc"), ["a", "/b", "//\n/\n", "c"]);
}

#[test]
fn pieces_of_white_space() {
    assert_eq!(
        pieces::<O200k>("a  b\n\n  c \n "),
        ["a", " ", " b", "\n\n", " ", " c", " \n", " "]
    );
    assert_eq!(
        pieces::<Cl100k>("a  b\n\n  c \n "),
        ["a", " ", " b", "\n\n", " ", " c", " \n "]
    );
    assert_eq!(pieces::<O200k>("\t\tx"), ["\t", "\tx"]);
}

/// Texts made of what the rules tell apart, in orders that people do not write.
fn hostile() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        8 => prop::sample::select(vec![
            "a", "B", "the", "Ab", "BC", "0", "12", "٣", "Ⅷ", " ", "  ", "\t", "\n", "\r\n", "\r",
            "\u{a0}", "\u{2003}", "\u{85}", "'", "'s", "'S", "'ſ", "'ll", "'Re", "/", "-", "...",
            "\u{301}", "\u{20dd}", "ǅ", "ʰ", "あ", "中", "한", "é", "ß", "ſ", "K", "👩‍👩‍👧", "🇩🇪",
            "<|endoftext|>", "\0", "\u{feff}", "\u{200d}", "\u{e0041}", "x'", "\u{10ffff}",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "[a-zA-Z]{1,40}",
    ];
    prop::collection::vec(atom, 0..60).prop_map(|atoms| atoms.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn counts_agree_with_the_reference(text in hostile()) {
        agrees(&text);
    }

    #[test]
    fn pieces_tile_the_text(text in hostile()) {
        prop_assert_eq!(pieces::<O200k>(&text).concat(), text.as_str());
        prop_assert_eq!(pieces::<Cl100k>(&text).concat(), text.as_str());
    }

    #[test]
    fn scan_and_heap_merge_alike(text in "[a-cxA-C é\u{301}あ]{1,90}") {
        let bytes = text.as_bytes();
        for vocabulary in [&vocabulary::O200K, &vocabulary::CL100K] {
            let scanned = Merger::default().scan(vocabulary, bytes, 0, bytes.len());
            prop_assert_eq!(scanned, merge::heap(vocabulary, bytes, 0, bytes.len()));
        }
    }

    #[test]
    fn what_was_counted_before_does_not_change_a_count(text in "([a-z]{3,12}[ _.]){4,40}") {
        let counter = ExactCounter::new(Encoding::O200kBase);
        // Long enough for the memory of recent pieces, against too short for it.
        let many = text.repeat(100);
        let expected = reference(Encoding::O200kBase).encode_ordinary(&many).len() as u64;
        prop_assert_eq!(counter.tokens(&many), expected);
    }
}
