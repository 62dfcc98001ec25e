//! Any text as a dialect file: read, or refused with the file's name.
#![no_main]

use bindery_sources::dialect::Dialect;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = Dialect::parse(text, "fuzz.toml") {
        assert!(error.to_string().starts_with("fuzz.toml"));
    }
});
