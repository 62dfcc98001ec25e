//! Records of a log: whatever bytes they hold, decoding is total, what decodes is written again as the same
//! event, and a fold takes it or refuses it and stays as it was.
//!
//! A line is a record: type, payload version, `!` if it may be ignored, payload; separated by tabs.

#![no_main]

use bindery_core::log::{Record, Replay, Seq, SessionState};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let (mut state, mut replay) = (SessionState::default(), Replay::default());
    for line in input.lines().take(64) {
        let mut fields = line.splitn(4, '\t');
        let mut next = || fields.next().unwrap_or_default();
        let record = Record {
            seq: state.next_seq(),
            at_ms: 1,
            kind: next().into(),
            version: next().parse().unwrap_or(1),
            ignorable: next() == "!",
            data: next().into(),
        };
        let Ok(event) = record.decode() else { continue };
        let again = event.encode().expect("what was read can be written");
        // An older version is written as the present one; from there on nothing changes.
        let read = again.decode().expect("what was written can be read");
        assert_eq!(read, event);
        assert_eq!(read.encode().expect("what was read can be written"), again);
        let before = state.clone();
        match state.apply(&event) {
            Ok(()) => {
                let request = replay.follow(&event).expect("a replay follows what a state follows");
                drop(request);
                assert_eq!(replay.state(), &state);
            }
            Err(_) => assert_eq!(state, before, "what is refused changes nothing"),
        }
    }
    assert!(state.next_seq() > Seq::new(0));
});
