//! Whether what changed is a time, an identifier or a count: what changes by itself.

use super::Change;

/// Names of days and months; their first three letters stand for them, too.
const CALENDAR: [&str; 19] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// What a number counts that grows with time.
const UNITS: [&str; 6] = ["second", "minute", "hour", "day", "week", "ago"];

/// The code of advice for text that changes by itself: `clock`, `identifier`, `counter`.
pub(super) fn of(change: &Change) -> Option<&'static str> {
    let (old, new) = change.words.as_ref()?;
    let both = |is: fn(&str) -> bool| is(old) && is(new);
    let digits = |word: &str| word.bytes().filter(u8::is_ascii_digit).count();
    match () {
        () if both(is_calendar) => Some("clock"),
        () if digits(old) == 0 && digits(new) == 0 => None,
        () if both(is_clock) || both(is_epoch) => Some("clock"),
        () if both(is_identifier) => Some("identifier"),
        () if counts_time(change, new) => Some("clock"),
        () => Some("counter"),
    }
}

/// Letters and digits of a word, without what stands around them.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_ascii_alphanumeric())
}

/// A day or a month, written out or cut to three letters.
fn is_calendar(word: &str) -> bool {
    let word = bare(word).to_ascii_lowercase();
    CALENDAR
        .iter()
        .any(|name| *name == word || name.get(..3) == Some(&*word))
}

/// `08:00:01`, `2026-11-30`, `30/11/2026`, `10:00`.
fn is_clock(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    digits >= 3
        && word.contains([':', '-', '/'])
        && word.len() <= 32
        && {
            let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
            letters <= digits
        }
        && !is_identifier(word)
}

/// Seconds or milliseconds since 1970.
fn is_epoch(word: &str) -> bool {
    let number = word.rsplit(['=', ':']).next().map(bare).unwrap_or_default();
    matches!(number.len(), 10 | 13)
        && number.starts_with('1')
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Mostly hexadecimal, digits and letters mixed, long.
fn is_identifier(word: &str) -> bool {
    let word = bare(word);
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let hex = word.bytes().filter(u8::is_ascii_hexdigit).count();
    word.len() >= 8 && hex * 3 >= word.len() * 2 && digits >= 2 && digits < hex
}

/// Whether the number stands before a unit of time.
fn counts_time(change: &Change, new: &str) -> bool {
    let added = change.diff.lines().find_map(|line| line.strip_prefix('+'));
    let mut words = added.unwrap_or_default().split_whitespace();
    words.any(|word| word == new)
        && words.next().is_some_and(|next| {
            let next = next.to_ascii_lowercase();
            UNITS.iter().any(|unit| next.starts_with(unit))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart() {
        for (word, calendar, clock, epoch, identifier) in [
            ("Monday,", true, false, false, false),
            ("Nov", true, false, false, false),
            ("December", true, false, false, false),
            ("monkey", false, false, false, false),
            ("marble", false, false, false, false),
            ("08:00:01", false, true, false, false),
            ("2026-11-30.", false, true, false, false),
            ("2026-11-30T10:00:00Z", false, true, false, false),
            ("now=1796000000", false, false, true, false),
            ("1796000000123", false, false, true, false),
            ("3f2504e0-4f89-11d3-9a0c-0305e82c3301", false, false, false, true),
            ("9f8a7b6c5d4e3f21", false, false, false, true),
            ("12345678", false, false, false, false),
            ("v1.2", false, false, false, false),
        ] {
            let found = (
                is_calendar(word),
                is_clock(word),
                is_epoch(word),
                is_identifier(word),
            );
            assert_eq!(found, (calendar, clock, epoch, identifier), "{word}");
        }
    }
}
