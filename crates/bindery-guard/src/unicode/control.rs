//! Control characters and terminal sequences.

use super::{Line, Raw};
use crate::finding::{Kind, Severity};

pub(super) fn inspect(line: &Line, found: &mut Vec<Raw>) {
    let mut escapes = Vec::new();
    let mut backspaces = Vec::new();
    let mut others = Vec::new();
    let mut zeros = Vec::new();
    for (at, (_, letter)) in line.letters.iter().enumerate() {
        match u32::from(*letter) {
            0x1B | 0x9B | 0x9D | 0x90 => escapes.push(at),
            0x08 | 0x7F => backspaces.push(at),
            0x00 => zeros.push(at),
            // The last one stands for a byte that is no text, of which the reader of the bytes tells.
            0x09 | 0x0C | 0x0D | 0x85 | 0x1A => {}
            0x01..=0x1F | 0x80..=0x9F => others.push(at),
            _ => {}
        }
    }
    let mut report = |rule, kind, severity, places: &[usize], reason: &str| {
        if let (Some(first), Some(last)) = (places.first(), places.last()) {
            found.push(Raw::new(
                rule,
                kind,
                severity,
                line.span(*first, *last + 1),
                reason,
            ));
        }
    };
    let terminal = Kind::TerminalEscape;
    report(
        "terminal.escape",
        terminal,
        Severity::High,
        &escapes,
        "terminal escape sequences can hide or rewrite what a person sees",
    );
    let severity = if backspaces.len() >= 3 {
        Severity::High
    } else {
        Severity::Low
    };
    report(
        "terminal.backspace",
        terminal,
        severity,
        &backspaces,
        "backspaces let a terminal show other text than the file has",
    );
    if escapes.is_empty() {
        report(
            "terminal.control",
            terminal,
            Severity::Low,
            &others,
            "control characters have no use in text",
        );
    }
    report(
        "encoding.zero-bytes",
        Kind::BrokenEncoding,
        Severity::Low,
        &zeros,
        "zero bytes: this is not plain text",
    );
}
