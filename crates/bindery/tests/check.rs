//! `check` over small trees: one a rule, a clean one, and whatever bytes a file may have.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "check/cases.rs"]
mod cases;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use bindery::check::{Code, RULES, Report, Request, Subject, Tables, apply, check, gather};
use bindery::guard::Scanner;
use cases::{CASES, Case, Content};
use proptest::prelude::*;

/// Compiled once: that takes longer than all the checks.
static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::builtin().unwrap());
static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables::built_in().unwrap());

fn write(root: &Path, name: &str, bytes: &[u8]) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// A project of these files, checked.
fn checked(
    files: &[(&str, Vec<u8>)],
    links: &[(&str, &str)],
    dialects: &[&str],
) -> (tempfile::TempDir, Subject, Report) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    write(&root, ".git/HEAD", b"ref: refs/heads/main\n");
    for (name, bytes) in files {
        write(&root, name, bytes);
    }
    for (name, target) in links {
        #[cfg(unix)]
        std::os::unix::fs::symlink(target, root.join(name)).unwrap();
    }
    let dialects = dialects.iter().map(ToString::to_string).collect();
    let request = Request {
        directory: root,
        dialects,
        ..Request::default()
    };
    let subject = gather(&request, &SCANNER).unwrap();
    let report = check(&subject, &TABLES);
    (folder, subject, report)
}

fn run(case: &Case) -> (tempfile::TempDir, Subject, Report) {
    let bytes = |content: &Content| match content {
        Content::Text(text) => text.as_bytes().to_vec(),
        Content::Bytes(bytes) => bytes.to_vec(),
        Content::Filled(size, end) => format!(
            "{}\n## Last\n\n{end}\n",
            "Small words fill this file.\n".repeat(size / 28)
        )
        .into_bytes(),
    };
    let files: Vec<(&str, Vec<u8>)> = case
        .files
        .iter()
        .map(|(name, content)| (*name, bytes(content)))
        .collect();
    checked(&files, case.links, case.dialects)
}

fn lines(report: &Report) -> String {
    let lines: Vec<String> = report.diagnostics.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn each_rule_finds_what_its_tree_has() {
    let mut all = String::new();
    for case in CASES {
        let (_folder, _, report) = run(case);
        let code: Code = case.code.parse().unwrap();
        assert!(
            report.diagnostics.iter().any(|one| one.code == code),
            "{}: {}",
            case.code,
            lines(&report)
        );
        all.push_str(&["# ", code.id(), " ", code.name(), "\n", &lines(&report), "\n\n"].concat());
    }
    insta::assert_snapshot!(all);
}

#[test]
fn every_rule_has_a_tree() {
    let tried: BTreeSet<&str> = CASES.iter().map(|case| case.code).collect();
    let all: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(all.difference(&tried).collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn a_clean_project_has_no_diagnostic() {
    let files = cases::CLEAN.map(|(name, text)| (name, text.as_bytes().to_vec()));
    let (_folder, _, report) = checked(&files, &[], &[]);
    assert_eq!(lines(&report), "");
    assert!(report.files > 5 && report.dialects.len() > 1, "{report:?}");
}

#[test]
fn the_same_project_gives_the_same_report() {
    for case in CASES.iter().take(8) {
        let (one, other) = (run(case), run(case));
        assert_eq!(lines(&one.2), lines(&other.2));
    }
}

#[test]
fn a_fix_mends_its_diagnostic_and_touches_nothing_else() {
    let mut fixed = BTreeSet::new();
    for case in CASES {
        let (_folder, subject, report) = run(case);
        for one in report.diagnostics.iter().filter(|one| one.fix.is_some()) {
            let fix = one.fix.as_ref().unwrap();
            let text = &subject.texts[&one.at.path];
            let applied = apply(&text.bytes, &[fix]);
            assert_eq!(applied.made, 1, "{one}");
            let grown = text.bytes.len() + fix.new.len() - fix.old.len();
            assert_eq!(applied.bytes.len(), grown, "{one}");
            fs::write(&text.path, &applied.bytes).unwrap();
            let dialects = case.dialects.iter().map(ToString::to_string).collect();
            let request = Request {
                directory: subject.tree.root().to_owned(),
                dialects,
                ..Request::default()
            };
            let again = check(&gather(&request, &SCANNER).unwrap(), &TABLES);
            assert!(
                !again
                    .diagnostics
                    .iter()
                    .any(|other| other.code == one.code && other.at == one.at),
                "{one}"
            );
            fs::write(&text.path, &text.bytes).unwrap();
            fixed.insert(one.code);
        }
    }
    let fixable: BTreeSet<Code> = RULES
        .iter()
        .filter(|rule| rule.is_fixable)
        .map(|rule| rule.code)
        .collect();
    assert_eq!(
        fixed, fixable,
        "every rule that says it has a fix has one, and no other"
    );
}

#[test]
fn what_is_silenced_with_a_reason_is_not_told() {
    let agents = "# Rules\n\n<!-- bindery-allow BND110: made by the build -->\nSee [the API](made/api.md).\n\nSee [more](made/more.md).\n";
    let settings = "[check]\nignore = [{ code = \"link-dead\", path = \"sub/*\", reason = \"a mirror\" }]\n";
    let files = [
        ("AGENTS.md", agents.as_bytes().to_vec()),
        ("sub/AGENTS.md", b"See [x](x.md).\n".to_vec()),
        ("bindery.toml", settings.as_bytes().to_vec()),
    ];
    let (_folder, _, report) = checked(&files, &[], &[]);
    assert_eq!(report.silenced, 2, "{}", lines(&report));
    insta::assert_snapshot!(lines(&report), @r"
    AGENTS.md:6: warning BND110 link-dead: `made/more.md` leads to nothing
      help: correct the path, or remove the link: a model that follows it wastes a step
    ");
}

fn contents() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop_oneof![
        any::<Vec<u8>>(),
        ".*".prop_map(String::into_bytes),
        prop::sample::select(vec![
            "---\n",
            "paths: [\"./x\"]\n",
            "<!-- bindery-ignore BND110: x -->\n",
            "<!-- bindery-ignore",
            "@a.md ",
            "@../B.md\n",
            "[x](Y%20.md)",
            "![](",
            "```\n",
            "{{x}} {{",
            "\u{feff}",
            "\u{202e}",
            "08:00:01",
            "- never a b\n",
            "- a b\n",
            "İ.md",
            "[a](İ.MD)",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_it_panic(main in contents(), rule in contents(), section in contents(), settings in contents()) {
        let files = [
            ("CLAUDE.md", main.clone()),
            ("AGENTS.md", main),
            (".claude/rules/r.md", rule),
            (".bindery/sections/s.md", section),
            ("bindery.toml", settings),
            ("i\u{307}.md", Vec::new()),
        ];
        let (_folder, subject, report) = checked(&files, &[], &["auto", "claude", "codex", "hermes"]);
        for one in &report.diagnostics {
            if let Some(fix) = &one.fix {
                prop_assert_eq!(apply(&subject.texts[&one.at.path].bytes, &[fix]).made, 1);
            }
        }
    }
}
