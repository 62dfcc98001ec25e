//! Finding import tokens in Markdown.
//!
//! What is an import follows the text's structure: code spans, fences, indented code, link targets,
//! HTML and comments hold none. Inside a stretch of running text a token is `@` at the stretch's start
//! or after white space, then a path.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::super::comments::without_comments;
use crate::dialect::TokenRules;

/// An import token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The path as meant: fragment dropped, escaped spaces resolved.
    pub path: String,
    /// Where `@path` stands in the text, in bytes.
    pub range: Range<usize>,
}

/// The import tokens of a text, in the order in which a client follows them.
pub fn scan(text: &str, rules: &TokenRules) -> Vec<Token> {
    if !text.contains('@') {
        return Vec::new();
    }
    let mut scanner = Scanner {
        text,
        rules,
        run: Run::default(),
        containers: Vec::new(),
        item_text: None,
        html: None,
        silent: 0,
        tokens: Vec::new(),
        item_tokens: Vec::new(),
    };
    for (event, range) in Parser::new(text).into_offset_iter() {
        scanner.event(&event, range);
    }
    scanner.end_block();
    scanner.tokens
}

/// A stretch of running text and where its pieces stand in the source.
#[derive(Debug, Default)]
struct Run {
    text: String,
    pieces: Vec<(usize, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    Item,
    Quote,
}

struct Scanner<'t> {
    text: &'t str,
    rules: &'t TokenRules,
    run: Run,
    containers: Vec<Container>,
    /// Source range of the text of a list item, where that is searched raw.
    item_text: Option<Range<usize>>,
    html: Option<Range<usize>>,
    /// How many elements are open whose text is not searched.
    silent: u32,
    tokens: Vec<Token>,
    /// Tokens of a list item's structured text; they follow those of its raw text.
    item_tokens: Vec<Token>,
}

impl Scanner<'_> {
    fn event(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(*tag),
            Event::Text(_) if self.silent == 0 => {
                self.item(&range);
                self.push_text(range);
            }
            Event::SoftBreak if self.silent == 0 => self.run.push("\n", range.start),
            Event::Html(_) => self.html = Some(join(self.html.take(), range)),
            Event::HardBreak => self.end_run(),
            Event::Code(_) | Event::InlineHtml(_) => {
                self.item(&range);
                self.end_run();
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Item => self.open(Container::Item),
            Tag::BlockQuote(_) => self.open(Container::Quote),
            Tag::CodeBlock(_) => {
                self.end_block();
                self.silent += 1;
            }
            Tag::Image { .. } => {
                self.end_run();
                self.silent += 1;
            }
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } => {
                self.item(&range);
                self.end_run();
            }
            _ => self.end_block(),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Item | TagEnd::BlockQuote(_) => {
                self.end_block();
                self.containers.pop();
            }
            TagEnd::CodeBlock | TagEnd::Image => self.silent = self.silent.saturating_sub(1),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link => self.end_run(),
            TagEnd::HtmlBlock => self.end_html(),
            _ => self.end_block(),
        }
    }

    fn open(&mut self, container: Container) {
        self.end_block();
        self.containers.push(container);
    }

    /// Text of a list item: its source range grows.
    fn item(&mut self, range: &Range<usize>) {
        if self.rules.raw_list_items && self.containers.last() == Some(&Container::Item) {
            self.item_text = Some(join(self.item_text.take(), range.clone()));
        }
    }

    /// Text as written. An escaped character is a token of its own: the stretch ends before it and a new
    /// one begins behind it.
    fn push_text(&mut self, range: Range<usize>) {
        let source = self.text.get(range.clone()).unwrap_or_default();
        let escaped = range.start > self.run.source_end()
            && self.text.as_bytes().get(range.start.wrapping_sub(1)) == Some(&b'\\')
            && source.starts_with(|first: char| first.is_ascii_punctuation());
        if escaped {
            self.end_run();
            self.run
                .push(source.get(1..).unwrap_or_default(), range.start + 1);
        } else {
            self.run.push(source, range.start);
        }
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        let found = run.tokens(self.rules);
        if self.item_text.is_some() {
            self.item_tokens.extend(found);
        } else {
            self.tokens.extend(found);
        }
    }

    fn end_block(&mut self) {
        self.end_run();
        if let Some(range) = self.item_text.take() {
            let mut raw = Run::default();
            raw.push(self.text.get(range.clone()).unwrap_or_default(), range.start);
            let found = raw.tokens(self.rules);
            self.item_tokens.retain(|token| !found.contains(token));
            self.tokens.extend(found);
        }
        self.tokens.append(&mut self.item_tokens);
    }

    /// What is left of a comment's block is searched, where the dialect says so.
    fn end_html(&mut self) {
        let Some(range) = self.html.take() else { return };
        let raw = self.text.get(range.clone()).unwrap_or_default();
        if !self.rules.after_comment || !raw.trim_start().starts_with("<!--") {
            return;
        }
        let Some(residue) = without_comments(raw) else {
            return;
        };
        let mut run = Run::default();
        run.push(&residue, range.start + raw.len().saturating_sub(residue.len()));
        self.tokens.extend(run.tokens(self.rules));
    }
}

fn join(known: Option<Range<usize>>, more: Range<usize>) -> Range<usize> {
    match known {
        Some(known) => known.start.min(more.start)..known.end.max(more.end),
        None => more,
    }
}

impl Run {
    fn push(&mut self, text: &str, source: usize) {
        self.pieces.push((self.text.len(), source));
        self.text.push_str(text);
    }

    fn source_end(&self) -> usize {
        self.pieces
            .last()
            .map_or(0, |(at, source)| source + self.text.len() - at)
    }

    /// Where a position of the stretch stands in the source.
    fn source(&self, position: usize) -> usize {
        let piece = self.pieces.iter().rev().find(|(at, _)| *at <= position);
        piece.map_or(position, |(at, source)| source + position - at)
    }

    fn tokens(&self, rules: &TokenRules) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut before = None;
        let mut taken = 0;
        for (at, letter) in self.text.char_indices() {
            if at < taken {
                continue;
            }
            let opens = letter == '@' && before.is_none_or(is_space);
            before = Some(letter);
            if !opens {
                continue;
            }
            let rest = self.text.get(at + 1..).unwrap_or_default();
            let raw = raw_path(rest, rules);
            // What a token takes is not looked at again: an escaped space in it opens no other.
            taken = at + 1 + raw.len();
            before = raw.chars().next_back().or(before);
            if let Some(path) = meant_path(raw, rules) {
                let start = self.source(at);
                tokens.push(Token {
                    path,
                    range: start..start + 1 + raw.len(),
                });
            }
        }
        tokens
    }
}

/// White space as in ECMAScript's `\s`.
fn is_space(letter: char) -> bool {
    letter.is_whitespace() && letter != '\u{85}' || letter == '\u{FEFF}'
}

/// The path as written: up to white space, or a backslash that escapes no space.
fn raw_path<'t>(rest: &'t str, rules: &TokenRules) -> &'t str {
    let mut letters = rest.char_indices().peekable();
    let mut end = rest.len();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && letters.peek().is_some_and(|(_, next)| *next == ' ') {
            letters.next();
        } else if is_space(letter) || letter == '\\' {
            end = at;
            break;
        }
    }
    let raw = rest.get(..end).unwrap_or_default();
    if rules.trim_punctuation {
        raw.trim_end_matches([',', '.', ';', ':', '!', '?', ')', ']', '"', '\'', '`', '*', '_'])
    } else {
        raw
    }
}

fn meant_path(raw: &str, rules: &TokenRules) -> Option<String> {
    let path = raw.split('#').next().unwrap_or_default().replace("\\ ", " ");
    let first = path.chars().next()?;
    let plain = first.is_ascii_alphanumeric() || matches!(first, '.' | '_' | '-');
    let rooted = path.starts_with("~/") || (first == '/' && path.len() > 1);
    if !plain && !rooted {
        return None;
    }
    let looks_like_path =
        first == '.' || path.contains('/') || path.get(1..).is_some_and(|rest| rest.contains('.'));
    (rules.bare_words || looks_like_path).then_some(path)
}
