//! From formats to text, within bounds.
//!
//! A PDF is a program for a printer, a web page a tree of any depth, and a bad one can ask for endless time, stack and
//! memory. So they are read by a process of their own where there is one ([`Separate`]), and otherwise on a thread
//! whose panic is caught.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{MOST_TEXT, Unusable, html, pdf};
use crate::child::{Ended, Limits, run_with};

/// How long a process may take.
const DEADLINE: Duration = Duration::from_secs(30);
/// The stack of a thread that reads: documents nest.
const STACK: usize = 64 << 20;

/// A format that is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// PDF.
    Pdf,
    /// HTML.
    Html,
}

/// What came of a document.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Converted {
    /// The text of each page, which may be empty; one for what has no pages.
    pub pages: Vec<String>,
    /// What was left out, for people.
    pub remarks: Vec<String>,
}

/// Reads documents that are no text.
pub trait Convert {
    /// The text of each page.
    fn convert(&self, format: Format, bytes: &[u8]) -> Result<Converted, Unusable>;
}

/// On a thread of this process. What a reader says when it panics goes where panics go.
#[derive(Debug, Clone, Copy, Default)]
pub struct InProcess;

impl Convert for InProcess {
    fn convert(&self, format: Format, bytes: &[u8]) -> Result<Converted, Unusable> {
        let bytes = bytes.to_vec();
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || match format {
                Format::Pdf => pdf::pages(&bytes),
                Format::Html => html::text(&bytes),
            });
        match thread.map(std::thread::JoinHandle::join) {
            Ok(Ok(read)) => read,
            Ok(Err(_)) => Err(Unusable::Broken("its reader gave up on it".to_owned())),
            Err(error) => Err(Unusable::Broken(error.to_string())),
        }
    }
}

/// By another program, which gets the format's name as its last argument and the bytes on standard input, and
/// writes what [`Separate::answer`] gives.
#[derive(Debug, Clone)]
pub struct Separate {
    /// The program.
    pub program: PathBuf,
    /// Its arguments before the format.
    pub arguments: Vec<OsString>,
}

impl Separate {
    /// What the other program writes: the pages or the reason, as JSON. It converts on a thread of its own, and is
    /// to bound itself before it asks for this.
    pub fn answer(format: Format, bytes: &[u8]) -> String {
        let said = InProcess.convert(format, bytes).map_err(|error| match error {
            Unusable::Broken(why) => why,
            other => other.to_string(),
        });
        // Texts in a list cannot fail to be written.
        serde_json::to_string(&said).unwrap_or_default()
    }
}

impl Convert for Separate {
    fn convert(&self, format: Format, bytes: &[u8]) -> Result<Converted, Unusable> {
        let limits = Limits {
            deadline: DEADLINE,
            bytes: 8 * MOST_TEXT,
        };
        let mut arguments = self.arguments.clone();
        arguments.push(format.name().into());
        let (folder, environment) = (Path::new("/"), BTreeMap::new());
        let input = Some(bytes.to_vec());
        let ended = run_with(&self.program, &arguments, folder, &environment, limits, input);
        match ended {
            Ended::Done { output, code: 0 } if !output.truncated => serde_json::from_slice(&output.bytes)
                .unwrap_or_else(|error| Err(error.to_string()))
                .map_err(Unusable::of_words),
            Ended::Done { .. } => Err(Unusable::Costly("the time and memory that a document may take")),
            Ended::TimeUp => Err(Unusable::Costly("30 seconds")),
            Ended::NotStarted(error) => Err(Unusable::Broken(error.to_string())),
        }
    }
}

impl Format {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Html => "html",
        }
    }

    /// The format of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Pdf, Self::Html]
            .into_iter()
            .find(|format| format.name() == name)
    }
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
