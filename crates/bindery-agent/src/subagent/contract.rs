//! What a scoped report has to be like, looked at mechanically.

/// The most words of a scoped report.
const MOST_WORDS: usize = 500;

/// What is wrong with a report, for whoever wrote it; nothing where it is right.
pub fn violations(report: &str) -> Vec<String> {
    let mut out = Vec::new();
    if !report.trim_start().starts_with("Scope:") {
        out.push("it does not begin with `Scope:` and what was looked at".to_owned());
    }
    let words = report.split_whitespace().count();
    if words > MOST_WORDS {
        out.push(format!(
            "it has {words} words, and at most {MOST_WORDS} are taken"
        ));
    }
    if let Some(question) = question(report) {
        out.push(format!("it asks a question, and nobody answers: `{question}`"));
    }
    out
}

/// The first sentence that ends in a question mark, outside of code and quotations.
fn question(report: &str) -> Option<String> {
    let mut in_code = false;
    for line in report.lines() {
        let text = line.trim();
        if text.starts_with("```") || text.starts_with("~~~") {
            in_code = !in_code;
            continue;
        }
        if in_code || text.starts_with('>') {
            continue;
        }
        let plain = without_spans(text);
        let asks = plain
            .split_inclusive(['.', '!', '?', '？', '؟'])
            .find(|sentence| {
                let end = sentence.trim_end_matches([')', '"', '\'', '*', '_', ' ']);
                // `a?b` and `x?` in the middle of a word are no questions: a sentence has several words.
                end.ends_with(['?', '？', '؟'])
                    && (sentence.split_whitespace().count() > 1 || !end.is_ascii())
            });
        if let Some(asks) = asks {
            return Some(asks.trim().chars().take(80).collect());
        }
    }
    None
}

/// A line without what stands between backticks or double quotation marks, and without addresses.
fn without_spans(line: &str) -> String {
    let mut out = String::new();
    for (index, part) in line.split(['`', '"']).enumerate() {
        if index % 2 == 0 {
            out.push_str(part);
        }
    }
    let words = out.split(' ').filter(|word| !word.contains("://"));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_begins_with_its_scope_is_short_and_asks_nothing() {
        assert_eq!(violations("Scope: the parser.\n\nIt is in `src/a.rs`."), [""; 0]);
        assert_eq!(
            violations("\n Scope: all.\nThe URL is https://x.y/z?q=1. `a ? b : c` is used."),
            [""; 0]
        );
        assert_eq!(
            violations("Scope: x.\n```\nwhat is this ?\n```\n> is it so?\nHe wrote \"why so?\" there."),
            [""; 0]
        );
        let wrong = violations(&format!("Done.{} Shall I go on?", " word".repeat(600)));
        insta::assert_snapshot!(wrong.join("\n"), @"
        it does not begin with `Scope:` and what was looked at
        it has 605 words, and at most 500 are taken
        it asks a question, and nobody answers: `word word word word word word word word word word word word word word word word `
        ");
        assert_eq!(violations("Scope: x. Should I? Yes.").len(), 1);
        assert_eq!(violations("Scope: x.\n続けますか？").len(), 1);
        assert_eq!(violations("").len(), 1);
    }
}
