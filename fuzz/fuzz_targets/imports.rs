//! Any text is searched for imports without a panic, and tokens lie inside of it.
#![no_main]

use bindery_sources::dialect::TokenRules;
use bindery_sources::instructions::scan;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, bool, bool, bool, &str)| {
    let (raw_list_items, after_comment, trim_punctuation, bare_words, text) = input;
    let rules = TokenRules {
        raw_list_items,
        after_comment,
        trim_punctuation,
        bare_words,
    };
    for token in scan(text, &rules) {
        assert!(!token.path.is_empty());
        assert!(token.range.start <= token.range.end);
    }
});
