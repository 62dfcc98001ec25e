//! Direction controls ("Trojan Source", CVE-2021-42574).

use super::{Line, Raw};
use crate::finding::{Kind, Severity};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Opener {
    Embedding,
    Override,
    Isolate,
}

pub(super) fn inspect(line: &Line, found: &mut Vec<Raw>) {
    let mut open = Open::default();
    let mut rtl_in_latin = None;
    let mut marks = Vec::new();
    for (at, (_, letter)) in line.letters.iter().enumerate() {
        match letter {
            '\u{202D}' | '\u{202E}' => {
                open.push(at, Opener::Override);
                found.push(forced(line, at));
            }
            '\u{202A}' | '\u{202B}' => open.push(at, Opener::Embedding),
            '\u{2066}'..='\u{2068}' => open.push(at, Opener::Isolate),
            '\u{202C}' => open.close(false),
            '\u{2069}' => open.close(true),
            '\u{200E}' | '\u{200F}' | '\u{61C}' => marks.push(at),
            _ => {}
        }
        if !line.has_rtl && matches!(letter, '\u{202B}' | '\u{2067}') {
            rtl_in_latin.get_or_insert(at);
        }
    }
    if let Some((at, _)) = open.stack.iter().find(|(_, opener)| *opener != Opener::Override) {
        let severity = if line.has_rtl {
            Severity::Low
        } else {
            Severity::High
        };
        let span = line.offset(*at)..line.end;
        let reason = "a direction control is left open at the end of its line: what follows may be shown in another order";
        found.push(Raw::new("bidi.unbalanced", Kind::Bidi, severity, span, reason));
    } else if let Some(at) = rtl_in_latin {
        let reason = "right-to-left direction in a line without right-to-left letters";
        found.push(Raw::new(
            "bidi.needless",
            Kind::Bidi,
            Severity::Medium,
            line.span(at, at + 1),
            reason,
        ));
    }
    if let (false, Some(first)) = (line.has_rtl, marks.first()) {
        let severity = if marks.len() >= 4 {
            Severity::Medium
        } else {
            Severity::Low
        };
        let reason = "a direction mark in a line without right-to-left letters";
        found.push(Raw::new(
            "bidi.mark",
            Kind::Bidi,
            severity,
            line.span(*first, *first + 1),
            reason,
        ));
    }
}

fn forced(line: &Line, at: usize) -> Raw {
    let len = line.run(at + 1, |letter| {
        !matches!(letter, '\u{202C}' | '\u{202D}' | '\u{202E}')
    }) + 1;
    let reason = "a direction override: the text after it is shown in another order than a model reads it";
    Raw::new(
        "bidi.override",
        Kind::Bidi,
        Severity::High,
        line.span(at, at + len),
        reason,
    )
}

/// Direction controls that are open.
#[derive(Default)]
struct Open {
    stack: Vec<(usize, Opener)>,
    isolates: usize,
}

impl Open {
    fn push(&mut self, at: usize, opener: Opener) {
        self.stack.push((at, opener));
        self.isolates += usize::from(opener == Opener::Isolate);
    }

    /// Closes the innermost isolate, or the innermost of the others, and all within it.
    fn close(&mut self, isolate: bool) {
        let others = self.stack.len() - self.isolates;
        if if isolate { self.isolates } else { others } == 0 {
            return;
        }
        while let Some((_, opener)) = self.stack.pop() {
            let is_isolate = opener == Opener::Isolate;
            self.isolates -= usize::from(is_isolate);
            if is_isolate == isolate {
                return;
            }
        }
    }
}
