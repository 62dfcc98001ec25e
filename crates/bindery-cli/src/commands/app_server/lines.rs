//! Lines of a stream, read by a thread of their own into a channel that is bounded.

use std::io::{BufRead, BufReader, Read};

use bindery_agent::app_server::Transport;
use tokio::sync::mpsc::channel;

/// Lines that wait at most; whoever writes more waits.
const WAITING: usize = 64;
/// The longest line, in bytes. The rest of a longer one is thrown away, and what is left is no JSON.
const LONGEST: u64 = 64 * 1024 * 1024;

/// The lines of a stream, until it ends.
pub(super) fn of(stream: impl Read + Send + 'static) -> Transport {
    let (to, from) = channel(WAITING);
    std::thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        loop {
            let mut bytes = Vec::new();
            match stream.by_ref().take(LONGEST).read_until(b'\n', &mut bytes) {
                Ok(0) | Err(_) => return,
                Ok(_) if bytes.len() as u64 == LONGEST && !bytes.ends_with(b"\n") => skip(&mut stream),
                Ok(_) => {}
            }
            let line = String::from_utf8_lossy(&bytes).into_owned();
            if to.blocking_send(line).is_err() {
                return;
            }
        }
    });
    from
}

/// Throws away the rest of a line.
fn skip(stream: &mut impl BufRead) {
    while let Ok(bytes) = stream.fill_buf() {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(bytes.len(), |end| end + 1);
        let is_over = end.is_some() || bytes.is_empty();
        stream.consume(taken);
        if is_over {
            return;
        }
    }
}
