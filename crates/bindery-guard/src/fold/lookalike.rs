//! Letters that look like Latin ones.

use unicode_security::confusable_detection::skeleton;

/// The letters of the table that the build script makes: Latin, Greek, Cyrillic and Armenian.
pub(crate) const TABLE: std::ops::RangeInclusive<u32> = 0xC0..=0x058F;

/// The ASCII letter or digit that a letter of another script looks like (UTS #39).
pub(crate) fn of(letter: char) -> Option<u8> {
    let lower = letter.to_lowercase().next().unwrap_or(letter);
    let mut buffer = [0; 4];
    [lower, letter].into_iter().find_map(|form| {
        let mut shown = skeleton(form.encode_utf8(&mut buffer));
        match (shown.next(), shown.next()) {
            (Some(only), None) if only.is_ascii_alphanumeric() => Some(only.to_ascii_lowercase() as u8),
            _ => None,
        }
    })
}
