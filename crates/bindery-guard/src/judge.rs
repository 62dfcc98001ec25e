//! From a match to a finding: what the words mean where they stand.
//!
//! The same words are an attack in prose, an example in code and a rule against the attack after
//! "never". A match is dropped when it is negated, milder when it is shown or mentioned, and worse
//! when it was hidden.

use crate::finding::{Confidence, Position, Reading, Severity};
use crate::patterns::{InCode, Lists, OnTopic, Pattern};

/// How a match stands in its surroundings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) position: Position,
    pub(crate) reading: Reading,
    /// The source differs from what it says: look-alikes, invisible characters, terminal sequences.
    pub(crate) disguised: bool,
    /// The document discusses attacks.
    pub(crate) on_topic: bool,
    pub(crate) wording: Wording,
}

/// What the words around a match make of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wording {
    /// It stands for itself.
    Direct,
    /// It stands between quotation marks.
    Quoted,
    /// It is named as something that others say.
    Mentioned,
    /// Both.
    QuotedMention,
    /// It says the opposite.
    Negated,
}

/// Bytes before a match in which a mention counts.
const MENTION_REACH: usize = 110;
/// Longest distance from a quotation mark to the match it opens or closes.
const QUOTE_REACH: usize = 40;

/// Reads the words around the match at `start..end` of the folded `text`.
pub(crate) fn wording(text: &[u8], start: usize, end: usize, words: &Lists) -> Wording {
    let before = text
        .get(start.saturating_sub(MENTION_REACH)..start)
        .unwrap_or_default();
    let line_start = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let before = before.get(line_start..).unwrap_or_default();
    let before = String::from_utf8_lossy(before);
    if is_negated(&before, &words.negations) {
        return Wording::Negated;
    }
    let inside = text.get(start..end).unwrap_or_default();
    if ends_with_word(before.trim_end(), &words.described) || is_identifier(before.as_bytes(), inside) {
        return Wording::Mentioned;
    }
    let after = text
        .get(end..text.len().min(end + QUOTE_REACH))
        .unwrap_or_default();
    let quoted = is_quoted(before.as_bytes(), after);
    let mentioned = words
        .mentions
        .iter()
        .any(|mention| before.contains(mention.as_str()));
    match (quoted, mentioned) {
        (true, true) => Wording::QuotedMention,
        (true, false) => Wording::Quoted,
        (false, true) => Wording::Mentioned,
        (false, false) => Wording::Direct,
    }
}

/// Whether a negation stands directly before, with at most one more word between.
fn is_negated(before: &str, negations: &[String]) -> bool {
    let trim = |text: &str| {
        text.trim_end_matches([' ', '*', '_', '"', '\'', '`', ':', ','])
            .len()
    };
    let head = before.get(..trim(before)).unwrap_or_default();
    let less_one = head
        .rfind([' ', '\n'])
        .and_then(|at| head.get(..at))
        .unwrap_or_default();
    ends_with_word(head, negations) || ends_with_word(less_one.trim_end(), negations)
}

/// Whether the text ends with one of the words.
fn ends_with_word(text: &str, words: &[String]) -> bool {
    words.iter().any(|word| {
        text.strip_suffix(word.as_str()).is_some_and(|rest| {
            is_unspaced(word)
                || rest
                    .chars()
                    .next_back()
                    .is_none_or(|letter| !letter.is_alphanumeric())
        })
    })
}

/// Whether the match is the tail of a flag or name, such as `--skip-confirmation`.
fn is_identifier(before: &[u8], inside: &[u8]) -> bool {
    let first = inside.iter().find(|byte| !byte.is_ascii_alphanumeric());
    matches!(first, Some(b'-' | b'_'))
        && before
            .last()
            .is_some_and(|byte| matches!(byte, b'-' | b'_' | b'.'))
}

/// Whether a word belongs to a script without blanks between words.
fn is_unspaced(word: &str) -> bool {
    word.chars().next().is_some_and(|letter| letter >= '\u{2E80}')
}

/// Whether a short quotation holds the match: a mark shortly before, and one shortly after.
fn is_quoted(before: &[u8], after: &[u8]) -> bool {
    let is_mark = |byte: &u8| matches!(byte, b'"' | b'`' | b'\'');
    let near = before
        .get(before.len().saturating_sub(QUOTE_REACH)..)
        .unwrap_or(before);
    let Some(opened) = near.iter().rposition(is_mark) else {
        return false;
    };
    // An apostrophe within a word opens nothing.
    let starts_word = opened == 0
        || near
            .get(opened - 1)
            .is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let line_end = after
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(after.len());
    starts_word && after.iter().take(line_end).any(is_mark)
}

/// Distinct words of a document that show that it discusses attacks.
const TOPIC_WORDS: usize = 3;

/// Whether the folded document discusses attacks.
pub(crate) fn is_on_topic(text: &[u8], topics: &aho_corasick::AhoCorasick) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    topics.find_iter(text).any(|found| {
        seen.insert(found.pattern());
        seen.len() >= TOPIC_WORDS
    })
}

/// Severity and confidence of a match; nothing if it is none.
pub(crate) fn judge(pattern: &Pattern, setting: Setting) -> Option<(Severity, Confidence)> {
    let Setting {
        position,
        reading,
        disguised,
        on_topic,
        wording,
    } = setting;
    // A string of JSON is what its reader sees.
    let shown = matches!(reading, Reading::Plain | Reading::JsonString);
    let hidden = disguised || !shown || position.is_hidden();
    if wording == Wording::Negated && !disguised {
        return None;
    }
    let in_code = matches!(position, Position::CodeBlock | Position::InlineCode);
    if disguised || hidden && !in_code && !(on_topic && wording != Wording::Direct) {
        return Some((pattern.severity.raised().max(Severity::High), Confidence::High));
    }
    let mut severity = pattern.severity;
    if on_topic && pattern.on_topic == OnTopic::Milder {
        severity = severity.min(Severity::Low);
    }
    let mut confidence = pattern.confidence;
    let milder = pattern.in_code == InCode::Milder;
    if in_code && milder {
        severity = if on_topic {
            Severity::Low.min(severity)
        } else {
            severity.lowered()
        };
        confidence = Confidence::Low;
    } else if in_code && on_topic {
        severity = severity.lowered();
        confidence = Confidence::Low;
    }
    match wording {
        Wording::QuotedMention => severity = severity.min(Severity::Low),
        Wording::Quoted if on_topic && milder => severity = severity.min(Severity::Low),
        Wording::Mentioned => severity = severity.lowered().lowered(),
        Wording::Quoted if milder => severity = severity.lowered(),
        _ => {}
    }
    if position == Position::Quotation {
        severity = if on_topic {
            severity.lowered().lowered()
        } else {
            severity.lowered()
        };
        confidence = confidence.min(Confidence::Medium);
    }
    Some((severity, confidence))
}

/// Why a match is reported.
pub(crate) fn reason(pattern: &Pattern, setting: Setting) -> String {
    let mut reason = format!("This text {}", pattern.says);
    if setting.reading != Reading::Plain {
        reason.push_str(", written in ");
        reason.push_str(setting.reading.name());
    } else if setting.disguised {
        reason.push_str(", disguised by characters that look like others or like nothing");
    }
    match setting.position {
        Position::Comment => reason.push_str(", in a comment that the rendered page does not show"),
        Position::HiddenMarkup => reason.push_str(", in markup that is not shown"),
        _ => {}
    }
    match setting.wording {
        Wording::Quoted | Wording::QuotedMention => reason.push_str("; it is quoted"),
        Wording::Mentioned => reason.push_str("; it is only mentioned"),
        _ => {}
    }
    reason
}

#[cfg(test)]
mod tests;
