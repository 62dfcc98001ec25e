//! Lines of transcripts of any bytes: every body that comes out is JSON if its parts were.

#![no_main]

use bindery_cache::{TranscriptKind, TranscriptReader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    for kind in [TranscriptKind::ClaudeCode, TranscriptKind::Codex, TranscriptKind::Trace] {
        let mut reader = TranscriptReader::new(kind);
        for (number, line) in (1..).zip(text.lines()) {
            reader.line(number, line);
        }
        reader.finish();
    }
});
