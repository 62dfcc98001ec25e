//! Words of which every match of a part has one: where none of them follows an anchor, the expression need not be
//! tried.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::literals::literals;

/// The beginnings of some words.
pub(super) type Keys = Vec<Vec<u8>>;

/// Most words of a set.
const MOST: usize = 400;
/// Most sets that are worth asking for.
const BEST: usize = 1;

/// What stands directly before a place in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing: the anchor begins here, and what is needed stands behind it.
    Start,
    /// Letters, or what may be some.
    Letters,
    /// What separates words, so that a word starts here, or a run of sentence marks.
    Separator,
}

/// Sets of words, one of each of which stands in every match, where it can be found; the best are first.
pub(super) fn needs(body: &Hir, before: Before) -> Vec<Keys> {
    let mut found = Vec::new();
    candidates(body, before, &mut found);
    best_of(found)
}

fn best_of(mut found: Vec<Keys>) -> Vec<Keys> {
    found.sort_by_cached_key(|keys| (weight_of(keys), keys.clone()));
    found.dedup();
    found.truncate(BEST);
    found
}

fn candidates(body: &Hir, before: Before, found: &mut Vec<Keys>) {
    found.extend(beginnings(body, before));
    match body.kind() {
        HirKind::Concat(parts) => {
            let mut before = before;
            for (place, part) in parts.iter().enumerate() {
                let tail = || parts.get(place..).unwrap_or_default().to_vec();
                if place > 0 {
                    found.extend(beginnings(&Hir::concat(tail()), before));
                }
                match part.kind() {
                    HirKind::Literal(literal) => within(&literal.0, || tail().split_off(1), found),
                    _ => candidates(part, before, found),
                }
                before = behind(part, before);
            }
        }
        HirKind::Literal(literal) => within(&literal.0, Vec::new, found),
        HirKind::Alternation(ways) => found.extend(one_of_each(ways, before)),
        HirKind::Repetition(repeated) if repeated.min > 0 => candidates(&repeated.sub, before, found),
        HirKind::Capture(capture) => candidates(&capture.sub, before, found),
        _ => {}
    }
}

/// Words that start within a literal, which `rest` follows.
fn within(literal: &[u8], rest: impl Fn() -> Vec<Hir>, found: &mut Vec<Keys>) {
    let starts = literal.windows(2).zip(1..).filter(
        |(two, _)| matches!(two, [before, first] if is_between(*before) && first.is_ascii_alphanumeric()),
    );
    for (_, at) in starts {
        let mut parts = vec![Hir::literal(literal.get(at..).unwrap_or_default())];
        parts.extend(rest());
        found.extend(beginnings(&Hir::concat(parts), Before::Separator));
    }
}

/// The best set of each of several ways, together; nothing if one of them has none.
fn one_of_each(ways: &[Hir], before: Before) -> Option<Keys> {
    let mut all = Keys::new();
    for way in ways {
        all.extend(needs(way, before).into_iter().next()?);
    }
    let all = shortest(all);
    (all.len() <= MOST).then_some(all)
}

/// What every match begins with, if it can be found in a text and is worth it.
fn beginnings(body: &Hir, before: Before) -> Option<Keys> {
    if before == Before::Start {
        return None;
    }
    let keys = literals(body).ok()?;
    let good = |key: &Vec<u8>| is_found(key, before) && weight(key) < TOO_COMMON;
    (keys.len() <= MOST && keys.iter().all(good)).then_some(keys)
}

/// Whether a keyword is found. Those of ASCII, Greek and Cyrillic are at the start of a word, but for marks that may
/// stand between words; others at any letter.
fn is_found(key: &[u8], before: Before) -> bool {
    const BETWEEN: &[u8] = br#"*_`>"'#+=/\|,-;:()"#;
    let starts = before == Before::Separator;
    key.first().is_some_and(|first| match first {
        0x80..0xC0 => false,
        0xC0..0xCE | 0xD5.. => true,
        0xCE..0xD5 => starts,
        first => starts && first.is_ascii_graphic() && !BETWEEN.contains(first),
    })
}

/// What stands before the place behind `body`, if that before it is known.
pub(super) fn behind(body: &Hir, before: Before) -> Before {
    let known = |separates: bool| {
        if separates {
            Before::Separator
        } else {
            Before::Letters
        }
    };
    match body.kind() {
        HirKind::Empty | HirKind::Look(_) => before,
        HirKind::Literal(literal) => known(literal.0.last().copied().is_some_and(is_separating)),
        HirKind::Class(Class::Bytes(class)) => {
            let mut ranges = class.ranges().iter();
            known(ranges.all(|range| (range.start()..=range.end()).all(is_separating)))
        }
        HirKind::Class(Class::Unicode(_)) => Before::Letters,
        HirKind::Repetition(repeated) if repeated.min > 0 => behind(&repeated.sub, before),
        HirKind::Repetition(repeated) => either(before, behind(&repeated.sub, before)),
        HirKind::Capture(capture) => behind(&capture.sub, before),
        HirKind::Concat(parts) => parts.iter().fold(before, |before, part| behind(part, before)),
        HirKind::Alternation(ways) => ways
            .iter()
            .map(|way| behind(way, before))
            .reduce(either)
            .unwrap_or(before),
    }
}

/// What is sure where one of two may be.
fn either(one: Before, other: Before) -> Before {
    match (one, other) {
        (Before::Start, _) | (_, Before::Start) => Before::Start,
        (Before::Separator, Before::Separator) => Before::Separator,
        _ => Before::Letters,
    }
}

const fn is_separating(byte: u8) -> bool {
    is_between(byte) && !matches!(byte, b'.' | b'!' | b'?')
}

const fn is_between(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric()
}

/// Words without those that begin with another one: they are found through it.
pub(super) fn shortest(mut all: Keys) -> Keys {
    all.sort();
    // In this order, what begins with a word follows it, with nothing between them but others that do.
    all.dedup_by(|longer, shorter| longer.starts_with(shorter));
    all
}

/// Words that stand everywhere.
const COMMON: [&str; 22] = [
    "with", "from", "this", "that", "your", "the", "and", "you", "for", "all", "any", "are", "not", "but",
    "use", "can", "new", "com", "con", "pro", "pre", "https://",
];

/// Words that technical texts are full of, as far as they are compared.
const FREQUENT: [&str; 103] = [
    "access", "action", "after", "agent", "before", "build", "change", "check", "client", "code", "command",
    "componen", "config", "content", "context", "create", "data", "default", "descript", "document", "does",
    "each", "error", "every", "example", "file", "first", "follow", "function", "get", "has", "have", "how",
    "http", "import", "input", "instruct", "into", "its", "line", "list", "make", "may", "message", "model",
    "must", "name", "need", "now", "one", "only", "other", "our", "out", "output", "path", "per", "process",
    "project", "prompt", "read", "request", "response", "return", "review", "section", "see", "server",
    "set", "should", "skill", "specific", "state", "step", "such", "support", "system", "task", "test",
    "text", "them", "then", "there", "these", "they", "time", "token", "tool", "type", "update", "user",
    "using", "value", "via", "was", "what", "when", "where", "which", "who", "will", "work", "write",
];

/// The weight of what is not worth being looked for.
const TOO_COMMON: usize = 1 << 20;

pub(super) fn weight_of(keys: &[Vec<u8>]) -> usize {
    keys.iter().map(|key| weight(key)).sum()
}

/// How often a keyword may stand in a text, roughly.
fn weight(key: &[u8]) -> usize {
    let word = key.trim_ascii_end();
    let is = |common: &&str| common.as_bytes() == word;
    if word.len() < 3 || COMMON.iter().any(is) {
        return TOO_COMMON;
    }
    // Short keys stand for all words that begin with them.
    if FREQUENT
        .iter()
        .any(|frequent| frequent.as_bytes().starts_with(word))
    {
        return 24;
    }
    match word.len() {
        3 => 12,
        4 => 6,
        5 => 4,
        6 => 3,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::parse;

    fn told(source: &str, starts: bool) -> Vec<String> {
        let before = if starts {
            Before::Separator
        } else {
            Before::Letters
        };
        let sets = needs(&parse(source).unwrap(), before);
        let text = |keys: &Keys| {
            let words = keys.iter().map(|key| String::from_utf8_lossy(key));
            words.collect::<Vec<_>>().join("|")
        };
        sets.iter().map(text).collect()
    }

    #[test]
    fn each_way_has_its_own_word() {
        assert_eq!(
            told("(?:in[ -]+your[ -]+context|the[ -]+prompts?)", true),
            ["context|prompt"]
        );
        assert_eq!(told("(?:in[ -]+your[ -]+context|it)", true), [""; 0]);
    }

    #[test]
    fn words_are_found_where_they_start_only() {
        assert_eq!(told("(?:un)?locked[ -]+doors", true), ["doors"]);
        assert_eq!(told("able[ -]+doors", false), ["doors"]);
        assert_eq!(told("[ -]?doors", false), [""; 0]);
        assert_eq!(told("/etc/shadow[.]?", false), ["etc/shad"]);
        assert_eq!(told("[ -]+[.]?rules", false), [".rules|rules"]);
        assert_eq!(told("[.]+rules", true), [""; 0]);
    }

    #[test]
    fn what_the_anchor_begins_with_is_no_need() {
        let sets = |source: &str| needs(&parse(source).unwrap(), Before::Start);
        assert!(sets("ignore").is_empty());
        assert_eq!(sets("ignore[ -]+rules"), [[b"rules"]]);
        assert_eq!(
            sets("(?:\u{5ffd}\u{7565})[^.]{0,9}\u{89c4}\u{5219}"),
            [["\u{89c4}\u{5219}".as_bytes()]]
        );
        assert!(sets("(?:\u{5ffd})?\u{7565}").is_empty());
    }

    #[test]
    fn optional_parts_are_no_need() {
        assert_eq!(told("(?:red[ -]+){0,2}doors", true), ["doors"]);
    }
}
