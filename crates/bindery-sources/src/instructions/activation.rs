//! When a conditional file loads, and whether a touched path matches.

use std::ffi::OsString;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::diagnostic::{Code, Diagnostic, Severity};
use super::prepare::Block;
use crate::dialect::{Activation, Files, FrontMatter, GlobStyle, Unreadable, WithoutPatterns};
use crate::front_matter::{self, Fields, expand_braces};

/// When a file loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum When {
    /// At the start.
    Always,
    /// When a touched path matches one of these.
    Paths(Vec<String>),
    /// When asked for, by this description if it has one.
    Request(Option<String>),
    /// Not by itself.
    Never,
}

/// Reads when a file loads from its front matter, and what is wrong with that.
pub(super) fn when(
    path: &Path,
    block: Option<&Block>,
    rules: &Activation,
    matter: &FrontMatter,
) -> (When, Vec<Diagnostic>) {
    let Some(block) = block else {
        return (without(rules.without_patterns, None), Vec::new());
    };
    let known: Vec<&str> = rules
        .pattern_keys
        .iter()
        .chain(&rules.always_key)
        .chain(&rules.description_key)
        .chain(&matter.known_keys)
        .map(String::as_str)
        .collect();
    let fields = front_matter::read(&block.text, rules.unreadable, &known);
    let header = Header {
        path,
        block,
        fields: &fields,
    };
    let mut notes = key_notes(&header, &known, rules.unreadable);
    let decided = decide(&header, rules, &mut notes);
    (decided, notes)
}

/// The header of a file, read.
struct Header<'h> {
    path: &'h Path,
    block: &'h Block,
    fields: &'h Fields,
}

impl Header<'_> {
    /// A remark at a line of the block.
    fn remark(
        &self,
        code: Code,
        severity: Severity,
        message: impl Into<String>,
        line: Option<u32>,
    ) -> Diagnostic {
        let line = self.block.line + line.unwrap_or(1).saturating_sub(1);
        Diagnostic::new(code, severity, self.path, message).at_line(line)
    }
}

fn decide(header: &Header<'_>, rules: &Activation, notes: &mut Vec<Diagnostic>) -> When {
    let fields = header.fields;
    let description = rules
        .description_key
        .as_deref()
        .and_then(|key| fields.text(key))
        .map(str::to_owned);
    if rules.always_key.as_deref().is_some_and(|key| fields.is_true(key)) {
        return When::Always;
    }
    let no = rules
        .always_key
        .as_deref()
        .is_some_and(|key| fields.values.contains_key(key));
    let given = rules
        .pattern_keys
        .iter()
        .find_map(|key| Some((key, fields.patterns(key)?)));
    let Some((key, patterns)) = given else {
        return without(
            if no {
                rules.not_always
            } else {
                rules.without_patterns
            },
            description,
        );
    };
    if fields.is_blank(key) {
        return without(rules.blank_patterns, description);
    }
    let patterns: Vec<String> = patterns
        .into_iter()
        .map(|pattern| {
            match rules
                .drop_ending
                .as_deref()
                .and_then(|ending| pattern.strip_suffix(ending))
            {
                Some(short) => short.to_owned(),
                None => pattern,
            }
        })
        .filter(|pattern| !pattern.is_empty())
        .collect();
    if patterns.is_empty() {
        let meaning = match (rules.empty_patterns, &description) {
            (WithoutPatterns::Always, _) => "this client then loads the file always",
            (WithoutPatterns::OnRequest, _) => "the file then loads on request only",
            (WithoutPatterns::Never, _) => "the file then never loads by itself",
        };
        let line = front_matter::line_of_key(&header.block.text, key);
        let message = format!("`{key}` lists no pattern; {meaning}");
        notes.push(header.remark(Code::EmptyGlobs, Severity::Warning, message, line));
        return without(rules.empty_patterns, description);
    }
    if patterns.iter().all(|pattern| rules.match_all.contains(pattern)) {
        return When::Always;
    }
    notes.extend(dead_patterns(header, key, &patterns, rules));
    When::Paths(patterns)
}

/// Patterns that this client's matching can never satisfy.
fn dead_patterns(header: &Header<'_>, key: &str, patterns: &[String], rules: &Activation) -> Vec<Diagnostic> {
    if rules.style != GlobStyle::Gitignore {
        return Vec::new();
    }
    let all_negated = patterns.iter().all(|pattern| pattern.starts_with('!'));
    let dead = patterns
        .iter()
        .filter(|pattern| pattern.starts_with("./") || (all_negated && pattern.starts_with('!')));
    dead.map(|pattern| {
        let message = format!("the pattern `{pattern}` matches nothing: write it without `./` or `!`");
        let line = front_matter::line_of_pattern(&header.block.text, key, pattern);
        header.remark(Code::DeadGlob, Severity::Warning, message, line)
    })
    .collect()
}

fn without(rule: WithoutPatterns, description: Option<String>) -> When {
    match rule {
        WithoutPatterns::Always => When::Always,
        WithoutPatterns::Never => When::Never,
        WithoutPatterns::OnRequest => When::Request(description),
    }
}

fn key_notes(header: &Header<'_>, known: &[&str], unreadable: Unreadable) -> Vec<Diagnostic> {
    let (fields, mut notes) = (header.fields, Vec::new());
    // A client that reads lines needs no YAML: `globs: *.ts` is the usual form there.
    let is_read = unreadable == Unreadable::ReadLines && !fields.values.is_empty();
    if let Some(fault) = fields.fault.as_ref().filter(|_| !is_read) {
        let message = format!("front matter is not YAML: {}", fault.reason);
        notes.push(header.remark(Code::FrontMatter, Severity::Warning, message, fault.line));
    }
    for key in fields.values.keys().filter(|key| !known.contains(&key.as_str())) {
        let near = super::suggest::near(key, known.iter().copied());
        let message = format!("this client does not know the key `{key}`; it scopes nothing");
        let line = front_matter::line_of_key(&header.block.text, key);
        notes.push(
            header
                .remark(Code::UnknownKey, Severity::Note, message, line)
                .suggesting(near),
        );
    }
    notes
}

/// Patterns, ready to be tested.
#[derive(Debug)]
pub(super) enum Matcher {
    Ignore(Gitignore),
    Globs(GlobSet),
}

impl Matcher {
    /// Compiles patterns. One that is no pattern matches nothing and is named.
    pub(super) fn new(patterns: &[String], rules: &Activation) -> (Self, Vec<String>) {
        let mut bad = Vec::new();
        let expanded = patterns.iter().flat_map(|pattern| expand_braces(pattern));
        let expanded = expanded.map(|pattern| {
            if rules.literal_class_negation {
                literal_classes(&pattern)
            } else {
                pattern
            }
        });
        let matcher = match rules.style {
            GlobStyle::Gitignore => {
                let mut builder = GitignoreBuilder::new("");
                // The flag is only refused for lines added before it.
                let _ = builder.case_insensitive(rules.ignore_case);
                for pattern in expanded {
                    if builder.add_line(None, &pattern).is_err() {
                        bad.push(pattern);
                    }
                }
                Self::Ignore(builder.build().unwrap_or_else(|_| Gitignore::empty()))
            }
            style => {
                let mut builder = GlobSetBuilder::new();
                for pattern in expanded {
                    let anywhere = style == GlobStyle::Basename && !pattern.contains('/');
                    let full = if anywhere {
                        format!("**/{pattern}")
                    } else {
                        pattern.trim_start_matches("./").to_owned()
                    };
                    match GlobBuilder::new(&full)
                        .literal_separator(true)
                        .case_insensitive(rules.ignore_case)
                        .build()
                    {
                        Ok(glob) => {
                            builder.add(glob);
                        }
                        Err(_) => bad.push(pattern),
                    }
                }
                Self::Globs(builder.build().unwrap_or_default())
            }
        };
        (matcher, bad)
    }

    /// The first of the names in a directory, relative to the patterns' base, that matches.
    pub(super) fn first_match<'n>(&self, directory: &Path, names: &'n [OsString]) -> Option<&'n OsString> {
        match self {
            Self::Globs(set) => names.iter().find(|name| set.is_match(directory.join(name))),
            // What lies in an ignored directory cannot be taken back by a `!` line.
            Self::Ignore(ignore) if ignores(ignore, directory) => names.first(),
            Self::Ignore(ignore) => names
                .iter()
                .find(|name| ignore.matched(directory.join(name), false).is_ignore()),
        }
    }
}

/// Whether one pattern matches one of these paths, by a dialect's rules; paths are relative to what the
/// pattern is relative to.
pub fn pattern_matches<'p>(
    pattern: &str,
    rules: &Activation,
    mut paths: impl Iterator<Item = &'p Path>,
) -> bool {
    let (matcher, _) = Matcher::new(&[pattern.to_owned()], rules);
    paths.any(|path| {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return false;
        };
        matcher.first_match(directory, &[name.to_owned()]).is_some()
    })
}

/// `[!a]` and `[^a]` as classes of the characters in them.
fn literal_classes(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(open) = rest.find('[') {
        let (before, class) = rest.split_at(open + 1);
        out.push_str(before);
        let sign = class.chars().next().filter(|first| matches!(first, '!' | '^'));
        let close = class.get(1..).and_then(|inner| inner.find(']'));
        if let (Some(sign), Some(close)) = (sign, close) {
            out.push_str(class.get(1..=close).unwrap_or_default());
            out.push(sign);
            rest = class.get(close + 1..).unwrap_or_default();
        } else {
            rest = class;
        }
    }
    out.push_str(rest);
    out
}

/// Whether a directory or one above it is ignored, from the top down.
fn ignores(ignore: &Gitignore, directory: &Path) -> bool {
    let ancestors: Vec<&Path> = directory
        .ancestors()
        .filter(|part| !part.as_os_str().is_empty())
        .collect();
    ancestors
        .iter()
        .rev()
        .any(|part| ignore.matched(part, true).is_ignore())
}

/// Whether a set of files asks front matter at all.
pub(super) fn is_conditional(files: &Files) -> bool {
    files.conditional
}
