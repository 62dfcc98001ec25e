use std::path::Path;

use super::*;
use crate::dialect::Catalogue;

fn asked(text: &str) -> Asked<'_> {
    Asked {
        path: Path::new("/p/AGENTS.md"),
        raw: text.as_bytes(),
        text,
        must: &[],
    }
}

#[test]
fn a_shared_budget_is_spent_in_order_and_blank_text_is_free() {
    let dialect = Catalogue::shipped().get("codex").unwrap();
    let set = BTreeMap::from([("project".to_owned(), 6)]);
    let mut budget = Budget::new(&dialect, None, &set);
    assert_eq!(
        budget.give("project", asked("\n\n\n\n\n\n\n\nlate")),
        Verdict::Nothing { limit: 6 }
    );
    assert_eq!(budget.give("project", asked("abcd")), Verdict::Whole);
    let Verdict::Part { text, bytes, lost } = budget.give("project", asked("x\u{65e5}")) else {
        panic!("cut")
    };
    assert_eq!((text.as_str(), bytes, lost.bytes), ("x\u{FFFD}", 2, 3));
    assert_eq!(budget.give("project", asked("y")), Verdict::Nothing { limit: 6 });
}

#[test]
fn head_and_tail_are_measured_with_the_heading() {
    let dialect = Catalogue::shipped().get("hermes").unwrap();
    let mut budget = Budget::new(&dialect, None, &BTreeMap::new());
    let heading = "## AGENTS.md\n\n".len();
    assert_eq!(
        budget.give("file", asked(&"a".repeat(20_000 - heading))),
        Verdict::Whole
    );
    let text = "a".repeat(20_001 - heading);
    let Verdict::Part { bytes, .. } = budget.give("file", asked(&text)) else {
        panic!("cut")
    };
    assert_eq!(usize::try_from(bytes).unwrap(), 14_000 - heading + 4_000);
}

#[test]
fn limits_grow_with_the_window_within_bounds() {
    let dialect = Catalogue::shipped().get("hermes").unwrap();
    let limit = |window| Budget::new(&dialect, window, &BTreeMap::new()).limit("file");
    assert_eq!(
        [
            limit(None),
            limit(Some(64_000)),
            limit(Some(200_000)),
            limit(Some(4_000_000))
        ],
        [20_000, 20_000, 48_000, 500_000]
    );
}

#[test]
fn the_first_lost_heading_and_lost_duties_are_named() {
    let text = "# A\nkept\n## B\nlost\n## MUST\nnever\n";
    let lost = measure(text, std::slice::from_ref(&(0..9)), 9, "characters", 25);
    assert_eq!(
        (lost.first_lost_heading.as_deref(), lost.from_line),
        (Some("B"), 3)
    );
    let must = must_sections(text, &["MUST".to_owned()], &[]);
    assert_eq!(lost_sections(text, "# A\nkept\n", &must), ["MUST"]);
    assert!(lost_sections(text, text, &must).is_empty());
}

#[test]
fn sections_are_marked_by_word_comment_or_title() {
    let text =
        "<!-- must-keep -->\nlead\n# A\n## B\n<!-- must-keep -->\n### C\nc\n## What you MUST do\n# D\n";
    let titles = |marked: &[String]| -> Vec<String> {
        let all = must_sections(text, &["MUST".to_owned()], marked);
        all.into_iter().map(|(title, _)| title).collect()
    };
    assert_eq!(titles(&[]), ["", "B", "What you MUST do"]);
    assert_eq!(titles(&["D".to_owned()]), ["", "B", "What you MUST do", "D"]);
    assert_eq!(marked_titles(text), ["", "B"]);
}
