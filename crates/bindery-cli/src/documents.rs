//! What `--attach` names.

use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use bindery::Media;
use bindery::sources::documents::{self, Content, Document, Format, Separate};
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
    let convert = Separate {
        program,
        arguments: vec![DOCUMENT_TEXT.into()],
    };
    let document = documents::read(&from.join(name), &convert);
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

/// The hidden command of the process that reads documents which are no text.
pub(crate) const DOCUMENT_TEXT: &str = "document-text";

/// The most memory that reading a document may take, in bytes, and the most time, in seconds.
const MEMORY: u64 = 2 << 30;
const SECONDS: u64 = 25;

/// Reads a document from standard input and writes its pages, or why not, as JSON.
pub(crate) fn document_text(format: &str, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let format = Format::of_name(format).ok_or_else(|| UsageError(format!("unknown format `{format}`")))?;
    #[cfg(unix)]
    bound();
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(documents::MOST_BYTES)
        .read_to_end(&mut bytes)?;
    writeln!(terminal.out, "{}", Separate::answer(format, &bytes))?;
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
