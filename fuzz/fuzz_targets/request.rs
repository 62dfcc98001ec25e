//! Request bodies of any bytes, in every format: read or refused, with every range inside the body.

#![no_main]

use bindery_cache::typing::Typing;
use bindery_cache::{Format, RequestReader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let reader = RequestReader::new(Typing::built_in().expect("the built-in patterns"));
    for format in Format::ALL {
        let Ok(request) = reader.read(format, data) else { continue };
        for segment in request.segments() {
            assert!(request.body().get(segment.range.clone()).is_some());
            let text = request.text(segment);
            assert!(request.body_offset(segment, text.len()) <= request.body().len());
        }
        let again = reader.read_after(format, data, Some(&request)).expect("it was read before");
        assert_eq!(again.chain(), request.chain());
    }
});
