//! Rules that load together and cannot both be followed.
//!
//! Only files that speak for the same directory are compared: nearer files are meant to overrule
//! farther ones.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::advice::prose;
use super::codes::Code;
use super::diagnostic::Diagnostic;
use super::subject::{Reading, Subject, holder};
use super::tables::{Opposite, Tables};

/// One rule and its place.
struct Said<'s> {
    shown: &'s Arc<str>,
    line: u32,
    text: &'s str,
}

pub(super) fn check(subject: &Subject, tables: &Tables, out: &mut Vec<Diagnostic>) {
    for reading in &subject.readings {
        for rules in rules(subject, reading).values() {
            for opposite in &tables.opposites {
                chosen_twice(reading, opposite, rules, out);
            }
            forbidden_and_asked(reading, rules, out);
        }
    }
}

/// The rules that hold without condition, by the directory for which they speak.
fn rules<'s>(subject: &'s Subject, reading: &Reading) -> BTreeMap<PathBuf, Vec<Said<'s>>> {
    let mut out: BTreeMap<PathBuf, Vec<Said<'s>>> = BTreeMap::new();
    for file in reading.sent().into_iter().filter(|file| file.patterns.is_empty()) {
        let Some((shown, text)) = subject.text_of(&file.path) else {
            continue;
        };
        let said = prose(text).into_iter().filter(|(_, text)| !is_conditional(text));
        let said = said.map(|(line, text)| Said { shown, line, text });
        out.entry(holder(file, subject.tree.root()))
            .or_default()
            .extend(said);
    }
    out
}

/// Whether a line says where it holds.
fn is_conditional(line: &str) -> bool {
    let words = [
        "in", "for", "when", "if", "except", "unless", "only", "within", "inside", "under", "while", "but",
    ];
    line.to_lowercase()
        .split(|letter: char| !letter.is_alphanumeric())
        .any(|word| words.contains(&word))
}

fn chosen_twice(reading: &Reading, opposite: &Opposite, rules: &[Said<'_>], out: &mut Vec<Diagnostic>) {
    let asks = |regex: &regex_automata::meta::Regex, text: &str| {
        regex
            .find_iter(text)
            .any(|hit| !is_negated(text.get(..hit.start()).unwrap_or_default()))
    };
    let one = rules
        .iter()
        .find(|said| asks(&opposite.one, said.text) && !asks(&opposite.other, said.text));
    let other = rules
        .iter()
        .find(|said| asks(&opposite.other, said.text) && !asks(&opposite.one, said.text));
    if let (Some(one), Some(other)) = (one, other) {
        tell(reading, one, other, &opposite.topic, out);
    }
}

fn is_negated(before: &str) -> bool {
    let before = before.trim_end().to_lowercase();
    ["not", "never", "don't", "no", "avoid", "than", "of"]
        .iter()
        .any(|word| before.ends_with(word))
}

/// "Always X." and "Never X.", word for word.
fn forbidden_and_asked(reading: &Reading, rules: &[Said<'_>], out: &mut Vec<Diagnostic>) {
    let mut forbidden: BTreeMap<String, &Said<'_>> = BTreeMap::new();
    let mut asked: BTreeMap<String, &Said<'_>> = BTreeMap::new();
    for said in rules {
        let Some((is_forbidden, what)) = norm(said.text) else {
            continue;
        };
        let (own, other) = if is_forbidden {
            (&mut forbidden, &asked)
        } else {
            (&mut asked, &forbidden)
        };
        if let Some(before) = other.get(&what) {
            tell(reading, before, said, "the same thing", out);
        }
        own.entry(what).or_insert(said);
    }
}

/// Whether a line forbids, and what.
fn norm(line: &str) -> Option<(bool, String)> {
    let bare = line
        .trim()
        .trim_start_matches(['-', '*', '+', ' '])
        .trim_end_matches(['.', '!', ' ', '*'])
        .to_lowercase();
    let bare = bare.replace('’', "'");
    for start in ["never ", "do not ", "don't ", "you must not ", "you must never "] {
        if let Some(what) = bare.strip_prefix(start) {
            return Some((true, what.to_owned()));
        }
    }
    let starts = [
        "always ",
        "you must always ",
        "you must ",
        "please ",
        "you should ",
    ];
    let asked = starts
        .iter()
        .find_map(|start| bare.strip_prefix(start))
        .unwrap_or(&bare);
    (asked.split_whitespace().count() >= 2).then(|| (false, asked.to_owned()))
}

fn tell(reading: &Reading, one: &Said<'_>, other: &Said<'_>, topic: &str, out: &mut Vec<Diagnostic>) {
    let (first, second) = if (one.shown, one.line) <= (other.shown, other.line) {
        (one, other)
    } else {
        (other, one)
    };
    let shown = |said: &Said<'_>| said.text.trim().chars().take(60).collect::<String>();
    let message = format!(
        "`{}` contradicts `{}` at {}:{} ({topic})",
        shown(second).escape_debug(),
        shown(first).escape_debug(),
        first.shown,
        first.line
    );
    let diagnostic = Diagnostic::new(Code::RulesContradict, second.shown.clone(), second.line, message);
    out.push(
        diagnostic
            .mend("remove one, or say where each holds")
            .dialect(reading.name()),
    );
}
