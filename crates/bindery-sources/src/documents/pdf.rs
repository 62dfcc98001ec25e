//! The text of a PDF, page by page.
//!
//! A PDF is a program for a printer, and a bad one can ask for endless time, stack and memory. So it is read by a
//! process of its own where there is one ([`Separate`]), and otherwise on a thread whose panic is caught.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lopdf::Document;
use serde::{Deserialize, Serialize};

use super::{MOST_TEXT, Unusable};
use crate::child::{Ended, Limits, run_with};

/// The most pages that are read.
const MOST_PAGES: usize = 5_000;
/// The most bytes that a stream of a page may unpack to.
const MOST_STREAM: usize = 64 << 20;
/// How long a process may take.
const DEADLINE: Duration = Duration::from_secs(30);
/// The stack of a thread that reads: documents nest.
const STACK: usize = 64 << 20;

/// What was read of a PDF.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PdfPages {
    /// The text of each page, which may be empty.
    pub pages: Vec<String>,
    /// What was left out, for people.
    pub remarks: Vec<String>,
}

/// Reads the pages of a PDF.
pub trait ReadPdf {
    /// The text of each page.
    fn pages(&self, bytes: &[u8]) -> Result<PdfPages, Unusable>;
}

/// On a thread of this process. What the reader says when it panics goes where panics go.
#[derive(Debug, Clone, Copy, Default)]
pub struct InProcess;

impl ReadPdf for InProcess {
    fn pages(&self, bytes: &[u8]) -> Result<PdfPages, Unusable> {
        let bytes = bytes.to_vec();
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || pages_of(&bytes));
        let joined = thread.map(std::thread::JoinHandle::join);
        match joined {
            Ok(Ok(read)) => read,
            Ok(Err(_)) => Err(Unusable::Broken("its reader gave up on it".to_owned())),
            Err(error) => Err(Unusable::Broken(error.to_string())),
        }
    }
}

/// By another program, which gets the bytes on standard input and writes [`PdfPages`] or a reason as JSON.
#[derive(Debug, Clone)]
pub struct Separate {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl ReadPdf for Separate {
    fn pages(&self, bytes: &[u8]) -> Result<PdfPages, Unusable> {
        let limits = Limits {
            deadline: DEADLINE,
            bytes: 8 * MOST_TEXT,
        };
        let ended = run_with(
            &self.program,
            &self.arguments,
            Path::new("/"),
            &BTreeMap::new(),
            limits,
            Some(bytes.to_vec()),
        );
        match ended {
            Ended::Done { output, code: 0 } if !output.truncated => serde_json::from_slice(&output.bytes)
                .unwrap_or_else(|error| Err(error.to_string()))
                .map_err(Unusable::of_words),
            Ended::Done { .. } => Err(Unusable::Costly("the memory that a document may take")),
            Ended::TimeUp => Err(Unusable::Costly("30 seconds")),
            Ended::NotStarted(error) => Err(Unusable::Broken(error.to_string())),
        }
    }
}

/// The text of each page, read here and now.
pub fn pages_of(bytes: &[u8]) -> Result<PdfPages, Unusable> {
    let broken = |error: lopdf::Error| Unusable::Broken(error.to_string());
    let document = Document::load_mem(bytes).map_err(|error| match error {
        lopdf::Error::InvalidPassword | lopdf::Error::Decryption(_) => Unusable::Encrypted,
        other => broken(other),
    })?;
    if document.is_encrypted() {
        return Err(Unusable::Encrypted);
    }
    let mut read = PdfPages::default();
    let mut room = MOST_TEXT;
    let (mut failed, mut left) = (Vec::new(), 0_usize);
    let pages = document.get_pages();
    if pages.is_empty() {
        return Err(Unusable::Broken("it has no pages".to_owned()));
    }
    for number in pages.into_keys() {
        if read.pages.len() >= MOST_PAGES || room == 0 {
            left += 1;
            continue;
        }
        let text = document.extract_text_with_limit(&[number], MOST_STREAM);
        let mut text = text.unwrap_or_else(|error| {
            failed.push(format!("page {number}: {error}"));
            String::new()
        });
        text.truncate(text.floor_char_boundary(room));
        room -= text.len();
        read.pages.push(text);
    }
    if left > 0 {
        read.remarks
            .push(format!("its last {left} pages are left out: it is too long"));
    }
    let more = failed.len().saturating_sub(3);
    read.remarks.extend(failed.into_iter().take(3));
    if more > 0 {
        read.remarks.push(format!("{more} more pages could not be read"));
    }
    Ok(read)
}

impl Unusable {
    /// What a process of ours said of a document.
    fn of_words(words: String) -> Self {
        if words == Self::Encrypted.to_string() {
            Self::Encrypted
        } else {
            Self::Broken(words)
        }
    }
}
