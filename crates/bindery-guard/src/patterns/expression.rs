//! From the notation of the pattern files to bounded regular expressions with an anchor.

use std::collections::BTreeMap;
use std::sync::Arc;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

use super::behind::behind_anchor;
use super::literals::Literals;
use super::needs;

/// Deepest nesting of word groups.
const DEEPEST: usize = 6;
/// White space and the marks that Markdown, comments and slugs put around words.
const SEPARATOR: &str = r#"(?:[ \n*_`>"'#+=/\\|,-]+)"#;
/// The same within an anchor, where few forms keep the automaton small.
const NARROW_SEPARATOR: &str = r"[ \n_-]";
/// One word of any kind with what follows it. A full stop within a path or number ends no sentence.
/// No counters: they would multiply the states of the automata. The window bounds every search.
const ANY_WORD: &str = r#"(?:[^ \n.!?]|[.!?][^ \n])+[ \n*_`>"'#+,;:()/-]+"#;

/// Which text an expression is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// The folded text, with word boundaries.
    Words,
    /// The folded text of scripts without blanks.
    Run,
    /// Letters and digits only: words that were broken or spelled.
    Joined,
}

/// An expression: segments with gaps of some words between them. Gaps are walked word by word, as an
/// automaton would need a state for every combination of them.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    pub(crate) segments: Vec<Segment>,
    /// Any match contains one of these in its first segment, at its start if `leading`.
    pub(crate) anchors: Vec<Vec<u8>>,
    pub(crate) leading: bool,
    /// Whether every match has the sign of an address.
    pub(crate) has_at: bool,
    /// Whether the first segment is the anchor and nothing else, so that it stands wherever the anchor does.
    pub(crate) bare: bool,
    /// The most blanks in and after a bare anchor that a blank follows; zero if that cannot be said.
    pub(crate) blanks: u8,
}

/// A part of an expression without a long gap.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    /// Most words between the segment before and this one.
    pub(crate) gap: usize,
    /// The regular expression. Parsing takes long, and most texts need few: see [`parse`].
    pub(crate) body: Arc<str>,
    /// Sets of words, one of each of which stands in every match of this segment, behind the anchor.
    pub(crate) needs: Vec<Vec<Vec<u8>>>,
}

/// Word groups by name.
pub(crate) type Words = BTreeMap<String, Vec<String>>;

/// Gaps up to this size stay within a segment, but for `~0`, which only ends one.
const SMALL_GAP: usize = 1;

/// Compiles `source`; the error says what is wrong with it.
pub(crate) fn compile(
    source: &str,
    words: &Words,
    form: Form,
    known: &mut Literals,
) -> Result<Expression, String> {
    let mut expander = Expander::new(words, form);
    let parts = if form == Form::Words {
        split_at_gaps(source)?
    } else {
        vec![(0, source.to_owned())]
    };
    let last = parts.len() - 1;
    let mut segments = Vec::with_capacity(parts.len());
    let mut before = needs::Before::Letters;
    for (at, (gap, part)) in parts.iter().enumerate() {
        let mut body = expander.expand(part, 0)?;
        if at > 0 && expander.anchor.is_none() {
            return Err("no anchor before the first long gap: mark one group as `{group!}`".to_owned());
        }
        let needs = if at > 0 {
            needs::needs(&parse(&body)?, before)
        } else if form == Form::Joined {
            Vec::new()
        } else if expander.leading {
            // What does not stand at its start stands behind the anchor.
            needs::needs(&parse(&body)?, needs::Before::Start)
        } else {
            needs_behind_anchor(part, words, form)?
        };
        before = needs::behind(&parse(&body)?, before);
        if form == Form::Words {
            let start = if at == 0 && !expander.begins_with_mark(known) {
                r"\b{start-half}"
            } else {
                ""
            };
            let end = if at == last {
                r"(?:\b{end-half}|\b{start-half})"
            } else {
                ""
            };
            body = format!("{start}(?:{body}){end}");
        }
        segments.push(Segment {
            gap: *gap,
            body: body.into(),
            needs,
        });
    }
    let has_at = form == Form::Words
        && segments
            .iter()
            .any(|segment| parse(&segment.body).is_ok_and(|body| has_byte(&body, b'@')));
    let bare = parts.len() > 1 && parts.first().is_some_and(|(_, part)| is_group(part));
    let blank_follows = parts.first().is_some_and(|(_, part)| part.ends_with(' '));
    let blanks = if bare && blank_follows {
        expander.anchor.as_deref().map_or(0, blanks)
    } else {
        0
    };
    let anchor = expander.anchor.ok_or("no anchor: mark one group as `{group!}`")?;
    // Keywords are found however their words are separated, so that one form of each is enough.
    let anchor = anchor.replace(NARROW_SEPARATOR, " ");
    Ok(Expression {
        segments,
        anchors: known.of(&anchor)?,
        leading: expander.leading,
        bare,
        blanks,
        has_at,
    })
}

/// Whether every match of an expression has this byte.
fn has_byte(expression: &Hir, byte: u8) -> bool {
    match expression.kind() {
        HirKind::Literal(literal) => literal.0.contains(&byte),
        HirKind::Repetition(repeated) => repeated.min > 0 && has_byte(&repeated.sub, byte),
        HirKind::Capture(capture) => has_byte(&capture.sub, byte),
        HirKind::Concat(parts) => parts.iter().any(|part| has_byte(part, byte)),
        HirKind::Alternation(ways) => ways.iter().all(|way| has_byte(way, byte)),
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

/// The most blanks in an expanded anchor and the one after it; zero where something is repeated.
fn blanks(anchor: &str) -> u8 {
    if anchor.contains(['{', '*', '+']) {
        return 0;
    }
    // Alternatives within an alternative are added up: more is no harm.
    let (mut most, mut here, mut depth) = (0, 0, 0_usize);
    let mut rest = anchor;
    while let Some(next) = rest.chars().next() {
        let len = if rest.starts_with(NARROW_SEPARATOR) {
            here += 1;
            NARROW_SEPARATOR.len()
        } else if next == '[' {
            class_len(rest)
        } else {
            next.len_utf8()
        };
        match next {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '|' if depth == 1 => here = 0,
            _ => {}
        }
        most = most.max(here);
        rest = rest.get(len..).unwrap_or_default();
    }
    u8::try_from(most + 1).unwrap_or(0)
}

/// What [`Segment::needs`] says of the part with the anchor.
fn needs_behind_anchor(part: &str, words: &Words, form: Form) -> Result<Vec<needs::Keys>, String> {
    let mut expander = Expander::new(words, form);
    let Some(behind) = behind_anchor(part) else {
        return Ok(Vec::new());
    };
    let body = expander.expand(behind, 0)?;
    Ok(needs::needs(&parse(&body)?, needs::Before::Letters))
}

/// Whether a part of an expression is one word group.
fn is_group(part: &str) -> bool {
    part.trim_end()
        .strip_prefix('{')
        .and_then(|inner| inner.strip_suffix("!}"))
        .is_some_and(|name| !name.contains(['{', '}']))
}

/// The parts of an expression between its long gaps, each with the gap before it.
fn split_at_gaps(source: &str) -> Result<Vec<(usize, String)>, String> {
    let mut parts = vec![(0, String::new())];
    let mut rest = source;
    let mut depth = 0_usize;
    while let Some(next) = rest.chars().next() {
        if depth == 0
            && let Some((gap, after)) = gap_at(rest)?
        {
            parts.push((gap, String::new()));
            rest = after;
            continue;
        }
        let len = match next {
            '\\' => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            '[' => class_len(rest),
            _ => next.len_utf8(),
        };
        depth = match next {
            '(' => depth + 1,
            ')' => depth.saturating_sub(1),
            _ => depth,
        };
        let (head, tail) = rest.split_at_checked(len).unwrap_or((rest, ""));
        if let Some((_, part)) = parts.last_mut() {
            part.push_str(head);
        }
        rest = tail;
    }
    Ok(parts)
}

/// A long gap at the start of `text`, bare or in a group of its own, and what follows it.
fn gap_at(text: &str) -> Result<Option<(usize, &str)>, String> {
    let (inner, grouped) = text
        .strip_prefix("(?:~")
        .map_or((text.strip_prefix('~'), false), |inner| (Some(inner), true));
    let Some(inner) = inner.filter(|inner| inner.starts_with(|digit: char| digit.is_ascii_digit())) else {
        return Ok(None);
    };
    let (gap, after) = number(inner)?;
    let after = if grouped {
        after.strip_prefix(')')
    } else {
        Some(after)
    };
    let Some(after) = after.filter(|_| gap == 0 || gap > SMALL_GAP) else {
        return Ok(None);
    };
    Ok(Some((gap, after.strip_prefix('?').unwrap_or(after))))
}

/// The expression of a segment as the search engine takes it.
pub(crate) fn parse(source: &str) -> Result<Hir, String> {
    let parsed = ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .build()
        .parse(source);
    parsed.map_err(|error| error.to_string())
}

/// Longest gap in words that the joined text is read with: without blanks, chance grows with it.
const JOINED_GAP: usize = 2;

/// Literals that the joined text does not have.
const MARKS: &str = "/_-'\"`,:;<>=@#&";

/// Length of an escape with its backslash, whose rest is `tail`.
fn escape_len(tail: &str) -> usize {
    if tail.starts_with('x') {
        4
    } else {
        1 + tail.chars().next().map_or(0, char::len_utf8)
    }
}

/// Length of a class of characters with its brackets.
pub(super) fn class_len(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if letter == ']' && !escaped && at > 1 {
            return at + 1;
        }
        escaped = letter == '\\' && !escaped;
    }
    text.len()
}

struct Expander<'a> {
    words: &'a Words,
    form: Form,
    anchor: Option<String>,
    leading: bool,
    /// Within the anchor.
    narrow: bool,
}

impl<'a> Expander<'a> {
    const fn new(words: &'a Words, form: Form) -> Self {
        Self {
            words,
            form,
            anchor: None,
            leading: false,
            narrow: false,
        }
    }

    /// Whether every match begins with an anchor that begins with a mark, which may follow a word directly.
    fn begins_with_mark(&self, known: &mut Literals) -> bool {
        let is_mark = |literal: &Vec<u8>| {
            let first = literal.first();
            first.is_some_and(|first| first.is_ascii_punctuation() && *first != b'_')
        };
        let anchors = self.anchor.as_deref().filter(|_| self.leading);
        anchors.is_some_and(|anchor| known.of(anchor).is_ok_and(|all| all.iter().all(is_mark)))
    }

    fn expand(&mut self, source: &str, depth: usize) -> Result<String, String> {
        let mut out = String::with_capacity(source.len() * 4);
        let mut rest = source;
        while let Some(next) = rest.chars().next() {
            let tail = rest.get(next.len_utf8()..).unwrap_or_default();
            rest = match next {
                ' ' if self.form == Form::Joined => tail.strip_prefix('?').unwrap_or(tail),
                ' ' => {
                    out.push_str(if self.narrow { NARROW_SEPARATOR } else { SEPARATOR });
                    tail
                }
                '\\' => {
                    let len = escape_len(tail);
                    let (escape, after) = rest.split_at_checked(len).unwrap_or((rest, ""));
                    self.literal(escape, after, &mut out)
                }
                '[' => {
                    let len = class_len(rest);
                    let (class, after) = rest.split_at_checked(len).unwrap_or((rest, ""));
                    out.push_str(class);
                    after
                }
                '~' | '%' if tail.starts_with(|digit: char| digit.is_ascii_digit()) => {
                    let (count, after) = number(tail)?;
                    out.push_str(&self.gap(next, count));
                    after
                }
                '{' if tail.starts_with(|first: char| first.is_ascii_lowercase()) => {
                    let (name, after) = tail.split_once('}').ok_or("unclosed `{`")?;
                    let at_start = depth == 0 && out.is_empty();
                    out.push_str(&self.group(name, at_start, depth)?);
                    after
                }
                '{' => {
                    let (count, after) = rest.split_once('}').ok_or("unclosed `{`")?;
                    out.push_str(count);
                    out.push('}');
                    after
                }
                '(' if tail.starts_with("?:") => {
                    out.push_str("(?:");
                    tail.get(2..).unwrap_or_default()
                }
                mark if MARKS.contains(mark) => {
                    self.literal(rest.get(..1).unwrap_or_default(), tail, &mut out)
                }
                other => {
                    out.push(other);
                    tail
                }
            };
        }
        Ok(out)
    }

    /// Appends a literal that is no letter, unless the joined text has none of them; then its question
    /// mark goes, too.
    fn literal<'b>(&self, literal: &str, after: &'b str, out: &mut String) -> &'b str {
        if self.form == Form::Joined && !matches!(literal, r"\b" | r"\|") {
            return after.strip_prefix('?').unwrap_or(after);
        }
        out.push_str(literal);
        after
    }

    fn gap(&self, mark: char, count: usize) -> String {
        if count == 0 {
            return String::new();
        }
        match (mark, self.form) {
            ('~', Form::Joined) => format!("[a-z0-9]{{0,{}}}?", count.min(JOINED_GAP) * 8),
            ('~', _) => format!("(?:{ANY_WORD}){{0,{count}}}?"),
            (_, _) => format!(r"[^\n.!?]{{0,{}}}?", count * 3),
        }
    }

    fn group(&mut self, name: &str, at_start: bool, depth: usize) -> Result<String, String> {
        if depth >= DEEPEST {
            return Err(format!("word group `{name}` nests too deeply"));
        }
        let (name, marked) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
        let words = self
            .words
            .get(name)
            .ok_or_else(|| format!("no word group `{name}`"))?;
        self.narrow |= marked;
        let parts: Result<Vec<String>, String> =
            words.iter().map(|word| self.expand(word, depth + 1)).collect();
        let group = format!("(?:{})", parts?.join("|"));
        if marked {
            self.narrow = false;
            if self.anchor.is_some() {
                return Err("two anchors".to_owned());
            }
            self.anchor = Some(group.clone());
            self.leading = at_start;
        }
        Ok(group)
    }
}

fn number(text: &str) -> Result<(usize, &str), String> {
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(len).ok_or("a gap needs a number")?;
    Ok((digits.parse().map_err(|_| "a gap needs a small number")?, rest))
}
