use super::*;
use crate::{Scanner, scan};

/// Every example of every file, from the files themselves.
#[test]
fn examples_do_as_they_say() {
    let scanner = crate::test_scanner();
    let mut wrong = Vec::new();
    for (index, matches, passes) in &scanner.set().examples {
        let pattern = &scanner.set().patterns[*index];
        for example in matches {
            let found = scan(example.as_bytes(), scanner).findings;
            if !found
                .iter()
                .any(|finding| finding.rule == pattern.id || finding.kind == pattern.kind)
            {
                wrong.push(format!("{} misses {example:?}", pattern.id));
            }
        }
        for example in passes {
            let found = scan(example.as_bytes(), scanner).findings;
            if let Some(finding) = found.iter().find(|finding| finding.severity >= Severity::Medium) {
                wrong.push(format!(
                    "{} passes {example:?}, but {} finds it",
                    pattern.id, finding.rule
                ));
            }
        }
        assert!(!matches.is_empty(), "{} has no example", pattern.id);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unanchored_expressions_are_refused() {
    let file = |expression: &str| {
        format!(
            "[words]\ngo = [\"gogo\"]\n[[pattern]]\nid = \"x\"\nkind = \"role\"\nseverity = \"low\"\nlanguages = [\"en\"]\n\
             says = \"x\"\nany = ['{expression}']\nmatch = [\"gogo\"]\n"
        )
    };
    let problem = |expression: &str| {
        Scanner::from_files(&[("x.toml", &file(expression))])
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert!(problem("{go}").contains("no anchor"));
    assert!(problem("{gone!}").contains("no word group"));
    assert!(problem("{go!} {go!}").contains("two anchors"));
    assert!(Scanner::from_files(&[("x.toml", &file("{go!}"))]).is_ok());
}

#[test]
fn every_shipped_expression_parses() {
    let set = load(BUILTIN).unwrap();
    for (pattern, _, expression) in &set.expressions {
        for segment in &expression.segments {
            assert!(
                parse(&segment.body).is_ok(),
                "{}: {}",
                set.patterns[*pattern].id,
                segment.body
            );
        }
    }
}
