//! A digest of JSON: JSON again, with the first elements of each list and with long texts shortened.
//!
//! One pass over bytes in any pieces. What is left out is read all the same, so that it can be counted and
//! so that broken JSON is found out; only the depth of nesting costs memory, and it is bounded.

use super::Bounds;

/// Elements of a list that are kept.
const ELEMENTS: u64 = 3;
/// Members of an object that are kept.
const MEMBERS: u64 = 40;
/// The deepest nesting that is followed.
const DEEPEST: usize = 200;

#[derive(Debug)]
pub(super) struct JsonDigest {
    out: Vec<u8>,
    most: usize,
    longest: usize,
    stack: Vec<Level>,
    expects: Expects,
    token: Token,
}

#[derive(Debug)]
struct Level {
    is_object: bool,
    count: u64,
    kept: u64,
    /// Whether what stands in it is written.
    is_kept: bool,
    /// Whether the element that is being read is written.
    writes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expects {
    Value,
    /// A value, or the end of the list that just began.
    FirstValue,
    Key,
    /// A key, or the end of the object that just began.
    FirstKey,
    Colon,
    /// A comma or an end.
    Next,
    /// Nothing more.
    End,
}

/// The token that is being read.
#[derive(Debug)]
enum Token {
    None,
    Text(Text),
    Word(Vec<u8>),
}

#[derive(Debug, Default)]
struct Text {
    kept: Vec<u8>,
    left_out: u64,
    /// Bytes of an escape that are still to come; a pair of surrogates counts as one.
    escape: Vec<u8>,
    is_key: bool,
}

impl JsonDigest {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            out: Vec::new(),
            most: bounds.head + bounds.tail + bounds.notable,
            longest: bounds.line,
            stack: Vec::new(),
            expects: Expects::Value,
            token: Token::None,
        }
    }

    /// Reads on; false if this is no JSON.
    pub(super) fn push(&mut self, piece: &[u8]) -> bool {
        piece.iter().all(|byte| self.byte(*byte).is_some())
    }

    /// The digest, if one whole value came.
    pub(super) fn finish(mut self) -> Option<String> {
        if let Token::Word(_) = self.token {
            self.word()?;
        }
        let is_whole = self.expects == Expects::End && matches!(self.token, Token::None);
        if !is_whole {
            return None;
        }
        String::from_utf8(self.out).ok()
    }

    fn byte(&mut self, byte: u8) -> Option<()> {
        match &mut self.token {
            Token::Text(_) => return self.text(byte),
            Token::Word(word) if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.') => {
                word.push(byte);
                return (word.len() <= 400).then_some(());
            }
            Token::Word(_) => self.word()?,
            Token::None => {}
        }
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => Some(()),
            b'{' | b'[' => self.open(byte == b'{'),
            b'}' | b']' => self.close(byte == b'}'),
            b',' => self.comma(),
            b':' if self.expects == Expects::Colon => {
                if self.writes() {
                    self.out.push(b':');
                }
                self.expects = Expects::Value;
                Some(())
            }
            b'"' => self.begin_text(),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                self.begin_value()?;
                self.token = Token::Word(vec![byte]);
                Some(())
            }
            _ => None,
        }
    }

    /// Whether what is read now is written.
    fn writes(&self) -> bool {
        self.stack.last().is_none_or(|level| level.writes)
    }

    /// The next element of the innermost list or object begins: is it kept?
    fn begin_element(&mut self) {
        let is_full = self.out.len() > self.most;
        if let Some(level) = self.stack.last_mut() {
            level.count += 1;
            let most = if level.is_object { MEMBERS } else { ELEMENTS };
            level.writes = level.is_kept && level.kept < most && !is_full;
            if level.writes {
                if level.kept > 0 {
                    self.out.push(b',');
                }
                level.kept += 1;
            }
        }
    }

    fn begin_value(&mut self) -> Option<()> {
        match self.expects {
            Expects::Value | Expects::FirstValue => {}
            _ => return None,
        }
        if self.stack.last().is_some_and(|level| !level.is_object) {
            self.begin_element();
        }
        Some(())
    }

    fn end_value(&mut self) {
        self.expects = if self.stack.is_empty() {
            Expects::End
        } else {
            Expects::Next
        };
    }

    fn open(&mut self, is_object: bool) -> Option<()> {
        self.begin_value()?;
        let is_kept = self.writes();
        if is_kept {
            self.out.push(if is_object { b'{' } else { b'[' });
        }
        self.stack.push(Level {
            is_object,
            count: 0,
            kept: 0,
            is_kept,
            writes: is_kept,
        });
        self.expects = if is_object {
            Expects::FirstKey
        } else {
            Expects::FirstValue
        };
        (self.stack.len() <= DEEPEST).then_some(())
    }

    fn close(&mut self, is_object: bool) -> Option<()> {
        let fits = match self.expects {
            Expects::Next => true,
            Expects::FirstKey => is_object,
            Expects::FirstValue => !is_object,
            _ => false,
        };
        let level = self
            .stack
            .pop()
            .filter(|level| fits && level.is_object == is_object)?;
        if level.is_kept {
            let left = level.count - level.kept;
            if left > 0 {
                let comma = if level.kept > 0 { "," } else { "" };
                let said = if is_object {
                    format!("{comma}\"…\":\"{left} more members\"")
                } else {
                    format!("{comma}\"… {left} more elements\"")
                };
                self.out.extend_from_slice(said.as_bytes());
            }
            self.out.push(if is_object { b'}' } else { b']' });
        }
        self.end_value();
        Some(())
    }

    fn comma(&mut self) -> Option<()> {
        let level = self.stack.last().filter(|_| self.expects == Expects::Next)?;
        self.expects = if level.is_object {
            Expects::Key
        } else {
            Expects::Value
        };
        Some(())
    }

    fn word(&mut self) -> Option<()> {
        let Token::Word(word) = std::mem::replace(&mut self.token, Token::None) else {
            return Some(());
        };
        // Numbers and words are few bytes: the parser that everybody uses knows their grammar.
        serde_json::from_slice::<serde::de::IgnoredAny>(&word).ok()?;
        if self.writes() {
            self.out.extend_from_slice(&word);
        }
        self.end_value();
        Some(())
    }

    fn begin_text(&mut self) -> Option<()> {
        let is_key = matches!(self.expects, Expects::Key | Expects::FirstKey);
        if is_key {
            self.begin_element();
        } else {
            self.begin_value()?;
        }
        self.token = Token::Text(Text {
            is_key,
            ..Text::default()
        });
        Some(())
    }

    fn text(&mut self, byte: u8) -> Option<()> {
        let longest = self.longest;
        let Token::Text(text) = &mut self.token else {
            return None;
        };
        if !text.escape.is_empty() {
            text.escape.push(byte);
            if is_whole(&text.escape)? {
                let escape = std::mem::take(&mut text.escape);
                text.unit(&escape, longest);
            }
            return Some(());
        }
        match byte {
            b'"' => self.end_text(),
            b'\\' => {
                text.escape.push(byte);
                Some(())
            }
            0..=0x1f => None,
            // A byte that continues a character belongs to it.
            0x80..=0xbf => {
                text.continues(byte);
                Some(())
            }
            _ => {
                text.unit(&[byte], longest);
                Some(())
            }
        }
    }

    fn end_text(&mut self) -> Option<()> {
        let Token::Text(text) = std::mem::replace(&mut self.token, Token::None) else {
            return None;
        };
        std::str::from_utf8(&text.kept).ok()?;
        if self.writes() {
            self.out.push(b'"');
            self.out.extend_from_slice(&text.kept);
            if text.left_out > 0 {
                let said = format!("… ({} more bytes)", text.left_out);
                self.out.extend_from_slice(said.as_bytes());
            }
            self.out.push(b'"');
        }
        if text.is_key {
            self.expects = Expects::Colon;
        } else {
            self.end_value();
        }
        Some(())
    }
}

impl Text {
    /// A character's first byte, or a whole escape.
    fn unit(&mut self, bytes: &[u8], longest: usize) {
        if self.left_out == 0 && self.kept.len() < longest {
            self.kept.extend_from_slice(bytes);
        } else {
            self.left_out += bytes.len() as u64;
        }
    }

    /// A byte that belongs to the character before it.
    fn continues(&mut self, byte: u8) {
        if self.left_out == 0 {
            self.kept.push(byte);
        } else {
            self.left_out += 1;
        }
    }
}

/// Whether an escape is complete; none if it is no escape. A high surrogate needs its low one.
fn is_whole(escape: &[u8]) -> Option<bool> {
    match escape {
        [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'] => Some(true),
        [b'\\', b'u', digits @ ..] if digits.len() <= 4 => {
            if !digits.iter().all(u8::is_ascii_hexdigit) {
                return None;
            }
            let is_high = matches!(
                digits,
                [b'd' | b'D', b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B', _, _]
            );
            Some(digits.len() == 4 && !is_high)
        }
        [b'\\', b'u', _, _, _, _, b'\\'] => Some(false),
        [b'\\', b'u', _, _, _, _, b'\\', b'u', digits @ ..] if digits.iter().all(u8::is_ascii_hexdigit) => {
            Some(digits.len() == 4)
        }
        _ => None,
    }
}
