//! The text of a web page, without its scripts and styles.

use super::Unusable;

/// Lines are as long as the page makes them, up to this.
const WIDTH: usize = 10_000;

pub(super) fn text(page: &str) -> Result<String, Unusable> {
    let rendered = html2text::config::plain()
        .no_table_borders()
        .allow_width_overflow()
        .link_footnotes(false)
        .string_from_read(page.as_bytes(), WIDTH);
    rendered.map_err(|error| Unusable::Broken(error.to_string()))
}
