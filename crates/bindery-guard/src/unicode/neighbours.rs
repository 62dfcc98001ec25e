//! What a character is, for the characters beside it.

use unicode_properties::UnicodeEmoji;
use unicode_script::{Script, UnicodeScript};

/// Letters and digits of right-to-left scripts.
pub(super) fn is_rtl(letter: char) -> bool {
    matches!(u32::from(letter),
        0x0590..=0x08FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFE | 0x10800..=0x10FFF | 0x1E800..=0x1EFFF)
}

/// Scripts in which joiners and non-joiners shape the letters.
pub(super) fn takes_joiners(letter: char) -> bool {
    use Script::{
        Arabic, Balinese, Bengali, Chakma, Devanagari, Gujarati, Gurmukhi, Hanifi_Rohingya, Javanese,
        Kannada, Khmer, Lao, Malayalam, Mandaic, Manichaean, Meetei_Mayek, Mongolian, Myanmar, Newa, Nko,
        Oriya, Phags_Pa, Sinhala, Syriac, Tai_Tham, Tamil, Telugu, Thai, Tibetan, Tirhuta,
    };
    !letter.is_ascii()
        && matches!(
            letter.script(),
            Arabic
                | Balinese
                | Bengali
                | Chakma
                | Devanagari
                | Gujarati
                | Gurmukhi
                | Hanifi_Rohingya
                | Javanese
                | Kannada
                | Khmer
                | Lao
                | Malayalam
                | Mandaic
                | Manichaean
                | Meetei_Mayek
                | Mongolian
                | Myanmar
                | Newa
                | Nko
                | Oriya
                | Phags_Pa
                | Sinhala
                | Syriac
                | Tai_Tham
                | Tamil
                | Telugu
                | Thai
                | Tibetan
                | Tirhuta
        )
}

/// Scripts written without blanks, where an invisible one marks words.
pub(super) fn takes_invisible_blanks(letter: char) -> bool {
    use Script::{Han, Hangul, Hiragana, Katakana, Khmer, Lao, Myanmar, Tai_Tham, Thai, Tibetan};
    !letter.is_ascii()
        && matches!(
            letter.script(),
            Han | Hangul | Hiragana | Katakana | Khmer | Lao | Myanmar | Tai_Tham | Thai | Tibetan
        )
}

pub(super) fn is_han(letter: char) -> bool {
    letter.script() == Script::Han
}

pub(super) fn is_hangul(letter: char) -> bool {
    letter.script() == Script::Hangul
}

/// Emoji, their skin tones and their presentation selectors.
pub(super) fn is_emoji_part(letter: char) -> bool {
    letter == '\u{FE0F}' || (!letter.is_ascii() && letter.is_emoji_char_or_emoji_component())
}

/// Letters of words in which an invisible character splits what people read as one.
pub(super) fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric()
        || (letter.is_alphabetic()
            && matches!(
                letter.script(),
                Script::Latin | Script::Cyrillic | Script::Greek | Script::Armenian
            ))
}
