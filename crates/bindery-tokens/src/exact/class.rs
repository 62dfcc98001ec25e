//! What the pre-token rules ask of a character.
//!
//! The classes come from the general categories that `regex-syntax` knows, written into tables by
//! the build script, so that they are of the same Unicode version as the reference's own regular
//! expressions.

/// In `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: may stand in the first, upper part of a word.
pub(crate) const UPPER: u8 = 1;
/// In `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: may stand in the second, lower part of a word.
pub(crate) const LOWER: u8 = 2;
/// In `\p{L}`.
pub(crate) const LETTER: u8 = 4;
/// In `\p{N}`.
pub(crate) const NUMBER: u8 = 8;
/// In `\s`.
pub(crate) const SPACE: u8 = 16;
/// `\r` or `\n`.
pub(crate) const NEWLINE: u8 = 32;

/// Characters a block of the table covers.
pub(crate) const BLOCK: usize = 128;
