//! From the notation of the pattern files to bounded regular expressions with an anchor.

use std::collections::BTreeMap;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::Hir;
use regex_syntax::hir::literal::{ExtractKind, Extractor};

/// Most bytes one expression may cover.
const LONGEST: usize = 900;
/// Deepest nesting of word groups.
const DEEPEST: usize = 6;
/// Most literals an anchor may have before they are shortened.
const MOST_ANCHORS: usize = 4000;
/// Longest literal searched for: more would only make the automaton larger.
const LONGEST_ANCHOR: usize = 9;

/// White space and the marks that Markdown, comments and slugs put around words.
const SEPARATOR: &str = r#"[ \n*_`>"'#+=/\\|-]{1,6}"#;
/// The same within an anchor, where few forms keep the automaton small.
const NARROW_SEPARATOR: &str = r"[ \n_-]";
/// One word of any kind with what follows it.
const ANY_WORD: &str = r#"[^ \n.!?]{1,20}[ \n*_`>"'#+,;:()/-]{1,4}"#;

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

/// A compiled expression.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    pub(crate) hir: Hir,
    /// Any match contains one of these, at its start if `leading`.
    pub(crate) anchors: Vec<Vec<u8>>,
    pub(crate) leading: bool,
    /// Most bytes a match covers.
    pub(crate) longest: usize,
}

/// Word groups by name.
pub(crate) type Words = BTreeMap<String, Vec<String>>;

/// Compiles `source`; the error says what is wrong with it.
pub(crate) fn compile(source: &str, words: &Words, form: Form) -> Result<Expression, String> {
    let mut expander = Expander { words, form, anchor: None, leading: false, narrow: false };
    let body = expander.expand(source, 0)?;
    let anchor = expander.anchor.ok_or("no anchor: mark one group as `{group!}`")?;
    let bounded = match form {
        Form::Words => format!(r"\b{{start-half}}(?:{body})\b{{end-half}}"),
        Form::Run | Form::Joined => body,
    };
    let hir = parse(&bounded)?;
    let longest = hir.properties().maximum_len().ok_or("unbounded: give every repetition a limit")?;
    if longest > LONGEST {
        return Err(format!("covers up to {longest} bytes; {LONGEST} is the limit"));
    }
    Ok(Expression { hir, anchors: literals(&anchor)?, leading: expander.leading, longest })
}

fn parse(source: &str) -> Result<Hir, String> {
    let parsed = ParserBuilder::new().unicode(false).utf8(false).build().parse(source);
    parsed.map_err(|error| error.to_string())
}

/// The literals that every match of an anchor starts with.
fn literals(anchor: &str) -> Result<Vec<Vec<u8>>, String> {
    let mut extractor = Extractor::new();
    extractor.kind(ExtractKind::Prefix).limit_class(4).limit_repeat(2).limit_literal_len(16).limit_total(MOST_ANCHORS);
    let mut found = extractor.extract(&parse(anchor)?);
    found.dedup();
    let found = found.literals().ok_or("the anchor has too many forms")?;
    if let Some(short) = found.iter().find(|literal| literal.len() < 2) {
        return Err(format!("anchor {:?} is too short", String::from_utf8_lossy(short.as_bytes())));
    }
    let mut all: Vec<Vec<u8>> = found
        .iter()
        .map(|literal| literal.as_bytes().iter().copied().take(LONGEST_ANCHOR).collect())
        .collect();
    all.sort();
    all.dedup();
    // A literal that begins with a shorter one is found through it.
    let short = all.clone();
    all.retain(|literal| !short.iter().any(|other| other.len() < literal.len() && literal.starts_with(other)));
    Ok(all)
}

struct Expander<'a> {
    words: &'a Words,
    form: Form,
    anchor: Option<String>,
    leading: bool,
    /// Within the anchor.
    narrow: bool,
}

impl Expander<'_> {
    fn expand(&mut self, source: &str, depth: usize) -> Result<String, String> {
        let mut out = String::with_capacity(source.len() * 4);
        let mut rest = source;
        while let Some(next) = rest.chars().next() {
            let tail = rest.get(next.len_utf8()..).unwrap_or_default();
            rest = match next {
                ' ' => {
                    out.push_str(match self.form {
                        Form::Joined => "",
                        _ if self.narrow => NARROW_SEPARATOR,
                        _ => SEPARATOR,
                    });
                    tail
                }
                '\\' => {
                    let len = 1 + tail.chars().next().map_or(0, char::len_utf8);
                    out.push_str(rest.get(..len).unwrap_or_default());
                    rest.get(len..).unwrap_or_default()
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
                other => {
                    out.push(other);
                    tail
                }
            };
        }
        Ok(out)
    }

    fn gap(&self, mark: char, count: usize) -> String {
        match (mark, self.form) {
            ('~', Form::Joined) => format!("[a-z0-9]{{0,{}}}?", count * 9),
            ('~', _) => format!("(?:{ANY_WORD}){{0,{count}}}?"),
            (_, _) => format!(r"[^\n.!?]{{0,{}}}?", count * 3),
        }
    }

    fn group(&mut self, name: &str, at_start: bool, depth: usize) -> Result<String, String> {
        if depth >= DEEPEST {
            return Err(format!("word group `{name}` nests too deeply"));
        }
        let (name, marked) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
        let words = self.words.get(name).ok_or_else(|| format!("no word group `{name}`"))?;
        self.narrow |= marked;
        let parts: Result<Vec<String>, String> = words.iter().map(|word| self.expand(word, depth + 1)).collect();
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
