//! Folding of one letter.

use unicode_normalization::char::decompose_compatible;
use unicode_normalization::char::is_combining_mark;

use super::{lookalike, table};
use crate::view::View;

/// Characters that show nothing and change no meaning here (Unicode `Default_Ignorable_Code_Point`,
/// with the interlinear annotation marks).
pub(super) fn is_ignorable(letter: char) -> bool {
    matches!(u32::from(letter),
        0xAD | 0x34F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F
        | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB
        | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
}

/// Blanks beyond ASCII, the empty Braille cell among them.
pub(super) fn is_blank(letter: char) -> bool {
    matches!(
        u32::from(letter),
        0x85 | 0xA0 | 0x1680 | 0x2000..=0x200A | 0x2028 | 0x2029 | 0x202F | 0x205F | 0x2800 | 0x3000
    )
}

/// ASCII for typographic and CJK punctuation.
fn punctuation(letter: char) -> Option<&'static str> {
    Some(match letter {
        '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' | '\u{2032}' | '\u{2BC}' => "'",
        '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{201F}' | '«' | '»' | '「' | '」' | '『' | '』' | '《'
        | '》' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        '。' | '\u{06D4}' | '\u{0964}' => ".",
        '、' | '\u{060C}' => ",",
        '\u{061F}' | '¿' => "?",
        '\u{061B}' => ";",
        '【' | '〔' => "[",
        '】' | '〕' => "]",
        '•' | '·' | '∙' | '‧' => "*",
        _ => return None,
    })
}

/// Letters that only differ in spelling habits, and Latin ones that decomposition leaves alone.
fn variant(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ı' | 'ɪ' => "i",
        'ł' | 'Ł' | 'ʟ' => "l",
        'đ' | 'Đ' | 'ð' | 'ᴅ' => "d",
        'ø' | 'Ø' => "o",
        'ß' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ᴀ' => "a",
        'ʙ' => "b",
        'ᴇ' => "e",
        'ꜰ' => "f",
        'ɢ' => "g",
        'ʜ' => "h",
        'ᴊ' => "j",
        'ᴋ' => "k",
        'ᴍ' => "m",
        'ɴ' => "n",
        'ᴘ' => "p",
        'ʀ' => "r",
        'ꜱ' => "s",
        'ᴛ' => "t",
        'ᴜ' => "u",
        'ʏ' => "y",
        'أ' | 'إ' | 'آ' | 'ٱ' => "ا",
        'ى' | 'ی' => "ي",
        'ک' => "ك",
        'ة' => "ه",
        'ё' | 'Ё' => "е",
        _ => return None,
    })
}

/// Negative circled and squared capitals and regional indicators, which have no decomposition.
fn enclosed(letter: char) -> Option<char> {
    let code = u32::from(letter);
    let at = match code {
        0x1F150..=0x1F169 => code - 0x1F150,
        0x1F170..=0x1F189 => code - 0x1F170,
        0x1F1E6..=0x1F1FF => code - 0x1F1E6,
        _ => return None,
    };
    char::from_u32(u32::from('a') + at)
}

/// Scripts whose letters are kept as written.
fn stays(code: u32) -> bool {
    matches!(code,
        0x0370..=0x1CFF | 0x2E80..=0x2FFF | 0x3001..=0x318F | 0x3400..=0x9FFF | 0xA000..=0xA6FF
        | 0xA840..=0xD7FF | 0x20000..=0x3FFFF)
}

/// Letters that are kept in any case: Han, kana and Hangul, but for the marks among them.
pub(super) fn is_settled(code: u32) -> bool {
    matches!(code, 0x3041..=0x3096 | 0x30A1..=0x30FA | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3)
}

/// Scripts whose letters have one case and, from the first to the last of these, are no marks.
fn has_one_case(code: u32) -> bool {
    matches!(code, 0x0430..=0x044F | 0x05D0..=0x05EA | 0x0620..=0x064A | 0x0671..=0x06D3 | 0x0904..=0x0939)
}

/// Marks that readers of Arabic, Hebrew and Devanagari leave out at will.
fn is_optional_mark(code: u32) -> bool {
    matches!(code, 0x0591..=0x05C7 | 0x0610..=0x061A | 0x0640 | 0x064B..=0x065F | 0x0670 | 0x093C)
}

/// Appends the folded form of `letter`. `latin` says that it stands in a Latin word, so that a
/// look-alike counts as the Latin letter.
pub(super) fn fold_letter(letter: char, latin: bool, source: usize, view: &mut View) {
    let width = letter.len_utf8();
    let code = u32::from(letter);
    if is_ignorable(letter) || is_optional_mark(code) || (0x80..0xA0).contains(&code) {
        return;
    }
    if let Some(ascii) = punctuation(letter).or_else(|| variant(letter)) {
        view.push_str(ascii, source, width);
        return;
    }
    if let Some(ascii) = enclosed(letter) {
        view.push(ascii.to_ascii_lowercase() as u8, source, width);
        return;
    }
    if latin && let Some(ascii) = lookalike(letter) {
        view.push(ascii, source, width);
        return;
    }
    let mut buffer = [0; 4];
    if has_one_case(code) {
        view.push_str(letter.encode_utf8(&mut buffer), source, width);
        return;
    }
    let mut push = |part: char| {
        for lower in part.to_lowercase() {
            let after_latin = view.text().last().is_some_and(u8::is_ascii);
            if after_latin && is_combining_mark(lower) {
                continue;
            }
            view.push_str(lower.encode_utf8(&mut buffer), source, width);
        }
    };
    if stays(code) {
        push(letter);
    } else {
        decompose_compatible(letter, push);
    }
}

/// The ASCII letter or digit that a letter looks like, from the table where it is in it.
pub(super) fn lookalike(letter: char) -> Option<u8> {
    let at = u32::from(letter).checked_sub(*lookalike::TABLE.start());
    match at.and_then(|at| LOOKALIKES.get(usize::try_from(at).ok()?)) {
        Some(0) => None,
        Some(ascii) => Some(*ascii),
        None => lookalike::of(letter),
    }
}

/// What the build script made of [`lookalike::of`] for the letters that occur.
static LOOKALIKES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/lookalikes.bin"));

/// Whether the letter is of a script that has look-alikes of Latin letters: Latin beyond ASCII, Greek,
/// Cyrillic, Armenian, Cherokee, Lisu and the letter-like symbols.
pub(super) fn may_imitate(letter: char) -> bool {
    matches!(u32::from(letter),
        0xC0..=0x058F | 0x13A0..=0x13FF | 0x1C80..=0x1CBF | 0x1D00..=0x1DBF | 0x2100..=0x218F | 0x2C60..=0x2DFF
        | 0xA4D0..=0xA4FF | 0xA640..=0xA7FF | 0xAB30..=0xABBF | 0x10280..=0x1034F | 0x10400..=0x1044F)
}

/// Decides, word by word, whether look-alikes count as Latin.
#[derive(Debug, Default)]
pub(super) struct Lookalikes {
    end: usize,
    latin: bool,
}

/// Characters before a letter that are looked at.
const REACH: usize = 48;

impl Lookalikes {
    /// Whether the letter at `at` stands in a word that reads as Latin: it has an ASCII letter and
    /// every other letter looks like one, or all of it looks Latin and Latin words stand beside it.
    pub(super) fn covers(&mut self, source: &str, at: usize) -> bool {
        if at >= self.end {
            self.judge(source, at);
        }
        self.latin
    }

    /// Where the word ends that was looked at last.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    fn judge(&mut self, source: &str, at: usize) {
        let letters = table::letters();
        let bytes = source.as_bytes();
        let (mut has_ascii, mut has_foreign, mut has_unlike) = (false, false, false);
        self.end = at;
        loop {
            let (letter, width) = match *bytes.get(self.end..).unwrap_or_default() {
                [first @ 0xC2..=0xDF, second, ..] => (letters.short(first, second), 2),
                [first @ ..0x80, ..] if !first.is_ascii_alphanumeric() => break,
                _ => match source.get(self.end..).and_then(|rest| rest.chars().next()) {
                    Some(letter) => (letters.of(letter), letter.len_utf8()),
                    None => break,
                },
            };
            if !letter.is_in_word() {
                break;
            }
            has_ascii |= width == 1 && letter.is_letter();
            has_foreign |= width > 1 && letter.is_letter();
            has_unlike |= letter.is_unlike();
            self.end += width;
        }
        self.end = self.end.max(at + 1);
        self.latin = has_foreign && !has_unlike && (has_ascii || self.follows_or_precedes_latin(source, at));
    }

    /// Whether the word from `at` on goes on from an ASCII letter, or stands beside one.
    fn follows_or_precedes_latin(&self, source: &str, at: usize) -> bool {
        let letters = table::letters();
        let before = source.get(..at).unwrap_or_default();
        let mut head = before
            .chars()
            .rev()
            .take(REACH)
            .take_while(|letter| letters.of(*letter).is_in_word());
        if head.any(|letter| letter.is_ascii_alphabetic()) {
            return true;
        }
        let next = source
            .get(self.end..)
            .unwrap_or_default()
            .trim_start()
            .chars()
            .next();
        let last = before.trim_end().chars().next_back();
        [next, last]
            .into_iter()
            .flatten()
            .any(|letter| letter.is_ascii_alphanumeric())
    }
}
