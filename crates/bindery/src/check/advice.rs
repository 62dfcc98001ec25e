//! Which mechanism for which need: prose where a gate, memory, a context file or a flag would serve better.

use super::codes::Code;
use super::diagnostic::Diagnostic;
use super::subject::{Subject, SubjectText};
use super::tables::Tables;

pub(super) fn check(subject: &Subject, tables: &Tables, out: &mut Vec<Diagnostic>) {
    for (shown, text) in subject.instructions() {
        for (line, said) in prose(text) {
            // One advice a line and mechanism: rows of one code are wordings of one need.
            let mut given: Vec<Code> = Vec::new();
            for row in &tables.advice {
                if given.contains(&row.code) || !row.regex.is_match(said) {
                    continue;
                }
                given.push(row.code);
                out.push(
                    Diagnostic::new(row.code, shown.clone(), line, row.says.clone()).mend(mend(row.code)),
                );
            }
        }
    }
}

fn mend(code: Code) -> &'static str {
    match code {
        Code::AdviceGate => "make it a gate, and keep the sentence as its explanation; see docs/check.md",
        Code::AdviceState => {
            "write it into a runtime context file that a hook reads afresh with every prompt"
        }
        Code::AdviceMemory => "keep it in memory, or in your own instruction file outside of the project",
        Code::AdviceLaunch => "give it where that run is started: `--append-system-prompt`",
        _ => "",
    }
}

/// Lines of running text, with their numbers: fenced code and front matter are left out.
pub(super) fn prose(text: &SubjectText) -> Vec<(u32, &str)> {
    let mut out = Vec::new();
    let mut fence: Option<&str> = None;
    let mut matter = text.text.starts_with("---\n") || text.text.starts_with("---\r\n");
    for (index, line) in text.text.lines().enumerate() {
        if matter {
            matter = index == 0 || line.trim_end() != "---";
            continue;
        }
        let bare = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) if !line.trim().is_empty() => {
                out.push((u32::try_from(index + 1).unwrap_or(u32::MAX), line));
            }
            _ => {}
        }
    }
    out
}
