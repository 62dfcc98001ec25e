//! Any text splits without loss, and its front matter reads or says why not.
#![no_main]

use bindery_sources::dialect::{FrontMatterFence, Unreadable};
use bindery_sources::front_matter::{expand_braces, read, split, split_patterns};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for fence in [
        FrontMatterFence::Lines,
        FrontMatterFence::AnyDashes,
        FrontMatterFence::LineStart,
    ] {
        let found = split(text, fence);
        assert!(text.ends_with(found.body));
        let block = found.block.unwrap_or(text);
        for unreadable in [Unreadable::ReadLines, Unreadable::QuoteValues] {
            let fields = read(
                block,
                unreadable,
                &["paths", "globs", "description", "alwaysApply"],
            );
            for key in fields.values.keys() {
                fields.patterns(key);
                fields.is_true(key);
            }
        }
    }
    for pattern in split_patterns(text) {
        assert!(!expand_braces(&pattern).is_empty());
    }
});
