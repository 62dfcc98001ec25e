//! What stands behind the anchor of a part, in the notation of the pattern files.

/// What follows the anchor in every match of `part`; nothing if it does not stand in all of them, or within a group.
pub(super) fn behind_anchor(part: &str) -> Option<&str> {
    let mut behind = None;
    let mut rest = part;
    while let Some(next) = rest.chars().next() {
        let (element, tail) = rest.split_at_checked(element_len(rest))?;
        if next == '|' {
            return None;
        }
        if next == '{' && element.ends_with("!}") {
            behind = Some(tail);
        }
        rest = tail;
    }
    behind
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

    #[test]
    fn what_follows_the_anchor_is_told() {
        assert_eq!(
            behind_anchor("{a} {go!} (?:x|[)]y){2}{d}?"),
            Some(" (?:x|[)]y){2}{d}?")
        );
        assert_eq!(behind_anchor("{go!}"), Some(""));
        assert_eq!(behind_anchor("{go!} {c}|{d}"), None);
        assert_eq!(behind_anchor("(?:{go!} x)"), None);
    }
}
