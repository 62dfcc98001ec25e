//! Documents that somebody hands to an agent: text, Markdown, HTML, PDF, and images.
//!
//! Reading is bounded and never fails in the middle: a document comes out as text with its pages, as an image, or as
//! a reason in plain words. Which parts of a long one fit a question is decided in [`excerpts`], from values alone.

mod convert;
pub mod excerpts;
mod html;
mod pdf;
mod problem;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::path::Path;

use bindery_core::Media;
use imagesize::ImageType;

use crate::dialect::Decode;
use crate::reading::{Contents, Reader, decode};

pub use convert::{Convert, Converted, Format, InProcess, Separate};
pub use problem::Unusable;

/// The most bytes of a document. A larger one is for an agent's tools, which stream.
pub const MOST_BYTES: u64 = 64 << 20;

/// The most bytes of a document's text.
const MOST_TEXT: usize = 16 << 20;

/// A document as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its path as it was given.
    pub name: String,
    /// What is in it.
    pub content: Content,
    /// What was mended or left out on the way, for people.
    pub remarks: Vec<String>,
}

/// What is in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(Pages),
    /// An image.
    Image(Media),
}

/// The text of a document, and where its pages begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pages {
    /// What it was: `text`, `Markdown`, `HTML`, `PDF`.
    pub kind: &'static str,
    /// The text of all pages.
    pub text: String,
    /// The byte of the text at which each page begins; empty for what has no pages.
    pub begins: Vec<usize>,
}

/// Reads a document. `convert` reads what is no text.
pub fn read(path: &Path, convert: &dyn Convert) -> Result<Document, Unusable> {
    let name = path.to_string_lossy().into_owned();
    let contents = Reader::new()
        .read(path, MOST_BYTES)
        .map_err(Unusable::Unreadable)?;
    if contents.is_bounded() {
        return Err(Unusable::TooLarge { size: contents.size });
    }
    let (content, remarks) = of_bytes(path, &name, &contents, convert)?;
    Ok(Document {
        name,
        content,
        remarks,
    })
}

fn of_bytes(
    path: &Path,
    name: &str,
    contents: &Contents,
    convert: &dyn Convert,
) -> Result<(Content, Vec<String>), Unusable> {
    let bytes = &contents.bytes;
    if bytes.is_empty() {
        return Err(Unusable::Empty);
    }
    if let Some(kind) = image_type(bytes) {
        return image(name, kind, bytes).map(|media| (Content::Image(media), Vec::new()));
    }
    // The header may stand behind some rubbish (ISO 32000, annex on implementation limits of readers).
    let head = bytes.get(..bytes.len().min(1_024)).unwrap_or_default();
    if memchr_of(head, b"%PDF-") {
        let read = convert.convert(Format::Pdf, bytes)?;
        let remarks = read.remarks.clone();
        return of_pages(&read.pages).map(|pages| (Content::Text(pages), remarks));
    }
    let (text, mut remarks) = text(bytes)?;
    let mut pages = if is_html(path, &text) {
        let read = convert.convert(Format::Html, text.as_bytes())?;
        remarks.extend(read.remarks);
        Pages::plain("HTML", read.pages.concat())
    } else if has_extension(path, &["md", "markdown", "mdx"]) {
        Pages::plain("Markdown", text)
    } else {
        Pages::plain("text", text)
    };
    if pages.text.trim().is_empty() {
        return Err(Unusable::Empty);
    }
    if pages.text.len() > MOST_TEXT {
        let end = pages.text.floor_char_boundary(MOST_TEXT);
        remarks.push(format!(
            "only the first {MOST_TEXT} of {} bytes of its text are used",
            pages.text.len()
        ));
        pages.text.truncate(end);
    }
    Ok((Content::Text(pages), remarks))
}

impl Pages {
    fn plain(kind: &'static str, text: String) -> Self {
        Self {
            kind,
            text,
            begins: Vec::new(),
        }
    }

    /// The page, from 1, that a byte of the text stands on.
    pub fn page(&self, byte: usize) -> Option<usize> {
        (!self.begins.is_empty()).then(|| self.begins.partition_point(|begins| *begins <= byte).max(1))
    }
}

/// One text of all pages: each begins with a line that names it, so that its number survives wherever the
/// text is read.
fn of_pages(pages: &[String]) -> Result<Pages, Unusable> {
    if pages.iter().all(|page| page.trim().is_empty()) {
        return Err(Unusable::NoText { pages: pages.len() });
    }
    let mut text = String::new();
    let mut begins = Vec::with_capacity(pages.len());
    for (index, page) in pages.iter().enumerate() {
        begins.push(text.len());
        // Writing to a string cannot fail.
        let _ = write!(text, "[page {}]\n{}\n\n", index + 1, page.trim());
    }
    Ok(Pages {
        kind: "PDF",
        text,
        begins,
    })
}

fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match imagesize::image_type(bytes).ok()? {
        ImageType::Png => Some("image/png"),
        ImageType::Jpeg => Some("image/jpeg"),
        ImageType::Gif => Some("image/gif"),
        ImageType::Webp => Some("image/webp"),
        _ => None,
    }
}

fn image(name: &str, kind: &'static str, bytes: &[u8]) -> Result<Media, Unusable> {
    let size = imagesize::blob_size(bytes)
        .map_err(|_| Unusable::BrokenImage("it ends before it says how large it is".to_owned()))?;
    let pixels = u32::try_from(size.width)
        .ok()
        .zip(u32::try_from(size.height).ok());
    Ok(Media::of_bytes(kind, name, bytes, pixels))
}

/// The text, if these bytes are text.
fn text(bytes: &[u8]) -> Result<(String, Vec<String>), Unusable> {
    let decoded = decode(bytes, Decode::Detect);
    if let Some(at) = decoded.first_nul {
        return Err(Unusable::Binary { at });
    }
    let replaced = decoded.text.matches(char::REPLACEMENT_CHARACTER).count();
    // Text in an old code page has some of these; what is no text has many.
    if replaced * 20 > decoded.text.chars().count() {
        return Err(Unusable::Binary {
            at: decoded.first_invalid.unwrap_or_default(),
        });
    }
    let remark = decoded.first_invalid.map(|at| {
        let seems = decoded
            .looks_like
            .map(|name| format!("; it looks like {name}"))
            .unwrap_or_default();
        format!("it is not valid text from byte {at} on{seems}: {replaced} characters are replaced")
    });
    let text = decoded.text.strip_prefix('\u{feff}').map(str::to_owned);
    Ok((text.unwrap_or(decoded.text), remark.into_iter().collect()))
}

fn is_html(path: &Path, text: &str) -> bool {
    let head: String = text.trim_start().chars().take(15).collect();
    let head = head.to_ascii_lowercase();
    has_extension(path, &["html", "htm", "xhtml"])
        || head.starts_with("<!doctype html")
        || head.starts_with("<html")
}

fn has_extension(path: &Path, any: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| any.iter().any(|one| extension.eq_ignore_ascii_case(one)))
}

fn memchr_of(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
