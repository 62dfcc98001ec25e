//! What the model calls a server's tool: `mcp__SERVER__TOOL`.
//!
//! Providers take letters, digits, `_` and `-`, at most 64 of them. A name that has to be changed for that, or
//! that could be another server's, ends in eight digits of a hash of both names. The name of a tool follows from
//! these two alone: no other server or tool changes it.

use bindery_core::ContentHash;

/// How names of servers' tools begin.
pub(crate) const PREFIX: &str = "mcp__";
/// The longest name that every provider takes.
const LONGEST: usize = 64;
/// How many digits of the hash tell names apart.
const DIGITS: usize = 8;

/// The name of a server's tool in requests.
pub fn exposed_name(server: &str, tool: &str) -> String {
    let (clean_server, clean_tool) = (clean(server), clean(tool));
    let whole = format!("{PREFIX}{clean_server}__{clean_tool}");
    let is_the_same = clean_server == server && clean_tool == tool && !server.is_empty() && !tool.is_empty();
    let is_plain = is_the_same && !server.contains("__") && !server.ends_with('_') && !tool.starts_with('_');
    if is_plain && whole.len() <= LONGEST {
        return whole;
    }
    let hash = ContentHash::of(format!("{server}\0{tool}").as_bytes()).to_string();
    let kept: String = whole.chars().take(LONGEST - DIGITS - 1).collect();
    let digits: String = hash.chars().take(DIGITS).collect();
    format!("{kept}_{digits}")
}

fn clean(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_stay_and_all_others_are_told_apart() {
        assert_eq!(exposed_name("files", "read_file"), "mcp__files__read_file");
        assert_eq!(exposed_name("a-b", "c__d"), "mcp__a-b__c__d");
        let odd = [
            ("a", "b c"),
            ("a", "b.c"),
            ("a", "b_c\u{0}"),
            ("a__b", "c"),
            ("a_", "b"),
            ("a", "_b"),
            ("a", ""),
            ("", "a"),
            ("ä", "ö"),
            ("a", "x".repeat(100).leak()),
            ("a", "x".repeat(101).leak()),
            ("a", "</bindery-mcp>"),
        ];
        let mut names: Vec<String> = odd
            .iter()
            .map(|(server, tool)| exposed_name(server, tool))
            .collect();
        for name in &names {
            assert!(name.len() <= LONGEST, "{name}");
            assert_eq!(*name, clean(name));
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), odd.len());
        assert_eq!(exposed_name("a", "b c"), exposed_name("a", "b c"));
    }
}
