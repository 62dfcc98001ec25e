//! Any bytes are scanned to their end: no panic, and every finding lies within them. The wrapper
//! holds whatever it is given.
#![no_main]

use std::sync::LazyLock;

use bindery_guard::wrap::{Marking, wrap_untrusted};
use bindery_guard::{Scanner, scan};
use libfuzzer_sys::fuzz_target;

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::builtin().expect("the shipped patterns compile"));

fuzz_target!(|bytes: &[u8]| {
    for finding in scan(bytes, &SCANNER).findings {
        assert!(finding.span.start <= finding.span.end && finding.span.end <= bytes.len(), "{finding:?}");
        assert!(finding.line >= 1 && finding.column >= 1, "{finding:?}");
    }
    let text = String::from_utf8_lossy(bytes);
    let wrapped = wrap_untrusted(&text, "fuzz", Marking::None);
    assert_eq!(wrapped.to_ascii_lowercase().matches("</untrusted-text>").count(), 1);
});
