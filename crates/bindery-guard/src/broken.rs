//! Words that were spelled letter by letter or broken by blanks.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::view::View;

/// Folded text without anything but letters and digits.
pub(crate) fn join(base: &View) -> View {
    let bytes = base.text();
    let mut view = View::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let len = rest.iter().take_while(|byte| is_kept(**byte)).count();
        view.copy(rest.get(..len).unwrap_or_default(), at);
        at += len.max(1);
    }
    view
}

fn is_kept(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// Share of single letters, in tenths, from which words count as spelled.
const SPELLED_TENTHS: usize = 6;
/// Most pieces one word is broken into.
const MOST_PIECES: usize = 3;

/// Whether a hit in the joined text was spelled or broken in the folded one. Whole words that only
/// happen to make sense without their blanks do not count.
pub(crate) fn is_broken(joined: &View, base: &View, hit: &Range<usize>, stems: &BTreeSet<String>) -> bool {
    let range = joined.source_of(hit.start)..joined.source_of(hit.end.saturating_sub(1)) + 1;
    let kept = |at: Option<usize>| at.and_then(|at| base.text().get(at)).is_some_and(|byte| is_kept(*byte));
    if kept(range.start.checked_sub(1)) || kept(Some(range.end)) {
        return false;
    }
    let slice = base.text().get(range).unwrap_or_default();
    let words: Vec<&[u8]> = slice.split(|byte| !is_kept(*byte)).filter(|word| !word.is_empty()).collect();
    let single = words.iter().filter(|word| word.len() == 1).count();
    words.len() >= 8 && single * 10 >= words.len() * SPELLED_TENTHS || has_broken_word(&words, stems)
}

/// Whether neighbours make a known word that begins with the first of them, which is none itself.
fn has_broken_word(words: &[&[u8]], stems: &BTreeSet<String>) -> bool {
    words.iter().enumerate().any(|(at, first)| {
        let known = |text: &[u8]| std::str::from_utf8(text).is_ok_and(|text| stems.contains(text));
        if known(first) || first.len() < 2 {
            return false;
        }
        let mut whole = first.to_vec();
        words.iter().skip(at + 1).take(MOST_PIECES - 1).any(|piece| {
            whole.extend_from_slice(piece);
            !known(piece) && (4.max(first.len() + 1)..=whole.len()).any(|len| whole.get(..len).is_some_and(known))
        })
    })
}
