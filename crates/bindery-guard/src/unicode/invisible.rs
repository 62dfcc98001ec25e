//! Zero-width characters, soft hyphens, fillers.

use super::neighbours::{is_emoji_part, is_hangul, is_word, takes_invisible_blanks, takes_joiners};
use super::{Line, Raw, bits};
use crate::finding::{Kind, Reading, Severity};

/// Symbols that smugglers of bits use.
fn is_bit(letter: char) -> bool {
    matches!(u32::from(letter), 0x200B..=0x200F | 0x2060..=0x2064 | 0xFEFF | 0xAD | 0x180E)
}

/// Shortest run of invisible characters that can carry a letter.
const SHORTEST_PAYLOAD: usize = 8;

#[derive(Default)]
struct Tally {
    /// Invisible characters without a reason to be there, by index.
    stray: Vec<usize>,
    /// Those of them between two letters of one word, or beside a blank within a sentence.
    splitting: usize,
    soft_hyphens: Vec<usize>,
}

pub(super) fn inspect(line: &Line, found: &mut Vec<Raw>) {
    let mut tally = Tally::default();
    let mut at = 0;
    while let Some(letter) = line.letter(at) {
        let run = if is_bit(letter) { line.run(at, is_bit) } else { 0 };
        if run >= SHORTEST_PAYLOAD {
            found.push(payload(line, at, run));
            at += run;
            continue;
        }
        if letter == '\u{AD}' {
            tally.soft_hyphens.push(at);
        } else if is_stray(line, at, letter) {
            tally.stray.push(at);
            tally.splitting += usize::from(splits(line, at));
        }
        at += 1;
    }
    report_stray(line, &tally, found);
    report_soft_hyphens(line, &tally.soft_hyphens, found);
}

fn payload(line: &Line, at: usize, len: usize) -> Raw {
    let symbols: Vec<char> = line
        .letters
        .iter()
        .skip(at)
        .take(len)
        .map(|(_, letter)| *letter)
        .collect();
    let text = bits::decode(&symbols);
    let severity = if text.is_some() {
        Severity::Critical
    } else {
        Severity::High
    };
    let reason = format!("a run of {len} invisible characters, enough to carry hidden text");
    Raw::new(
        "invisible.bits",
        Kind::Invisible,
        severity,
        line.span(at, at + len),
        reason,
    )
    .decoded(Reading::InvisibleBits, text)
}

/// Whether an invisible character has no business between its neighbours.
fn is_stray(line: &Line, at: usize, letter: char) -> bool {
    let before = line.before(at);
    let after = line.letter(at + 1);
    let either = |test: fn(char) -> bool| before.is_some_and(test) || after.is_some_and(test);
    match u32::from(letter) {
        0x200C | 0x200D => is_stray_joiner(before, letter, after),
        0x200B | 0x2060 => !either(takes_invisible_blanks) && !either(takes_joiners),
        0xFEFF => !(line.first && at == 0),
        0x034F => either(is_word),
        0x180E | 0x2061..=0x2064 | 0x206A..=0x206F | 0xFFF9..=0xFFFB => true,
        0x115F | 0x1160 | 0x3164 | 0xFFA0 => !either(is_hangul),
        _ => false,
    }
}

/// Whether a joiner or non-joiner has no business between its neighbours.
pub(super) fn is_stray_joiner(before: Option<char>, letter: char, after: Option<char>) -> bool {
    let in_emoji =
        letter == '\u{200D}' && before.is_some_and(is_emoji_part) && after.is_some_and(is_emoji_part);
    !(in_emoji || before.is_some_and(takes_joiners) || after.is_some_and(takes_joiners))
}

fn splits(line: &Line, at: usize) -> bool {
    let seen = |letter: char| is_word(letter) || letter == ' ';
    line.before(at).is_some_and(seen) && line.letter(at + 1).is_some_and(seen)
}

fn report_stray(line: &Line, tally: &Tally, found: &mut Vec<Raw>) {
    let (Some(first), Some(last)) = (tally.stray.first(), tally.stray.last()) else {
        return;
    };
    let count = tally.stray.len();
    let severity = match (tally.splitting, count) {
        (4.., _) => Severity::High,
        (2.., _) => Severity::Medium,
        (_, 4..) if !line.has_rtl => Severity::Medium,
        _ => Severity::Low,
    };
    let reason = if tally.splitting >= 2 {
        format!("{count} invisible characters split words that a person reads as whole")
    } else {
        format!(
            "{count} invisible character{} without a use here",
            if count == 1 { "" } else { "s" }
        )
    };
    found.push(Raw::new(
        "invisible.stray",
        Kind::Invisible,
        severity,
        line.span(*first, *last + 1),
        reason,
    ));
}

/// Soft hyphens at syllables are typesetting; one after most letters is not.
fn report_soft_hyphens(line: &Line, hyphens: &[usize], found: &mut Vec<Raw>) {
    let (Some(first), Some(last)) = (hyphens.first(), hyphens.last()) else {
        return;
    };
    let span = line.span(*first, *last + 1);
    let dense = hyphens
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if b - a <= 2))
        .count();
    let outside = hyphens.iter().any(|at| {
        !(line.before(*at).is_some_and(char::is_alphabetic)
            && line.letter(at + 1).is_some_and(char::is_alphabetic))
    });
    if dense >= 3 {
        let reason = format!("{} soft hyphens split words letter by letter", hyphens.len());
        found.push(Raw::new(
            "invisible.soft-hyphens",
            Kind::Invisible,
            Severity::High,
            span,
            reason,
        ));
    } else if outside {
        let reason = "a soft hyphen outside a word, most likely an accident";
        found.push(Raw::new(
            "invisible.soft-hyphens",
            Kind::Invisible,
            Severity::Low,
            span,
            reason,
        ));
    }
}
