//! Lists of path patterns in one string.

/// Splits on commas outside braces, trims, and drops what is empty.
pub fn split_patterns(text: &str) -> Vec<String> {
    split_outside_braces(text)
        .into_iter()
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

fn split_outside_braces(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.extend(text.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..));
    parts
}

/// Most patterns that one pattern may expand to.
const MOST: usize = 1024;

/// Writes `a{b,c}d` out as `abd` and `acd`. A pattern that would give too many, or whose braces do not
/// close, stays as it is.
pub fn expand_braces(pattern: &str) -> Vec<String> {
    let mut done = vec![pattern.to_owned()];
    loop {
        let Some(at) = done.iter().position(|one| braces(one).is_some()) else {
            return done;
        };
        let one = done.remove(at);
        let Some((before, inner, after)) = braces(&one) else {
            return done;
        };
        let expanded = split_outside_braces(inner);
        if done.len() + expanded.len() > MOST {
            return vec![pattern.to_owned()];
        }
        for (offset, choice) in expanded.into_iter().enumerate() {
            done.insert(at + offset, format!("{before}{choice}{after}"));
        }
    }
}

/// The first pair of braces that hold a comma outside further braces.
fn braces(text: &str) -> Option<(&str, &str, &str)> {
    let open = text.find('{')?;
    let mut depth = 0_u32;
    for (at, letter) in text.get(open..)?.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some((
                        text.get(..open)?,
                        text.get(open + 1..open + at)?,
                        text.get(open + at + 1..)?,
                    ));
                }
            }
            _ => {}
        }
    }
    None
}
