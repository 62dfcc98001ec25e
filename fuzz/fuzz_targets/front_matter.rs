//! Any text splits without loss, and its front matter reads or says why not.
#![no_main]

use bindery_sources::dialect::{FrontMatterFence, Unreadable};
use bindery_sources::front_matter::{expand_braces, line_of_key, line_of_pattern, read, split, split_patterns};
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
        let lines = text.split('\n').count();
        assert!(found.block_line >= 1 && found.block_line as usize <= lines);
        for unreadable in [Unreadable::ReadLines, Unreadable::QuoteValues] {
            let fields = read(
                block,
                unreadable,
                &["paths", "globs", "description", "alwaysApply"],
            );
            for key in fields.values.keys() {
                let inside = |line: Option<u32>| line.is_none_or(|line| line >= 1 && line as usize <= lines);
                assert!(inside(line_of_key(block, key)));
                for pattern in fields.patterns(key).unwrap_or_default() {
                    assert!(inside(line_of_pattern(block, key, &pattern)));
                }
                fields.is_true(key);
            }
        }
    }
    for pattern in split_patterns(text) {
        assert!(!expand_braces(&pattern).is_empty());
    }
});
