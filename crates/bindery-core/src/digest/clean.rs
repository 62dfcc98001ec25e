//! One line as it can stand in a summary.

use std::fmt::Write as _;

/// The line as text: without terminal sequences and what a carriage return had overwritten, with
/// replacement characters for what is no UTF-8, and at most `most` bytes of it, cut between characters.
pub fn clean(line: &[u8], most: usize) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let visible = line.rsplit(|byte| *byte == b'\r').next().unwrap_or(line);
    let mut out = String::new();
    let text = String::from_utf8_lossy(visible);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => skip_sequence(&mut characters),
            '\u{9b}' => skip_control(&mut characters),
            '\t' => out.push('\t'),
            other if other.is_control() => {}
            other => out.push(other),
        }
    }
    if out.len() <= most {
        return out;
    }
    let end = out.floor_char_boundary(most);
    let left = out.len() - end;
    out.truncate(end);
    let _ = write!(out, "… ({left} more bytes)");
    out
}

type Characters<'t> = std::iter::Peekable<std::str::Chars<'t>>;

/// What follows an escape character (ECMA-48): a control sequence, a string up to its end, or one more
/// character.
fn skip_sequence(rest: &mut Characters<'_>) {
    match rest.next() {
        Some('[') => skip_control(rest),
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(character) = rest.next() {
                match character {
                    '\u{7}' => break,
                    '\u{1b}' => {
                        rest.next();
                        break;
                    }
                    _ => {}
                }
            }
        }
        Some(' '..='/') => {
            rest.next();
        }
        _ => {}
    }
}

fn skip_control(rest: &mut Characters<'_>) {
    while let Some(next) = rest.peek() {
        let (ends, belongs) = (matches!(next, '@'..='~'), matches!(next, ' '..='?'));
        if !ends && !belongs {
            return;
        }
        rest.next();
        if ends {
            return;
        }
    }
}
