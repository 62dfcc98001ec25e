//! Parts of an expression that every match has behind its anchor, in the notation of the pattern files.
//!
//! Where none of their words follows, the expression need not be tried.

/// A part that every match has.
pub(super) struct Required<'a> {
    /// As written.
    pub(super) source: &'a str,
    /// Whether a blank stands directly before it.
    pub(super) after_blank: bool,
}

/// The word groups and bracketed alternatives of `part` that are not optional. Those up to the anchor do
/// not count; `anchored` says that it stands in an earlier part, which a gap follows.
pub(super) fn required(part: &str, anchored: bool) -> Vec<Required<'_>> {
    let mut found = Vec::new();
    let mut seen_anchor = anchored;
    let mut after_blank = anchored;
    let mut rest = part;
    while let Some(next) = rest.chars().next() {
        let len = element_len(rest);
        let (source, tail) = rest.split_at_checked(len).unwrap_or((rest, ""));
        if next == '|' {
            // All of the part is one of several.
            return Vec::new();
        }
        let is_group = source.starts_with("(?:")
            || next == '{' && source.as_bytes().get(1).is_some_and(u8::is_ascii_lowercase);
        if is_group && source.ends_with("!}") {
            seen_anchor = true;
        } else if is_group && seen_anchor && !is_optional(tail) {
            found.push(Required { source, after_blank });
        }
        after_blank = next == ' ';
        rest = tail;
    }
    found
}

/// Whether what stands before `tail` may be left out.
fn is_optional(tail: &str) -> bool {
    tail.starts_with(['?', '*']) || tail.starts_with("{0") || tail.starts_with("{,")
}

/// Length of the element at the start of `text`: a group with its brackets, a class, an escape, a letter.
fn element_len(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '[' => {
                let end = at + super::expression::class_len(text.get(at..).unwrap_or_default());
                while letters.clone().next().is_some_and(|(next, _)| next < end) {
                    letters.next();
                }
            }
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    letters.next().map_or(text.len(), |(next, _)| next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(part: &str, anchored: bool) -> Vec<(&str, bool)> {
        let all = required(part, anchored);
        all.iter().map(|part| (part.source, part.after_blank)).collect()
    }

    #[test]
    fn what_every_match_has_is_told() {
        assert_eq!(
            sources("{a} {go!} (?:{b} ){0,3}{c} (?:and ~1)?(?:x|[)]y){2}{d}?", false),
            [("{c}", false), ("(?:x|[)]y)", false)]
        );
        assert_eq!(
            sources("{c}(?: ~2| )(?:to|at)+ z", true),
            [("{c}", true), ("(?: ~2| )", false), ("(?:to|at)", false)]
        );
        assert!(sources("{go!} {c}|{d}", false).is_empty());
        assert_eq!(sources("{go!} \\({c}", false), [("{c}", false)]);
    }
}
