//! The text of a web page, without its scripts and styles.

use super::Unusable;
use super::convert::Converted;

/// Lines are as long as the page makes them, up to this.
const WIDTH: usize = 10_000;

pub(super) fn text(page: &[u8]) -> Result<Converted, Unusable> {
    let rendered = html2text::config::plain()
        .no_table_borders()
        .allow_width_overflow()
        .link_footnotes(false)
        .string_from_read(page, WIDTH);
    let text = rendered.map_err(|error| Unusable::Broken(error.to_string()))?;
    Ok(Converted {
        pages: vec![text],
        remarks: Vec::new(),
    })
}
