//! What a rule is about, from the one page that documents all of them.

use super::codes::Code;

const PAGE: &str = include_str!("../../../../docs/check.md");

/// The section of `docs/check.md` on a rule, its heading included.
pub fn explain(code: Code) -> &'static str {
    section(&heading(code)).unwrap_or(code.rule().about)
}

fn heading(code: Code) -> String {
    format!("### {} `{}`", code.id(), code.name())
}

fn section(heading: &str) -> Option<&'static str> {
    let start = PAGE.find(heading)?;
    let section = PAGE.get(start..)?;
    let end = section
        .match_indices("\n## ")
        .chain(section.match_indices("\n### "))
        .map(|(at, _)| at + 1)
        .min();
    Some(section.get(..end.unwrap_or(section.len()))?.trim_end())
}

#[cfg(test)]
mod tests {
    use super::super::codes::RULES;
    use super::*;

    #[test]
    fn every_rule_has_its_section_and_every_section_its_rule() {
        for rule in RULES {
            let text = section(&heading(rule.code))
                .unwrap_or_else(|| panic!("docs/check.md lacks {}", heading(rule.code)));
            assert!(text.lines().count() > 2, "{}: says nothing", rule.id);
        }
        let headings = PAGE.lines().filter(|line| line.starts_with("### BND")).count();
        assert_eq!(headings, RULES.len());
    }

    #[test]
    fn the_table_of_the_page_is_the_table_of_the_rules() {
        for rule in RULES {
            let level = format!("{:?}", rule.level).to_lowercase();
            let fix = if rule.is_fixable { "yes" } else { "" };
            let anchor = format!("{}-{}", rule.id, rule.name).to_lowercase();
            let row = format!(
                "| [{}](#{anchor}) | {} | {level} | {fix} | {} |",
                rule.id, rule.name, rule.about
            );
            assert!(PAGE.contains(&row), "docs/check.md lacks the row\n{row}");
        }
    }
}
