use proptest::prelude::*;

use super::*;
use crate::dialect::{Catalogue, TokenRules};

fn paths(text: &str, rules: &TokenRules) -> Vec<String> {
    scan(text, rules).into_iter().map(|token| token.path).collect()
}

fn claude() -> TokenRules {
    Catalogue::shipped().get("claude").unwrap().imports.unwrap().token
}

#[test]
fn structure_decides_what_is_an_import() {
    let none = [
        "`@a.md`",
        "```\n@a.md\n```",
        "    @a.md",
        "<div>\n@a.md\n</div>",
        "<!-- @a.md -->",
        "[t](@a.md)",
        "![@a.md](x)",
        "me@a.md",
        r"\@a.md",
        "(@a.md)",
    ];
    for text in none {
        assert_eq!(paths(text, &claude()), [""; 0], "{text}");
    }
    let one = [
        "@a.md",
        "see @a.md",
        "# @a.md",
        "- @a.md",
        "> @a.md",
        "*@a.md*",
        "[@a.md](x)",
        "| @a.md |",
        "<!-- c --> @a.md",
        "@a.md#part",
        "<b>@a.md</b>",
    ];
    for text in one {
        assert_eq!(paths(text, &claude()), ["a.md"], "{text}");
    }
}

#[test]
fn a_list_item_is_searched_raw_where_the_client_does() {
    assert_eq!(paths("- run `x @a.md y`", &claude()), ["a.md"]);
    assert_eq!(paths("- run `x @a.md y`", &TokenRules::default()), [""; 0]);
}

#[test]
fn punctuation_and_bare_words_follow_the_dialect() {
    assert_eq!(paths("@a.md, @b.md.", &claude()), ["a.md,", "b.md."]);
    assert_eq!(
        paths("@a.md, @b.md. @param", &TokenRules::default()),
        ["a.md", "b.md"]
    );
    assert_eq!(paths(r"@with\ space.md", &claude()), ["with space.md"]);
}

#[test]
fn secrets_are_known_by_name() {
    for name in [".env", ".env.local", "id_ed25519", "server.key", "a/.npmrc"] {
        assert!(is_secret(std::path::Path::new(name)), "{name}");
    }
    for name in [".env.example", "f.env", "environment.md", "keys.md"] {
        assert!(!is_secret(std::path::Path::new(name)), "{name}");
    }
}

proptest! {
    #[test]
    fn tokens_stand_where_they_say(text in "[ -~\\n]{0,80}|.{0,40}") {
        for token in scan(&text, &claude()) {
            let raw = text.get(token.range.clone());
            // After a comment the place is approximate; everywhere else it is the token itself.
            prop_assert!(raw.is_some_and(|raw| raw.starts_with('@')) || text.contains("<!--"));
        }
    }

    #[test]
    fn a_target_as_written_never_leaves_by_dots(parts in prop::collection::vec("\\.\\.|\\.|[a-z]{1,3}", 0..8)) {
        let directory = std::path::Path::new("/project/sub");
        let base = Base { directory, home: None };
        let target = target_of(&parts.join("/"), base).unwrap();
        let dots = target.components().any(|part| matches!(part, std::path::Component::ParentDir));
        prop_assert!(!dots && target.is_absolute());
        prop_assert_eq!(inside(&target, directory), target.starts_with(directory));
    }
}
