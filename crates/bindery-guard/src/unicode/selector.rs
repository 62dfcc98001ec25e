//! Tag characters and variation selectors.

use super::neighbours::{is_emoji_part, is_han};
use super::{Line, Raw, readable};
use crate::finding::{Kind, Reading, Severity};

fn is_tag(letter: char) -> bool {
    matches!(u32::from(letter), 0xE0000..=0xE007F)
}

pub(super) fn is_selector(letter: char) -> bool {
    matches!(u32::from(letter), 0xFE00..=0xFE0F | 0xE0100..=0xE01EF)
}

pub(super) fn inspect(line: &Line, found: &mut Vec<Raw>) {
    let mut at = 0;
    while let Some(letter) = line.letter(at) {
        let len = if is_tag(letter) {
            let len = line.run(at, is_tag);
            found.extend(tags(line, at, len));
            len
        } else if is_selector(letter) {
            let len = line.run(at, is_selector);
            found.extend(selectors(line, at, len));
            len
        } else {
            1
        };
        at += len;
    }
}

/// England, Scotland, Wales and their like: a black flag, lower-case letters or digits, the end tag.
fn is_flag(line: &Line, at: usize, len: usize) -> bool {
    let name_len = len.saturating_sub(1);
    line.before(at) == Some('\u{1F3F4}')
        && (2..=6).contains(&name_len)
        && line.letter(at + name_len) == Some('\u{E007F}')
        && line
            .letters
            .iter()
            .skip(at)
            .take(name_len)
            .all(|(_, tag)| matches!(u32::from(*tag), 0xE0030..=0xE0039 | 0xE0061..=0xE007A))
}

fn tags(line: &Line, at: usize, len: usize) -> Option<Raw> {
    if is_flag(line, at, len) {
        return None;
    }
    let bytes: Vec<u8> = line
        .letters
        .iter()
        .skip(at)
        .take(len)
        .filter_map(|(_, tag)| u8::try_from(u32::from(*tag) & 0x7F).ok())
        .filter(|byte| (0x20..0x7F).contains(byte))
        .collect();
    let text = readable(&bytes);
    let severity = if text.is_some() {
        Severity::Critical
    } else {
        Severity::High
    };
    let reason = format!("{len} tag characters, which nobody sees and a model reads as letters");
    Some(
        Raw::new(
            "invisible.tags",
            Kind::Invisible,
            severity,
            line.span(at, at + len),
            reason,
        )
        .decoded(Reading::Tags, text),
    )
}

fn selectors(line: &Line, at: usize, len: usize) -> Option<Raw> {
    let base = line.before(at);
    let span = line.span(at, at + len);
    if len == 1 {
        return lone_selector(line.letter(at)?, base, span);
    }
    let bytes: Vec<u8> = line
        .letters
        .iter()
        .skip(at)
        .take(len)
        .filter_map(|(_, letter)| selector_byte(*letter))
        .collect();
    let text = readable(&bytes);
    let severity = match (&text, len) {
        (Some(_), _) => Severity::Critical,
        (None, 2..=3) => Severity::Low,
        (None, _) => Severity::High,
    };
    let reason = format!("a run of {len} variation selectors, which can carry hidden bytes");
    Some(
        Raw::new(
            "invisible.variation-selectors",
            Kind::Invisible,
            severity,
            span,
            reason,
        )
        .decoded(Reading::VariationSelectors, text),
    )
}

/// The byte a selector stands for in the usual smuggling scheme.
fn selector_byte(letter: char) -> Option<u8> {
    let code = u32::from(letter);
    u8::try_from(if code >= 0xE0100 {
        code - 0xE0100 + 16
    } else {
        code - 0xFE00
    })
    .ok()
}

fn lone_selector(selector: char, base: Option<char>, span: std::ops::Range<usize>) -> Option<Raw> {
    let supplementary = u32::from(selector) >= 0xE0100;
    match base {
        Some(base) if supplementary && is_han(base) => None,
        _ if supplementary => Some(Raw::new(
            "invisible.variation-selectors",
            Kind::Invisible,
            Severity::Medium,
            span,
            "a variation selector that belongs to Han characters, after something else",
        )),
        Some(base) if base.is_ascii_alphabetic() && !is_emoji_part(base) => Some(Raw::new(
            "invisible.variation-selectors",
            Kind::Invisible,
            Severity::Low,
            span,
            "a variation selector after a plain letter",
        )),
        _ => None,
    }
}
