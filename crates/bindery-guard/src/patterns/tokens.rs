//! How many words a match of a part can have, so that what must follow it is looked for no further away.

use std::collections::BTreeMap;

use super::program::{Instruction, Program};

/// A number of words, or that there is no limit to it.
pub(crate) const UNLIMITED: u8 = u8::MAX;

/// More words than this are as good as any number: the window has no more.
const MOST: u8 = 160;

/// The most words that start within a match, as [`crate::starts`] counts them: runs without blanks that have a
/// letter or digit. [`UNLIMITED`] if there is no such number.
pub(super) fn most(program: &Program) -> u8 {
    // The most words on any way to a state, and whether the next letter starts another.
    let mut best: BTreeMap<(u32, bool), u8> = BTreeMap::new();
    let mut open = vec![((program.start, true), 0)];
    while let Some((state, words)) = open.pop() {
        if best.get(&state).is_some_and(|known| *known >= words) {
            continue;
        }
        if words > MOST {
            return UNLIMITED;
        }
        best.insert(state, words);
        follow(program, state, words, &mut open);
    }
    best.into_values().max().unwrap_or(0)
}

fn follow(program: &Program, (state, fresh): (u32, bool), words: u8, open: &mut Vec<((u32, bool), u8)>) {
    let at = usize::try_from(state).ok();
    let mut byte = |(from, to, next): (u8, u8, u32)| {
        let has = |of: fn(u8) -> bool| (from..=to).any(of);
        if has(is_blank) {
            open.push(((next, true), words));
        }
        if has(is_kept) {
            open.push(((next, false), words + u8::from(fresh)));
        }
        if has(|byte| !is_blank(byte) && !is_kept(byte)) {
            open.push(((next, fresh), words));
        }
    };
    match at.and_then(|at| program.instructions.get(at)) {
        Some(Instruction::Byte(from, to, next)) => byte((*from, *to, *next)),
        Some(Instruction::Bytes(rows)) => rows.iter().copied().for_each(byte),
        Some(Instruction::Look(_, next)) => open.push(((*next, fresh), words)),
        Some(Instruction::Either(ways)) => open.extend(ways.iter().map(|next| ((*next, fresh), words))),
        Some(Instruction::Fail | Instruction::Match) | None => {}
    }
}

/// A folded text has no other white space, and no control characters.
const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n')
}

const fn is_kept(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted() {
        let most = |source: &str| most(&Program::compile(source).unwrap());
        assert_eq!(most("ignore[ \n*]+(?:all|every one)"), 3);
        assert_eq!(most("(?:[a-z]+[ -]+){0,3}?end"), 4);
        assert_eq!(most("[ -]* - "), 0);
        assert_eq!(most("[^ \n]+"), 1);
        assert_eq!(most("[^.]*"), UNLIMITED);
        assert_eq!(most("\u{5ffd}\u{7565} a"), 2);
    }
}
