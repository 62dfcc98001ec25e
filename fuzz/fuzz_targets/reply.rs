//! Reading of replies: total, and the same however the bytes are cut.
//!
//! The first byte chooses the provider, the second how long the chunks are; the rest is the stream.

#![no_main]

use bindery_wire::{Interrupted, Provider, Reply, ReplyDecoder, ReplyEvent, decode_body};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [provider, size, bytes @ ..] = input else {
        return;
    };
    let provider = Provider::ALL[usize::from(*provider) % Provider::ALL.len()];
    let (events, end) = read(provider, bytes.chunks(usize::from(*size).max(1)));
    assert_eq!((&events, &end), (&read(provider, [bytes]).0, &read(provider, [bytes]).1));
    let failed = events.iter().filter(|event| matches!(event, ReplyEvent::Failed(_))).count();
    assert!(failed == 0 || failed == 1 && end.is_err() && matches!(events.last(), Some(ReplyEvent::Failed(_))));
    if let Ok(reply) = end {
        // What is read can be sent back.
        let message = reply.message("message:0");
        assert_eq!(message.parts.len(), reply.parts.len());
    }
    let _whole = decode_body(provider, bytes);
});

fn read<'b>(
    provider: Provider,
    chunks: impl IntoIterator<Item = &'b [u8]>,
) -> (Vec<ReplyEvent>, Result<Reply, Interrupted>) {
    let mut decoder = ReplyDecoder::new(provider);
    let events = chunks.into_iter().flat_map(|chunk| decoder.push(chunk)).collect();
    (events, decoder.finish())
}
