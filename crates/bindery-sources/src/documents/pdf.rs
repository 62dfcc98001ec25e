//! The text of a PDF, page by page.

use lopdf::Document;

use super::convert::Converted;
use super::{MOST_TEXT, Unusable};

/// The most pages that are read.
const MOST_PAGES: usize = 5_000;
/// The most bytes that a stream of a page may unpack to.
const MOST_STREAM: usize = 64 << 20;
/// The text of each page.
pub(super) fn pages(bytes: &[u8]) -> Result<Converted, Unusable> {
    let broken = |error: lopdf::Error| Unusable::Broken(error.to_string());
    let document = Document::load_mem(bytes).map_err(|error| match error {
        lopdf::Error::InvalidPassword | lopdf::Error::Decryption(_) => Unusable::Encrypted,
        other => broken(other),
    })?;
    if document.is_encrypted() {
        return Err(Unusable::Encrypted);
    }
    let mut read = Converted::default();
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
