//! What estimates count: words, digits, symbols, and characters by script.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Something of which a text has so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Class {
    /// Runs of letters; an upper-case letter after a lower-case one begins a new run.
    Words,
    /// ASCII letters.
    Letters,
    /// Letters after the eighth of their word.
    Long,
    /// Runs of ASCII digits.
    Numbers,
    /// ASCII digits.
    Digits,
    /// Other ASCII characters that differ from the character before.
    Symbols,
    /// Other ASCII characters that equal the character before.
    Repeats,
    /// Runs of line breaks.
    Breaks,
    /// Runs of at least two spaces, or with a tab.
    Blanks,
    /// Latin letters outside ASCII.
    Latin,
    /// Greek and Cyrillic.
    GreekCyrillic,
    /// Hebrew, Arabic and their neighbours.
    Semitic,
    /// The scripts of India, Thai, Lao, Tibetan, Burmese.
    Indic,
    /// Korean.
    Hangul,
    /// Japanese syllables.
    Kana,
    /// Chinese characters, their punctuation and full-width forms.
    Han,
    /// Everything else: dashes and quotes, symbols, emoji, other scripts.
    Other,
}

impl Class {
    /// How many there are.
    const COUNT: usize = Self::Other as usize + 1;

    /// The class of a character outside ASCII.
    fn of_wide(c: char) -> Self {
        match u32::from(c) {
            ..=0x24f | 0x1e00..=0x1eff => Self::Latin,
            0x370..=0x52f => Self::GreekCyrillic,
            0x590..=0x8ff => Self::Semitic,
            0x900..=0x109f => Self::Indic,
            0x1100..=0x11ff | 0xac00..=0xd7af => Self::Hangul,
            0x3040..=0x30ff => Self::Kana,
            0x2e80..=0x9fff | 0xf900..=0xfaff | 0xff00..=0xffef | 0x2_0000..=0x3_ffff => Self::Han,
            _ => Self::Other,
        }
    }
}

/// Tokens per occurrence of a class.
pub(crate) type Weights = BTreeMap<Class, f64>;

/// What the run consists of that the reader is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Start,
    /// A word, with its letters so far.
    Word(u32),
    Number,
    Symbols,
    Breaks,
    /// One space so far.
    Space,
    /// Spaces that were counted as a run.
    Blank,
    Foreign,
}

/// How often each class occurs in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    counts: [u64; Class::COUNT],
}

impl Tally {
    /// Counts the classes of a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut tally = Self {
            counts: [0; Class::COUNT],
        };
        let (mut run, mut before) = (Run::Start, '\0');
        for c in text.chars() {
            run = if c.is_ascii() {
                tally.ascii(run, before, c)
            } else {
                tally.wide(run, c)
            };
            before = c;
        }
        tally
    }

    /// How often a class occurs.
    pub(crate) fn get(&self, class: Class) -> u64 {
        self.counts.get(class as usize).copied().unwrap_or_default()
    }

    fn add(&mut self, class: Class) {
        if let Some(count) = self.counts.get_mut(class as usize) {
            *count += 1;
        }
    }

    fn ascii(&mut self, run: Run, before: char, c: char) -> Run {
        match c {
            'a'..='z' | 'A'..='Z' => {
                self.add(Class::Letters);
                let hump = c.is_ascii_uppercase() && before.is_lowercase();
                self.letter(if hump { Run::Start } else { run })
            }
            '0'..='9' => {
                self.add(Class::Digits);
                self.begin(run, Run::Number, Class::Numbers)
            }
            '\r' | '\n' => self.begin(run, Run::Breaks, Class::Breaks),
            ' ' if !matches!(run, Run::Space | Run::Blank) => Run::Space,
            ' ' | '\t' => self.begin(run, Run::Blank, Class::Blanks),
            _ => {
                self.add(if c == before {
                    Class::Repeats
                } else {
                    Class::Symbols
                });
                Run::Symbols
            }
        }
    }

    fn wide(&mut self, run: Run, c: char) -> Run {
        let class = Class::of_wide(c);
        self.add(class);
        if class == Class::Latin {
            self.letter(run)
        } else {
            Run::Foreign
        }
    }

    /// Takes a letter into the word that the run is, or into a new one.
    fn letter(&mut self, run: Run) -> Run {
        let Run::Word(letters) = run else {
            self.add(Class::Words);
            return Run::Word(1);
        };
        if letters >= 8 {
            self.add(Class::Long);
        }
        Run::Word(letters.saturating_add(1))
    }

    /// Stays in a run, or counts the one that begins.
    fn begin(&mut self, run: Run, next: Run, class: Class) -> Run {
        if run != next {
            self.add(class);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_is_told_apart() {
        let tally = Tally::of("getHttpCode  42==  é\tЖא ก한か中。—\n\n\nx");
        // In the order of the classes.
        assert_eq!(tally.counts, [5, 12, 0, 1, 2, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 2, 1]);
    }

    #[test]
    fn long_words_cost_more_than_short_ones() {
        assert_eq!(Tally::of("internationalisation").get(Class::Long), 12);
        assert_eq!(Tally::of("in ter nat ion").get(Class::Long), 0);
    }
}
