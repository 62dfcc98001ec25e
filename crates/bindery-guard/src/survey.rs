//! One pass over a folded text for everything that starts with a word: keywords, broken words, words
//! that make sense backwards or rotated.

use crate::broken::Suspects;
use crate::finding::Reading;
use crate::matcher::Sighting;

/// What the words of a text may be part of.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Keywords of the shipped patterns.
    pub(crate) sightings: Vec<Sighting>,
    /// Where words look broken.
    pub(crate) suspects: Suspects,
    /// Words that make sense backwards or rotated.
    pub(crate) mirrored: Vec<(usize, Reading)>,
}

/// Marks in the gate before the tables.
pub(crate) const STEM: u8 = 1;
pub(crate) const MIRRORED: u8 = 2;
/// The bit of the first table of keywords; those of the others follow.
pub(crate) const KEYWORDS: u32 = 4;
