//! Source lines for people: what nobody sees is made visible.

use std::ops::Range;

/// Characters of a line shown on each side of a finding.
const CONTEXT: usize = 60;
/// Most characters shown of the finding itself.
const LONGEST: usize = 120;

/// The line of `span.start` around the span, with invisible characters written as `‹U+200B›`, and the
/// columns of the span in it.
pub(super) fn excerpt(bytes: &[u8], span: &Range<usize>) -> (String, Range<usize>) {
    let head = bytes.get(..span.start).unwrap_or(bytes);
    let line_start = head
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let tail = bytes.get(span.start..).unwrap_or_default();
    let line_end = span.start + tail.iter().position(|byte| *byte == b'\n').unwrap_or(tail.len());
    // A line may end as Windows has it.
    let line_end = match bytes.get(span.end..line_end) {
        Some([.., b'\r']) => line_end - 1,
        _ => line_end,
    };
    let text = |from: usize, to: usize| {
        String::from_utf8_lossy(bytes.get(from..to).unwrap_or_default()).into_owned()
    };
    let before = text(line_start, span.start);
    let inside = text(span.start, span.end.clamp(span.start, line_end));
    let after = text(span.end.clamp(span.start, line_end), line_end);

    let skipped = before.chars().count().saturating_sub(CONTEXT);
    let mut out = String::new();
    if skipped > 0 {
        out.push('…');
    }
    before
        .chars()
        .skip(skipped)
        .for_each(|letter| show(letter, &mut out));
    let start = out.chars().count();
    inside
        .chars()
        .take(LONGEST)
        .for_each(|letter| show(letter, &mut out));
    if inside.chars().count() > LONGEST {
        out.push('…');
    }
    let end = out.chars().count();
    after
        .chars()
        .take(CONTEXT)
        .for_each(|letter| show(letter, &mut out));
    if after.chars().count() > CONTEXT {
        out.push('…');
    }
    (out, start..end.max(start + 1))
}

/// Text of unknown origin, safe to print: no control, no direction change, nothing invisible.
pub(super) fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|letter| show(letter, &mut out));
    out
}

fn show(letter: char, out: &mut String) {
    use std::fmt::Write as _;
    if is_unseen(letter) {
        // Writing to a string cannot fail.
        let _ = write!(out, "‹U+{:04X}›", u32::from(letter));
    } else {
        out.push(if letter == '\t' { ' ' } else { letter });
    }
}

fn is_unseen(letter: char) -> bool {
    let code = u32::from(letter);
    let control = matches!(code, 0x00..=0x08 | 0x0A..=0x1F | 0x7F..=0x9F);
    let invisible = matches!(code,
        0xAD | 0x34F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F | 0x2028..=0x202E
        | 0x2060..=0x206F | 0x2800 | 0x3164 | 0xFE00..=0xFE0E | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0xE0000..=0xE0FFF);
    control || invisible
}
