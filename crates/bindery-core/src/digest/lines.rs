//! A digest by lines: the first, the notable, the last.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use super::clean::clean;
use super::notable::{Notable, Why};
use super::split::Splitter;
use super::{Bounds, Shape};

/// The lines after a failure that are kept with it.
const FOLLOWING: u8 = 3;
/// The kinds of notable lines that are told apart; more are only counted.
const KINDS: usize = 2_000;
/// The first lines by which the shape is told.
const LOOK: u64 = 200;
/// The notable lines from the end that are kept beside the first ones.
const LATEST: usize = 16;

#[derive(Debug)]
pub(super) struct LineDigest {
    bounds: Bounds,
    notable: Notable,
    splitter: Splitter,
    count: u64,
    head: Kept,
    first: Kept,
    latest: VecDeque<Line>,
    tail: VecDeque<(u64, Vec<u8>)>,
    tail_bytes: usize,
    /// How often a kind of notable line came, by its letters.
    kinds: BTreeMap<u64, u64>,
    notable_lines: u64,
    following: u8,
    stamped: u64,
    has_summary: bool,
}

/// Lines within a bound.
#[derive(Debug, Default)]
struct Kept {
    lines: Vec<Line>,
    bytes: usize,
    is_full: bool,
}

#[derive(Debug)]
struct Line {
    number: u64,
    text: String,
    /// The kind of a notable line.
    kind: Option<u64>,
}

impl Kept {
    fn push(&mut self, line: Line, most: usize) -> bool {
        self.is_full = self.is_full || self.bytes + line.text.len() > most;
        if !self.is_full {
            self.bytes += line.text.len() + 1;
            self.lines.push(line);
        }
        !self.is_full
    }
}

impl LineDigest {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            notable: Notable::new(),
            splitter: Splitter::default(),
            count: 0,
            head: Kept::default(),
            first: Kept::default(),
            latest: VecDeque::new(),
            tail: VecDeque::new(),
            tail_bytes: 0,
            kinds: BTreeMap::new(),
            notable_lines: 0,
            following: 0,
            stamped: 0,
            has_summary: false,
        }
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn push(&mut self, piece: &[u8], seen: &mut dyn FnMut(u64, &[u8])) {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.push(piece, &mut |number, line| self.line(number, line, seen));
        self.splitter = splitter;
    }

    /// The last line may have no end.
    pub(super) fn end(&mut self, seen: &mut dyn FnMut(u64, &[u8])) {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.end(&mut |number, line| self.line(number, line, seen));
        self.splitter = splitter;
    }

    fn line(&mut self, number: u64, line: &[u8], seen: &mut dyn FnMut(u64, &[u8])) {
        self.count = number;
        seen(number, line);
        if number <= LOOK && is_stamped(line) {
            self.stamped += 1;
        }
        let entry = |kind| Line {
            number,
            text: clean(line, self.bounds.line),
            kind,
        };
        if !self.head.is_full {
            self.head.push(entry(None), self.bounds.head);
        }
        let why = self.notable.of(line);
        if let Some(why) = why {
            self.has_summary |= why == Why::Summary;
            self.notable_lines += 1;
            let kind = letters(line);
            let has_room = self.kinds.len() < KINDS;
            let known = self.kinds.get_mut(&kind).map(|times| *times += 1);
            let is_new = known.is_none();
            if is_new && has_room {
                self.kinds.insert(kind, 1);
            }
            self.following = 0;
            if is_new || why == Why::Summary {
                let kept = !self.first.is_full && self.first.push(entry(Some(kind)), self.bounds.notable);
                if kept {
                    self.following = if why == Why::Failure { FOLLOWING } else { 0 };
                } else {
                    if self.latest.len() == LATEST {
                        self.latest.pop_front();
                    }
                    self.latest.push_back(entry(Some(kind)));
                }
            }
        } else if self.following > 0 {
            self.following -= 1;
            self.first.push(entry(None), self.bounds.notable);
        }
        self.remember(number, line);
    }

    fn remember(&mut self, number: u64, line: &[u8]) {
        // Cleaning may shorten; what is held is bounded all the same.
        let kept = line.get(..line.len().min(self.bounds.line * 4)).unwrap_or(line);
        let mut buffer = Vec::new();
        while self.tail_bytes + kept.len() > self.bounds.tail * 2 {
            let Some((_, old)) = self.tail.pop_front() else {
                break;
            };
            self.tail_bytes -= old.len() + 1;
            buffer = old;
        }
        buffer.clear();
        buffer.extend_from_slice(kept);
        self.tail_bytes += buffer.len() + 1;
        self.tail.push_back((number, buffer));
    }

    pub(super) fn shape(&self) -> Shape {
        if self.has_summary {
            Shape::Tests
        } else if self.notable_lines > 0 || self.stamped * 2 > self.count.min(LOOK) {
            Shape::Log
        } else {
            Shape::Text
        }
    }

    /// The lines, each once and in order, and what they are.
    pub(super) fn show(&self) -> (String, String) {
        let mut lines: BTreeMap<u64, (String, Option<u64>)> = BTreeMap::new();
        let mut room = self.bounds.tail;
        let mut last = 0;
        for (number, line) in self.tail.iter().rev() {
            let text = clean(line, self.bounds.line);
            if text.len() + 1 > room {
                break;
            }
            room -= text.len() + 1;
            last += 1;
            lines.insert(*number, (text, None));
        }
        let kept = self
            .head
            .lines
            .iter()
            .chain(&self.first.lines)
            .chain(&self.latest);
        for line in kept {
            let kind = line
                .kind
                .or_else(|| lines.get(&line.number).and_then(|(_, kind)| *kind));
            lines.insert(line.number, (line.text.clone(), kind));
        }
        let width = self.count.to_string().len();
        let mut body = String::new();
        let mut before = 0;
        for (number, (text, kind)) in &lines {
            if *number > before + 1 {
                let left = number - before - 1;
                // Writing to a string cannot fail.
                let _ = writeln!(body, "{:>width$}  ({left} left out)", "…");
            }
            let times = kind.and_then(|kind| self.kinds.get(&kind)).copied().unwrap_or(1);
            let _ = if times > 1 {
                writeln!(body, "{number:>width$}| {text}  [{times} such lines]")
            } else {
                writeln!(body, "{number:>width$}| {text}")
            };
            before = *number;
        }
        if before < self.count {
            let _ = writeln!(body, "{:>width$}  ({} left out)", "…", self.count - before);
        }
        let mut shown = format!("the first {} lines", self.head.lines.len());
        if self.notable_lines > 0 {
            let _ = write!(
                shown,
                ", {} kinds of notable lines ({} in all)",
                self.kinds.len(),
                self.notable_lines
            );
        }
        let _ = write!(shown, ", the last {last} lines");
        (body.trim_end().to_owned(), shown)
    }
}

/// Whether a line begins as logs do: with a time, a level or a place in brackets.
fn is_stamped(line: &[u8]) -> bool {
    match line {
        [b'[' | b'0'..=b'9', ..] => true,
        _ => [
            &b"INFO"[..],
            b"DEBUG",
            b"TRACE",
            b"WARN",
            b"npm ",
            b"   Compiling",
        ]
        .iter()
        .any(|level| line.starts_with(level)),
    }
}

/// A line's kind: what remains of it without its digits (FNV-1a).
fn letters(line: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in line.iter().take(400).filter(|byte| !byte.is_ascii_digit()) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_built() {
        assert!(Notable::new().is_built());
    }
}
