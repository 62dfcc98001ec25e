//! What `--attach` names.

use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use bindery::Media;
use bindery::sources::documents::{self, Content, Document, Separate, Unusable};
use clap::Args;

use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};

/// Documents for the request.
#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// A document for the request: text, Markdown, HTML, PDF, an image, or the address of an image; repeatable
    #[arg(long = "attach", value_name = "FILE")]
    files: Vec<String>,
}

impl AttachArgs {
    /// Reads them all. The first that cannot be used is an error: half of what was asked for is another question.
    pub(crate) fn read(&self, from: &Path) -> anyhow::Result<Vec<Document>> {
        self.files.iter().map(|name| read(name, from)).collect()
    }
}

fn read(name: &str, from: &Path) -> anyhow::Result<Document> {
    let refused = |why: &str| UsageError(format!("--attach: {}: {why}", printable(name)));
    if name.starts_with("https://") || name.starts_with("http://") {
        let why = "of what lies elsewhere only images are taken: an address that ends with .png, .jpg, .gif or .webp";
        let kind = image_by_name(name).ok_or_else(|| refused(why))?;
        return Ok(Document {
            name: name.to_owned(),
            content: Content::Image(Media::at_url(kind, name)),
            remarks: Vec::new(),
        });
    }
    let program = std::env::current_exe().context("finding this program")?;
    let pdf = Separate {
        program,
        arguments: vec![PDF_TEXT.into()],
    };
    let document = documents::read(&from.join(name), &pdf);
    let document = document.map_err(|error| refused(&error.to_string()))?;
    Ok(Document {
        name: name.to_owned(),
        ..document
    })
}

fn image_by_name(address: &str) -> Option<&'static str> {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let (_, extension) = path.rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        _ => None,
    }
}

/// The hidden command of the process that reads a PDF.
pub(crate) const PDF_TEXT: &str = "pdf-text";

/// The most memory that reading a PDF may take, in bytes, and the most time, in seconds.
const MEMORY: u64 = 2 << 30;
const SECONDS: u64 = 25;

/// Reads a PDF from standard input and writes its pages, or why not, as JSON.
pub(crate) fn pdf_text(terminal: &mut Terminal) -> anyhow::Result<Status> {
    #[cfg(unix)]
    bound();
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(documents::MOST_BYTES)
        .read_to_end(&mut bytes)?;
    // A thread has the stack that nested documents take; if it panics this process ends, and that is told.
    let reading = std::thread::Builder::new()
        .stack_size(64 << 20)
        .spawn(move || documents::pages_of(&bytes));
    let read = reading?
        .join()
        .unwrap_or_else(|_| Err(Unusable::Broken("its reader gave up on it".to_owned())));
    let said = read.map_err(|error| match error {
        Unusable::Broken(why) => why,
        other => other.to_string(),
    });
    serde_json::to_writer(&mut terminal.out, &said)?;
    terminal.out.flush()?;
    Ok(Status::Success)
}

/// This process gets no more memory and time than this, whatever the document asks for.
#[cfg(unix)]
fn bound() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    for (resource, most) in [(Resource::As, MEMORY), (Resource::Cpu, SECONDS)] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        // Where the system has no such limit, the deadline of whoever waits remains.
        let _ = setrlimit(resource, limit);
    }
}
