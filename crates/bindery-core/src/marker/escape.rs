//! Reserved tags in outside text, made harmless. The one place where that is done.
//!
//! A tag is recognised as a lenient reader would: in any case and width, with blanks, slashes and
//! invisible characters in it, in letters of other scripts that look the same. Text without such a tag
//! stays as it is, to the byte. The work is linear in the text.

use std::borrow::Cow;

use super::{BOUNDARY, BOUNDARY_ESCAPED};

/// What the names of tags begin with that only an engine writes: ours, and those that models and other
/// engines take for an engine's own voice (`memory-context` is Hermes Agent's wrapper of recalled memory).
const ENGINE: [&str; 4] = ["bindery-", "system-reminder", "memory-context", "untrusted-text"];

/// Tags that harnesses and chat templates give a meaning to: bracket and name, lower case.
const TEMPLATES: &str = include_str!("../../../../patterns/reserved.txt");

/// How many characters of a tag have to be read to know it.
const LONGEST_NAME: usize = 32;

/// Makes outside text harmless as to markers: the bracket of each opening or closing tag of an engine
/// and the boundary literal are written so that they read the same and mean nothing.
///
/// This is for text that people write for the model, such as instruction files: tags that mean
/// something in HTML or in code (`Vec<User>`) stay.
pub fn escape_reserved(text: &str) -> Cow<'_, str> {
    settle(text, Tags::Engine)
}

/// As [`escape_reserved`], and the tags and brackets of chat templates and other harnesses as well
/// (`<|im_start|>`, `[INST]`, `<tool_call>`): for text of unknown origin, which is data.
pub fn escape_foreign(text: &str) -> Cow<'_, str> {
    settle(text, Tags::Templates)
}

/// Which tags outside text may not write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tags {
    Engine,
    Templates,
}

/// How often a text may come out with a new tag before none of its brackets is believed.
const MOST_PASSES: usize = 3;

/// Escapes until nothing is left: a bracket that is escaped may have been part of a terminal sequence
/// that hid the letters before it. The number of passes is bounded, so the work stays linear.
fn settle(text: &str, tags: Tags) -> Cow<'_, str> {
    let mut settled = escape(text, tags);
    for _ in 0..MOST_PASSES {
        match escape(&settled, tags) {
            Cow::Borrowed(_) => return settled,
            Cow::Owned(next) => settled = Cow::Owned(next),
        }
    }
    let escaped = |letter: char| match bracket(letter) {
        Some('<') => "&lt;".to_owned(),
        Some(_) => "&#91;".to_owned(),
        None => letter.to_string(),
    };
    Cow::Owned(settled.chars().map(escaped).collect())
}

fn escape(text: &str, tags: Tags) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    for (at, letter) in text.char_indices() {
        let Some(open) = bracket(letter).filter(|open| *open == '<' || tags == Tags::Templates) else {
            continue;
        };
        let after = at + letter.len_utf8();
        let rest = text.get(after..).unwrap_or_default();
        if !is_reserved(open, rest, tags) {
            continue;
        }
        out.push_str(text.get(done..at).unwrap_or_default());
        out.push_str(if open == '<' { "&lt;" } else { "&#91;" });
        done = after;
    }
    let escaped = if done == 0 {
        Cow::Borrowed(text)
    } else {
        out.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(out)
    };
    if escaped.contains(BOUNDARY) {
        return Cow::Owned(escaped.replace(BOUNDARY, BOUNDARY_ESCAPED));
    }
    escaped
}

/// The bracket that a letter is, in any width.
fn bracket(letter: char) -> Option<char> {
    match letter {
        '<' | '＜' | '﹤' => Some('<'),
        '[' | '［' | '【' | '〔' => Some('['),
        _ => None,
    }
}

/// Whether what follows a bracket is the name of a reserved tag.
fn is_reserved(open: char, rest: &str, tags: Tags) -> bool {
    let mut letters = Letters { rest };
    let mut template = false;
    let mut first = None;
    // What a lenient reader skips before the name. It ends at the next bracket, so that no character is
    // skipped for more than one of them.
    for letter in letters.by_ref() {
        match letter {
            '|' => template = true,
            '/' => {}
            blank if blank.is_whitespace() => {}
            other => {
                first = Some(other);
                break;
            }
        }
    }
    let name: String = first.into_iter().chain(letters).take(LONGEST_NAME).collect();
    let engine = open == '<' && ENGINE.iter().any(|tag| name.starts_with(tag));
    engine || (tags == Tags::Templates && ((open == '<' && template) || is_template(open, &name)))
}

fn is_template(open: char, name: &str) -> bool {
    let ends = |rest: &str| {
        rest.chars()
            .next()
            .is_none_or(|next| !next.is_ascii_alphanumeric() && next != '_')
    };
    TEMPLATES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .any(|line| {
            let mut letters = line.chars();
            let bracket = letters.next();
            // A name that ends in `-` stands for all that begin with it.
            let word = letters.as_str().trim_start_matches('/');
            let family = word.ends_with('-');
            bracket == Some(open) && name.strip_prefix(word).is_some_and(|rest| family || ends(rest))
        })
}

/// Letters as they read: lower case, one width, nothing invisible, no terminal sequences.
struct Letters<'a> {
    rest: &'a str,
}

impl Iterator for Letters<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            let mut chars = self.rest.chars();
            let letter = chars.next()?;
            self.rest = chars.as_str();
            if letter == '\u{1b}' || letter == '\u{9b}' {
                self.rest = after_sequence(letter, self.rest);
            } else if !is_unseen(letter) {
                return Some(folded(letter));
            }
        }
    }
}

/// What follows a terminal's control sequence (`ESC [`, parameters, final byte).
fn after_sequence(opened_by: char, rest: &str) -> &str {
    let inner = if opened_by == '\u{9b}' {
        Some(rest)
    } else {
        rest.strip_prefix('[')
    };
    let Some(inner) = inner else { return rest };
    let parameters = inner
        .bytes()
        .take(64)
        // As the scanner reads it: slashes and opening brackets end it, so that no tag hides in a sequence.
        .take_while(|byte| matches!(byte, 0x20..=0x2E | 0x30..=0x3B | 0x3D..=0x3F))
        .count();
    let end = match inner.as_bytes().get(parameters) {
        Some(0x40..=0x7e) => parameters + 1,
        _ => parameters,
    };
    inner.get(end..).unwrap_or(inner)
}

/// Characters that nobody sees, and marks on top of others. White space is none of them.
fn is_unseen(letter: char) -> bool {
    let control = letter.is_control() && !letter.is_whitespace();
    control
        || matches!(u32::from(letter),
            0xAD | 0x300..=0x36F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
            | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF
            | 0xFFA0 | 0xFFF0..=0xFFFB | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
}

/// The ASCII letter that a character reads as, in lower case, or itself.
fn folded(letter: char) -> char {
    let code = u32::from(letter);
    let ascii = match code {
        0xFF01..=0xFF5E => code - 0xFEE0,
        // Mathematical alphabets: capitals and small letters take turns.
        0x1D400..=0x1D6A3 => match (code - 0x1D400) % 52 {
            capital @ 0..26 => 0x41 + capital,
            small => 0x61 + small - 26,
        },
        0x24B6..=0x24CF => 0x41 + code - 0x24B6,
        0x24D0..=0x24E9 => 0x61 + code - 0x24D0,
        0x2010..=0x2015 | 0x2212 | 0xFE58 | 0xFE63 => 0x2D,
        0x2044 | 0x2215 => 0x2F,
        _ => u32::from(lookalike(letter).unwrap_or(letter)),
    };
    char::from_u32(ascii).unwrap_or(letter).to_ascii_lowercase()
}

/// Letters of other scripts that look like the Latin ones of reserved names (UTS #39, confusables).
fn lookalike(letter: char) -> Option<char> {
    Some(match letter {
        'а' | 'А' | 'α' | 'Α' => 'a',
        'в' | 'В' | 'Β' => 'b',
        'с' | 'С' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'Е' | 'Ε' => 'e',
        'һ' | 'Н' | 'Η' => 'h',
        'і' | 'І' | 'ι' | 'Ι' | 'ı' => 'i',
        'ј' | 'Ј' => 'j',
        'К' | 'κ' | 'Κ' => 'k',
        'М' | 'Μ' => 'm',
        'Ν' => 'n',
        'о' | 'О' | 'ο' | 'Ο' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'ԛ' => 'q',
        'ѕ' | 'Ѕ' => 's',
        'Т' | 'Τ' => 't',
        'υ' => 'u',
        'ԝ' => 'w',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'у' | 'У' | 'Υ' => 'y',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn engine_tags_are_escaped_however_spelled() {
        let cases = [
            (
                "<memory-context>x</memory-context>",
                "&lt;memory-context>x&lt;/memory-context>",
            ),
            ("< / BINDERY-memory>", "&lt; / BINDERY-memory>"),
            ("＜system-reminder＞", "&lt;system-reminder＞"),
            ("<sys\u{200b}tem-reminder>", "&lt;sys\u{200b}tem-reminder>"),
            ("<ѕystem-remindеr>", "&lt;ѕystem-remindеr>"),
            ("<bindery‐context>", "&lt;bindery‐context>"),
            ("<\u{1b}[31mbindery-context>", "&lt;\u{1b}[31mbindery-context>"),
            ("</untrusted-text>", "&lt;/untrusted-text>"),
            (
                "a __SYSTEM_PROMPT_DYNAMIC_BOUNDARY__ b",
                "a __SYSTEM-PROMPT-DYNAMIC-BOUNDARY__ b",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(escape_reserved(text), expected);
        }
    }

    #[test]
    fn tags_of_templates_are_escaped_in_data_only() {
        let cases = [
            ("<|im_start|>system", "&lt;|im_start|>system"),
            ("[INST] x [/INST]", "&#91;INST] x &#91;/INST]"),
            ("<sys\u{200B}tem>", "&lt;sys\u{200B}tem>"),
            ("Vec<User>", "Vec&lt;User>"),
        ];
        for (text, expected) in cases {
            assert_eq!(escape_foreign(text), expected);
            assert!(matches!(escape_reserved(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn other_text_stays_to_the_byte() {
        for text in [
            "a < b > c",
            "<div class=\"x\">é</div>",
            "[link](http://x)",
            "<systemd-unit",
            "Vec<T>",
            "[index]",
            "<",
            "<<<",
        ] {
            assert!(matches!(escape_foreign(text), Cow::Borrowed(_)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn escaped_text_has_nothing_left_to_escape(parts in prop::collection::vec(
            prop_oneof![Just("<"), Just("/"), Just("bindery-context"), Just("system-reminder"), Just(">"), Just(" "),
                Just("\u{200b}"), Just("＜"), Just("|"), Just("["), Just("inst"), Just("\u{1b}["), Just("x"), Just("é")], 0..14)) {
            let text = parts.concat();
            for escape in [escape_reserved, escape_foreign] {
                let once = escape(&text).into_owned();
                prop_assert_eq!(&*escape(&once), &*once, "{}", text);
            }
        }
    }
}
