//! `retrieve`: lines or matches of what is kept under a reference.

use std::fmt::Write as _;
use std::io::Read;
use std::sync::Arc;

use bindery_core::digest::{Splitter, clean};
use bindery_core::{BoxFuture, ContentHash, Media, Tool};
use bindery_store::Blobs;
use regex::bytes::{Regex, RegexBuilder};
use serde_json::json;

use super::{blocking, count, either, text};
use crate::tool::{Effect, Input, Outcome, Runner};

/// The most bytes of an answer.
const MOST: usize = 12 << 10;
/// Lines where nobody says how many.
const LINES: usize = 200;
/// The most bytes of one line.
const LINE: usize = 1_000;
/// Matches where nobody says how many.
const MATCHES: usize = 40;
/// The most memory that a pattern may take.
const PATTERN: usize = 1 << 20;

/// Reads what is kept under references.
pub struct Retrieve {
    blobs: Arc<dyn Blobs>,
}

impl Retrieve {
    /// From this store.
    pub fn new(blobs: Arc<dyn Blobs>) -> Self {
        Self { blobs }
    }
}

impl Runner for Retrieve {
    fn tool(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "reference": {"type": "string", "description": "What the conversation names `blob:…`"},
                "from_line": {"type": "integer", "minimum": 1, "description": "The first line, from 1"},
                "lines": {"type": "integer", "minimum": 1, "description": "How many lines, or how many matches"},
                "match": {"type": "string", "description": "Give only lines that hold this text"},
                "regex": {"type": "boolean", "description": "`match` is a regular expression"},
                "context": {"type": "integer", "minimum": 0, "maximum": 20, "description": "Lines around each match"},
            },
            "required": ["reference"],
            "additionalProperties": false,
        });
        let description = "Reads what was too large for the conversation: some of its lines, or the lines that hold a \
                           text.";
        Tool::new("retrieve", description, &schema)
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn describe(&self, input: &Input) -> String {
        format!("retrieve {}", text(input, "reference").unwrap_or_default())
    }

    fn run(self: Arc<Self>, input: Input) -> BoxFuture<'static, Outcome> {
        blocking(move || either(self.read(&input)))
    }
}

impl Retrieve {
    fn read(&self, input: &Input) -> Result<Outcome, Outcome> {
        let hash = self.resolve(text(input, "reference")?)?;
        let mut from = self
            .blobs
            .open(&hash)
            .map_err(|error| Outcome::failed(error.to_string()))?;
        let mut lines = Wanted::of(input)?;
        let mut head = [0; HEAD];
        let begins = read_up_to(&mut *from, &mut head).map_err(|error| Outcome::failed(error.to_string()))?;
        let head = head.get(..begins).unwrap_or_default();
        if let Some(kind) = image_type(head) {
            return self.image(&hash, kind);
        }
        let mut from = head.chain(from);
        let mut splitter = Splitter::default();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = from
                .read(&mut buffer)
                .map_err(|error| Outcome::failed(error.to_string()))?;
            if read == 0 {
                splitter.end(&mut |number, line| lines.see(number, line));
                break;
            }
            let piece = buffer.get(..read).unwrap_or_default();
            splitter.push(piece, &mut |number, line| lines.see(number, line));
        }
        Ok(lines.told())
    }

    /// An image is shown again, not told.
    fn image(&self, hash: &ContentHash, kind: &'static str) -> Result<Outcome, Outcome> {
        let bytes = self
            .blobs
            .get(hash)
            .map_err(|error| Outcome::failed(error.to_string()))?;
        let media = Media::of_bytes(kind, "as kept", &bytes, None);
        let mut outcome = Outcome::done(format!("{media} follows."));
        outcome.shows.push(media);
        Ok(outcome)
    }

    fn resolve(&self, reference: &str) -> Result<ContentHash, Outcome> {
        let digits = reference.trim().trim_start_matches("blob:");
        let is_one = digits.len() >= 12 && digits.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
        if !is_one {
            return Err(Outcome::failed(format!(
                "`{reference}` is no reference; give one as the conversation names it, such as blob:0123456789abcdef"
            )));
        }
        let found = self
            .blobs
            .find(digits)
            .map_err(|error| Outcome::failed(error.to_string()))?;
        match found[..] {
            [hash] => Ok(hash),
            [] => Err(Outcome::failed(format!("nothing is kept as `{reference}`"))),
            _ => Err(Outcome::failed(format!(
                "`{reference}` names several; give more digits"
            ))),
        }
    }
}

/// So many bytes tell an image from everything else.
const HEAD: usize = 16;

/// The kind of image that begins like this, if one does.
fn image_type(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn read_up_to(from: &mut dyn Read, into: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match from.read(rest)? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// What is looked for, and what was found.
struct Wanted {
    pattern: Option<Regex>,
    from: u64,
    most: usize,
    context: usize,
    /// Lines before a match that may belong to it.
    before: std::collections::VecDeque<(u64, String)>,
    /// Lines after the last match that still belong to it.
    after: usize,
    out: String,
    told: usize,
    last: u64,
    lines: u64,
    more: u64,
}

impl Wanted {
    fn of(input: &Input) -> Result<Self, Outcome> {
        let is_regex = input
            .get("regex")
            .and_then(serde_json::Value::as_bool)
            .unwrap_or_default();
        let pattern =
            match input.get("match").and_then(serde_json::Value::as_str) {
                None => None,
                Some("") => return Err(Outcome::failed("`match` is empty; leave it out to read lines")),
                Some(words) => {
                    let words = if is_regex {
                        words.to_owned()
                    } else {
                        regex::escape(words)
                    };
                    let built = RegexBuilder::new(&words).size_limit(PATTERN).build();
                    Some(built.map_err(|error| {
                        Outcome::failed(format!("`match` is no regular expression: {error}"))
                    })?)
                }
            };
        let most = count(input, "lines").unwrap_or(if pattern.is_some() { MATCHES } else { LINES });
        Ok(Self {
            from: count(input, "from_line").unwrap_or(1).max(1) as u64,
            most,
            context: count(input, "context").unwrap_or(0).min(20),
            pattern,
            before: std::collections::VecDeque::new(),
            after: 0,
            out: String::new(),
            told: 0,
            last: 0,
            lines: 0,
            more: 0,
        })
    }

    fn see(&mut self, number: u64, line: &[u8]) {
        self.lines = number;
        if number < self.from {
            return;
        }
        let Some(pattern) = &self.pattern else {
            if self.told < self.most && self.out.len() < MOST {
                self.told += 1;
                self.write(number, &clean(line, LINE));
            } else {
                self.more += 1;
            }
            return;
        };
        let found = pattern.find(line).map(|found| found.start());
        if let Some(at) = found {
            if self.told >= self.most || self.out.len() >= MOST {
                self.more += 1;
                return;
            }
            self.told += 1;
            for (number, text) in std::mem::take(&mut self.before) {
                self.write(number, &text);
            }
            let shown = around(line, at);
            self.write(number, &shown);
            self.after = self.context;
        } else if self.after > 0 {
            self.after -= 1;
            self.write(number, &clean(line, LINE));
        } else if self.context > 0 {
            if self.before.len() == self.context {
                self.before.pop_front();
            }
            self.before.push_back((number, clean(line, LINE)));
        }
    }

    fn write(&mut self, number: u64, text: &str) {
        if self.last > 0 && number > self.last + 1 {
            self.out.push_str("--\n");
        }
        self.last = number;
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{number}| {text}");
    }

    fn told(self) -> Outcome {
        let (lines, more) = (self.lines, self.more);
        if self.told == 0 {
            let what = match &self.pattern {
                Some(_) => format!("None of its {lines} lines matches."),
                None => format!("It has {lines} lines, so line {} does not exist.", self.from),
            };
            return Outcome::done(what);
        }
        let mut out = self.out;
        if more > 0 {
            let what = if self.pattern.is_some() {
                "matches"
            } else {
                "lines"
            };
            let next = self.last + 1;
            let _ = write!(
                out,
                "[{more} more {what} of {lines} lines; go on with `from_line`: {next}]"
            );
        }
        Outcome::done(out.trim_end())
    }
}

/// A line that matches, from not far before the match.
fn around(line: &[u8], at: usize) -> String {
    let begins = at.saturating_sub(LINE / 4);
    if line.len() <= LINE || begins == 0 {
        return clean(line, LINE);
    }
    // A character that is cut shows as a replacement; begin behind it.
    let rest = line.get(begins..).unwrap_or_default();
    let inside = rest.iter().take_while(|byte| matches!(byte, 0x80..=0xbf)).count();
    format!("…{}", clean(rest.get(inside..).unwrap_or_default(), LINE))
}
