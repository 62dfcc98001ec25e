//! Cells of a table: cut, filled and aligned by what a terminal shows, not by bytes.

use bindery::TokenCount;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// `text` in at most `width` columns. What is too long loses its middle: both ends of a path or key say more.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let tail_room = room / 2;
    let mut head = String::new();
    take(text.chars(), room - tail_room, |c| head.push(c));
    let mut tail = Vec::new();
    take(text.chars().rev(), tail_room, |c| tail.push(c));
    let tail: String = tail.into_iter().rev().collect();
    if width == 0 {
        String::new()
    } else {
        format!("{head}…{tail}")
    }
}

/// `text` in at most `width` columns. What is too long loses its end: of prose, the beginning says most.
pub(crate) fn fit_start(text: &str, width: usize) -> String {
    if text.width() <= width || width == 0 {
        return fit(text, width);
    }
    let mut head = String::new();
    take(text.chars(), width - 1, |c| head.push(c));
    head.push('…');
    head
}

/// `text` in at most `width` columns. What is too long loses its beginning: of a path, the end says most. Of
/// its parts, those that are shown are whole, unless not even the last one fits.
pub(crate) fn fit_end(text: &str, width: usize) -> String {
    if text.width() <= width || width == 0 {
        return fit(text, width);
    }
    let mut tail = Vec::new();
    take(text.chars().rev(), width - 1, |c| tail.push(c));
    let tail: String = tail.into_iter().rev().collect();
    let whole = tail.find('/').and_then(|slash| tail.get(slash..));
    format!("…{}", whole.filter(|whole| whole.len() > 1).unwrap_or(&tail))
}

fn take(chars: impl Iterator<Item = char>, room: usize, mut put: impl FnMut(char)) {
    let mut used = 0;
    for c in chars {
        used += c.width().unwrap_or(0);
        if used > room {
            return;
        }
        put(c);
    }
}

/// `text`, cut or filled to exactly `width` columns, at the left.
pub(crate) fn cell(text: &str, width: usize) -> String {
    let text = fit(text, width);
    let fill = " ".repeat(width.saturating_sub(text.width()));
    format!("{text}{fill}")
}

/// `text`, cut or filled to exactly `width` columns, at the right.
pub(crate) fn right(text: &str, width: usize) -> String {
    let text = fit(text, width);
    let fill = " ".repeat(width.saturating_sub(text.width()));
    format!("{fill}{text}")
}

/// What stands below a table has its labels in this many columns.
const LABEL: usize = 10;

/// A labelled line, folded between words where it is wider than `width`: what follows stands under what
/// the label names.
pub(crate) fn folded(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        let needed = word.trim_end().width();
        if used > LABEL && used + needed > width {
            out.truncate(out.trim_end().len());
            out.push('\n');
            out.push_str(&" ".repeat(LABEL));
            used = LABEL;
        }
        out.push_str(word);
        used += word.width();
    }
    out
}

/// A count with its thousands apart, and a `~` if it is an estimate.
pub(crate) fn thousands(count: TokenCount) -> String {
    let digits = count.value.to_string();
    let mut out = String::from(if count.exact { "" } else { "~" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share in percent, rounded to one place after the point. Of nothing it is nothing.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let tenths = (u128::from(part) * 1000 + u128::from(whole) / 2)
        .checked_div(u128::from(whole))
        .unwrap_or(0);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_loses_its_middle() {
        assert_eq!(fit("crates/core/src/lib.rs", 11), "crate…ib.rs");
        assert_eq!(fit("short", 11), "short");
        assert_eq!(fit("日本語日本語", 5), "日…語");
        assert_eq!(fit("abc", 0), "");
        assert_eq!(fit_end("builtin:default/identity.md", 12), "…identity.md");
        assert_eq!(fit_end("builtin:default/identity.md", 17), "…/identity.md");
        assert_eq!(fit_end("builtin:default/identity.md", 10), "…entity.md");
        assert_eq!(fit_end("crates/core/src/", 8), "…/src/");
        assert_eq!(fit_end("short", 12), "short");
    }

    #[test]
    fn cells_are_exactly_as_wide_as_asked() {
        for width in 0..9 {
            for text in ["", "a", "abcdefghijk", "日本語"] {
                assert_eq!(cell(text, width).width(), width, "{text} in {width}");
                assert_eq!(right(text, width).width(), width, "{text} in {width}");
            }
        }
    }

    #[test]
    fn shares_are_rounded_and_nothing_is_divided_by_nothing() {
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(2, 3), "66.7 %");
        assert_eq!(percent(5, 0), "0.0 %");
        assert_eq!(percent(u64::MAX, u64::MAX), "100.0 %");
    }

    #[test]
    fn long_lines_fold_under_their_label() {
        let line = "total     1,416 tokens in 13 fragments · 0.2 % of a window of 922,000";
        assert_eq!(folded(line, 80), line);
        assert_eq!(
            folded(line, 40),
            "total     1,416 tokens in 13 fragments ·\n          0.2 % of a window of 922,000"
        );
        assert_eq!(folded("left out  one: two", 5), "left out  one:\n          two");
    }

    #[test]
    fn estimates_say_so() {
        assert_eq!(thousands(TokenCount::exact(1_234_567)), "1,234,567");
        assert_eq!(thousands(TokenCount::estimate(12)), "~12");
    }
}
