//! Letters that imitate others, and marks heaped on letters.

use unicode_script::{Script, UnicodeScript};

use super::{Line, Raw};
use crate::finding::{Kind, Severity};

/// Cyrillic and Greek letters that look like Latin ones.
fn is_lookalike(letter: char) -> bool {
    matches!(u32::from(letter), 0x0370..=0x052F)
        && ("авеікмнорсстухјѕԁԛԝһӏАВЕІКМНОРСТУХЈЅԌ".contains(letter)
            || "αικνορυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ".contains(letter))
}

/// Words of Latin letters and look-alikes only, with both in them.
pub(super) fn mixed_words(line: &Line, found: &mut Vec<Raw>) {
    if !line.letters.iter().any(|(_, letter)| is_lookalike(*letter)) {
        return;
    }
    let mut words = Vec::new();
    let mut at = 0;
    while at < line.letters.len() {
        let len = line.run(at, char::is_alphabetic);
        if len >= 3 {
            let word = || line.letters.iter().skip(at).take(len).map(|(_, letter)| *letter);
            let latin = word().filter(char::is_ascii_alphabetic).count();
            let imitations = word().filter(|letter| is_lookalike(*letter)).count();
            if latin > 0 && imitations > 0 && latin + imitations == len {
                words.push((at, at + len));
            }
        }
        at += len.max(1);
    }
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return;
    };
    let severity = match words.len() {
        1 => Severity::Low,
        2 => Severity::Medium,
        _ => Severity::High,
    };
    let reason = format!(
        "{} word{} of Latin letters and look-alikes of another script",
        words.len(),
        if words.len() == 1 { "" } else { "s" }
    );
    found.push(Raw::new(
        "homoglyph.mixed",
        Kind::Homoglyph,
        severity,
        line.span(first.0, last.1),
        reason,
    ));
}

fn is_strike(letter: char) -> bool {
    matches!(u32::from(letter), 0x0334..=0x0338 | 0x20D2..=0x20EA)
}

fn is_mark(letter: char) -> bool {
    matches!(u32::from(letter), 0x0300..=0x036F | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20F0)
}

/// Marks that strike letters out, or three and more on one letter.
pub(super) fn heaped_marks(line: &Line, found: &mut Vec<Raw>) {
    let mut places = Vec::new();
    let all = line.letters.iter().enumerate();
    for (at, (_, letter)) in all.filter(|(_, (_, letter))| is_mark(*letter)) {
        let on_latin = line
            .before(at)
            .is_some_and(|base| base == ' ' || base.is_ascii() || base.script() == Script::Latin);
        let heap = at >= 2 && (1..=2).all(|back| line.letter(at - back).is_some_and(is_mark));
        if (is_strike(*letter) && on_latin) || heap {
            places.push(at);
        }
    }
    if let (Some(first), Some(last)) = (places.first(), places.last()) {
        let severity = if places.len() >= 8 {
            Severity::High
        } else {
            Severity::Low
        };
        let reason = format!(
            "{} combining marks make letters hard to read for people and programs",
            places.len()
        );
        found.push(Raw::new(
            "homoglyph.marks",
            Kind::Homoglyph,
            severity,
            line.span(*first, *last + 1),
            reason,
        ));
    }
}
