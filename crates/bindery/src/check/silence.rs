//! Diagnostics that somebody silenced, with a reason: in place, or in `bindery.toml`.
//!
//! `<!-- bindery-ignore BND110: reason -->` on the line before, or `# bindery-ignore BND110: reason` in front
//! matter and TOML. `bindery-allow` says the same: Hermes blocks a file that has "ignore" in an HTML comment. A remark about a whole file is silenced by a comment anywhere in it.

use std::sync::Arc;

use bindery_sources::dialect::Activation;
use bindery_sources::instructions::pattern_matches;
use bindery_sources::settings::Silenced;

use super::codes::Code;
use super::diagnostic::{Diagnostic, Fix};
use super::subject::{Subject, SubjectText};

const WORDS: [&str; 2] = ["bindery-ignore", "bindery-allow"];

/// One comment or setting.
struct Rule {
    code: Code,
    /// The file and the line below the comment; nothing for a setting.
    line: Option<(Arc<str>, u32)>,
    /// The setting's pattern.
    path: Option<String>,
    used: bool,
    /// What is said where it silences nothing.
    vain: Diagnostic,
}

/// What is left, and how many were silenced.
pub(super) fn silence(subject: &Subject, found: Vec<Diagnostic>) -> (Vec<Diagnostic>, usize) {
    let mut rules = Vec::new();
    let mut out = Vec::new();
    for (shown, text) in &subject.texts {
        comments(shown, text, &mut rules, &mut out);
    }
    for entry in &subject.silenced {
        setting(entry, &mut rules, &mut out);
    }
    let before = found.len();
    for diagnostic in found {
        let by = rules.iter_mut().filter(|rule| rule.covers(&diagnostic));
        let mut is_silenced = false;
        for rule in by {
            rule.used = true;
            is_silenced = true;
        }
        if !is_silenced {
            out.push(diagnostic);
        }
    }
    let told = out
        .iter()
        .filter(|one| !matches!(one.code, Code::IgnoreWithoutReason | Code::IgnoreUnknown))
        .count();
    out.extend(rules.into_iter().filter(|rule| !rule.used).map(|rule| rule.vain));
    (out, before - told)
}

impl Rule {
    fn covers(&self, diagnostic: &Diagnostic) -> bool {
        if self.code != diagnostic.code {
            return false;
        }
        match (&self.line, &self.path) {
            (Some((shown, below)), _) => {
                *shown == diagnostic.at.path && [0, *below].contains(&diagnostic.at.line)
            }
            (None, Some(pattern)) => {
                let rules = Activation::default();
                let path = std::path::Path::new(&*diagnostic.at.path);
                pattern_matches(pattern, &rules, std::iter::once(path))
            }
            (None, None) => true,
        }
    }
}

/// The comments of one file.
fn comments(shown: &Arc<str>, text: &SubjectText, rules: &mut Vec<Rule>, out: &mut Vec<Diagnostic>) {
    if !WORDS.iter().any(|word| text.text.contains(word)) {
        return;
    }
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for (index, line) in text.text.split_inclusive('\n').enumerate() {
        let start = at;
        at += line.len();
        let bare = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        if fence.is_some() {
            continue;
        }
        let Some(said) = comment(bare) else { continue };
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let whole = Fix {
            range: start..at,
            old: line.to_owned(),
            new: String::new(),
        };
        let fix = text.is_utf8().then_some(whole);
        one(said, shown, number, fix.as_ref(), rules, out);
    }
}

/// What a comment says after the word.
fn comment(line: &str) -> Option<&str> {
    let html = line
        .strip_prefix("<!--")
        .and_then(|rest| rest.strip_suffix("-->"));
    let inner = html.or_else(|| line.strip_prefix('#'))?;
    let said = WORDS.iter().find_map(|word| inner.trim().strip_prefix(word))?;
    (said.is_empty() || said.starts_with([' ', ':'])).then(|| said.trim())
}

fn one(
    said: &str,
    shown: &Arc<str>,
    line: u32,
    fix: Option<&Fix>,
    rules: &mut Vec<Rule>,
    out: &mut Vec<Diagnostic>,
) {
    let (codes, reason) = said.split_once(':').unwrap_or((said, ""));
    if reason.trim().is_empty() {
        out.push(without_reason(Diagnostic::new(
            Code::IgnoreWithoutReason,
            shown.clone(),
            line,
            "nothing is silenced: there is no reason",
        )));
        return;
    }
    for word in codes.split([',', ' ']).filter(|word| !word.is_empty()) {
        match word.parse::<Code>() {
            Err(error) => out.push(Diagnostic::new(
                Code::IgnoreUnknown,
                shown.clone(),
                line,
                error.to_string(),
            )),
            Ok(code) => {
                let message = format!("{code} is not reported for the line below, so this silences nothing");
                let vain =
                    Diagnostic::new(Code::IgnoreUnused, shown.clone(), line, message).mend("remove the line");
                let is_alone = codes.split([',', ' ']).filter(|word| !word.is_empty()).count() == 1;
                rules.push(Rule {
                    code,
                    line: Some((shown.clone(), line.saturating_add(1))),
                    path: None,
                    used: false,
                    vain: vain.fix(fix.filter(|_| is_alone).cloned()),
                });
            }
        }
    }
}

fn setting(entry: &Silenced, rules: &mut Vec<Rule>, out: &mut Vec<Diagnostic>) {
    let reason = entry.reason.as_deref().unwrap_or_default();
    if reason.trim().is_empty() {
        let told = Diagnostic::at(
            Code::IgnoreWithoutReason,
            entry.at.clone(),
            "nothing is silenced: this entry has no `reason`",
        );
        out.push(without_reason(told));
        return;
    }
    match entry.code.parse::<Code>() {
        Err(error) => out.push(Diagnostic::at(
            Code::IgnoreUnknown,
            entry.at.clone(),
            error.to_string(),
        )),
        Ok(code) => {
            let message = format!("{code} is not reported where this entry looks, so it silences nothing");
            rules.push(Rule {
                code,
                line: None,
                path: entry.path.clone(),
                used: false,
                vain: Diagnostic::at(Code::IgnoreUnused, entry.at.clone(), message).mend("remove the entry"),
            });
        }
    }
}

fn without_reason(diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.mend("say why after a colon: a later reader must be able to judge whether it still holds")
}
