//! What a stream said: its beginning and its end in memory, all of it in a file where it is to be kept.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};

use tokio::io::{AsyncRead, AsyncReadExt};

use super::MOST_BYTES;
use crate::capacity::Intake;

/// How much of the beginning and of the end of a stream is held, in bytes.
const HALF: usize = MOST_BYTES / 4;

/// What a stream said.
#[derive(Default)]
pub(super) struct Spool {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
    /// All of it, without a name on the disk.
    file: Option<File>,
    problem: Option<io::Error>,
}

impl Spool {
    /// Reads a stream to its end.
    pub(super) async fn of(stream: Option<impl AsyncRead + Unpin>, keeps: bool) -> Self {
        let mut spool = Self::default();
        let Some(mut stream) = stream else { return spool };
        let mut buffer = vec![0; 64 << 10];
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            let piece = buffer.get(..read).unwrap_or_default();
            if keeps {
                spool.write(piece);
            }
            spool.hold(piece);
        }
        spool
    }

    fn hold(&mut self, piece: &[u8]) {
        let (first, rest) = piece.split_at(piece.len().min(HALF.saturating_sub(self.head.len())));
        self.head.extend_from_slice(first);
        // Of more than fits only the end matters.
        let skipped = rest.len().saturating_sub(HALF);
        let rest = rest.get(skipped..).unwrap_or_default();
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(HALF);
        self.tail.drain(..over);
        self.left_out += (skipped + over) as u64;
    }

    /// A small output never meets the disk; the file begins when the first bytes would be left out.
    fn write(&mut self, piece: &[u8]) {
        if self.problem.is_some() {
            return;
        }
        let held = self.head.len() + self.tail.len();
        let outcome = match &mut self.file {
            Some(file) => file.write_all(piece),
            None if held + piece.len() <= HALF => Ok(()),
            None => tempfile::tempfile().and_then(|mut file| {
                file.write_all(&self.head)?;
                let (one, two) = self.tail.as_slices();
                file.write_all(one)?;
                file.write_all(two)?;
                file.write_all(piece)?;
                self.file = Some(file);
                Ok(())
            }),
        };
        self.problem = outcome.err();
    }

    /// What the model is told of it.
    pub(super) fn text(mut self, intake: Option<&Intake>) -> String {
        if let (Some(intake), Some(mut file), None) = (intake, self.file.take(), self.problem.as_ref())
            && self.left_out > 0
        {
            let digest = file.rewind().map_err(|error| error.to_string());
            let digest = digest.and_then(|()| intake.digest(&mut file).map_err(|error| error.to_string()));
            match digest {
                Ok(digest) => return digest,
                Err(why) => return format!("{}\n[it could not be kept: {why}]", self.held()),
            }
        }
        match &self.problem {
            Some(error) if self.left_out > 0 => format!("{}\n[it could not be kept: {error}]", self.held()),
            _ => self.held(),
        }
    }

    fn held(&self) -> String {
        let mut bytes = self.head.clone();
        let (one, two) = self.tail.as_slices();
        if self.left_out == 0 {
            bytes.extend_from_slice(one);
            bytes.extend_from_slice(two);
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        let head = String::from_utf8_lossy(&self.head);
        let tail = [one, two].concat();
        let tail = String::from_utf8_lossy(&tail);
        format!("{head}\n[{} bytes left out]\n{tail}", self.left_out)
    }
}
