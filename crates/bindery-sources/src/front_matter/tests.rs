use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::dialect::FrontMatterFence;

#[test]
fn lines_fence_needs_lines_of_their_own() {
    let found = split("---\na: 1\n---\nbody\n", FrontMatterFence::Lines);
    assert_eq!(
        (found.block, found.body, found.lines_before),
        (Some("a: 1\n"), "body\n", 3)
    );
    assert_eq!(split("---\na: 1\nbody", FrontMatterFence::Lines).block, None);
    assert_eq!(split("\n---\na: 1\n---\n", FrontMatterFence::Lines).block, None);
}

#[test]
fn any_dashes_swallow_prose_between_two_rules() {
    let found = split("---\n\nprose\n\n---\nmore\n", FrontMatterFence::AnyDashes);
    assert_eq!((found.block, found.body), (Some("prose\n\n"), "more\n"));
    assert_eq!(
        split("---\nname: x\nbody", FrontMatterFence::AnyDashes).block,
        None
    );
}

#[test]
fn headers_that_are_not_yaml_are_read_by_line() {
    let known = ["globs", "description", "alwaysApply"];
    let fields = read(
        "description: a: b\nglobs: **/*.go, *.md\nalwaysApply: false",
        Unreadable::ReadLines,
        &known,
    );
    assert!(fields.fault.is_some());
    assert_eq!(fields.patterns("globs").unwrap(), ["**/*.go", "*.md"]);
    assert_eq!(fields.text("description"), Some("a: b"));
    assert!(!fields.is_true("alwaysApply"));
    let listed = read(
        "globs:\n  - **/*.go\n  - \"*.rs\"\n",
        Unreadable::ReadLines,
        &known,
    );
    assert_eq!(listed.patterns("globs").unwrap(), ["**/*.go", "*.rs"]);
}

#[test]
fn yaml_is_read_as_yaml() {
    let fields = read(
        "paths:\n  - 'a'\n  - \"b,c\"\nother: [1]\n",
        Unreadable::ReadLines,
        &[],
    );
    assert_eq!(fields.fault, None);
    assert_eq!(fields.patterns("paths").unwrap(), ["a", "b", "c"]);
    assert_eq!(fields.values["other"], json!([1]));
}

#[test]
fn commas_split_outside_braces_only() {
    assert_eq!(
        split_patterns("**/*.ts, **/*.{tsx,jsx}"),
        ["**/*.ts", "**/*.{tsx,jsx}"]
    );
    assert_eq!(expand_braces("a{b,c{d,e}}f"), ["abf", "acdf", "acef"]);
    assert_eq!(expand_braces("a{b"), ["a{b"]);
}

proptest! {
    #[test]
    fn any_text_is_split_without_loss(text in "(---\n)?[ -~\\n\u{e9}-]{0,60}(---\n)?.{0,20}") {
        for fence in [FrontMatterFence::Lines, FrontMatterFence::AnyDashes, FrontMatterFence::LineStart] {
            let found = split(&text, fence);
            prop_assert!(text.ends_with(found.body));
            let fields = read(found.block.unwrap_or(&text), Unreadable::ReadLines, &["a"]);
            prop_assert!(fields.values.len() <= text.len());
            read(&text, Unreadable::QuoteValues, &[]);
        }
    }
}
