//! One pass over a folded text for everything that starts with a word: keywords, broken words, words
//! that make sense backwards or rotated.

use crate::broken::Suspects;
use crate::finding::Reading;
use crate::matcher::Sighting;
use crate::patterns::Keyword;

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

/// What a word is looked for as.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Word {
    /// As a keyword of the shipped patterns.
    Keyword(Keyword),
    /// As a word that makes sense in another reading.
    Mirrored(Reading),
}
