use proptest::prelude::*;

use super::*;
use crate::places::Places;

fn key(path: &str, within: Option<&str>) -> Key {
    Key {
        kind: if within.is_some() {
            Kind::Import
        } else {
            Kind::Instructions
        },
        scope: Scope::Project,
        path: path.to_owned(),
        within: within.map(str::to_owned),
    }
}

#[test]
fn an_approval_is_for_one_scope_and_one_importer() {
    let mut lock = ContextLock::default();
    let hash = ContentHash::of(b"x");
    lock.approve(key("a.md", Some("CLAUDE.md")), hash);
    assert_eq!(lock.get(&key("a.md", Some("CLAUDE.md"))), Some(hash));
    assert_eq!(lock.get(&key("a.md", Some("OTHER.md"))), None);
    assert_eq!(lock.get(&key("a.md", None)), None);
    let user = Key {
        scope: Scope::User,
        ..key("a.md", Some("CLAUDE.md"))
    };
    assert_eq!(lock.get(&user), None);
}

#[test]
fn what_is_not_understood_approves_nothing() {
    let hash = ContentHash::of(b"x");
    let row = format!(
        "[[approved]]\nkind = \"instructions\"\nscope = \"project\"\npath = \"a.md\"\nhash = \"{hash}\"\n"
    );
    let good = format!("schema = \"bindery.lock/1\"\n\n{row}");
    assert!(ContextLock::parse(&good, "context.lock").is_ok());
    let cases = [
        String::new(),
        "\u{0}".to_owned(),
        good.replace("lock/1", "lock/2"),
        good.replace("instructions", "everything"),
        good.replace("path =", "paths ="),
        good.replace(&hash.to_string(), "abc"),
        format!("{good}{row}"),
        format!("{good}more = true\n"),
    ];
    let all: Vec<String> = cases
        .iter()
        .map(|text| ContextLock::parse(text, "context.lock").unwrap_err().to_string())
        .collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_difference_shows_what_hides() {
    let old = b"one\ntwo\nthree\n";
    let new = "one\ntw\u{200b}o\u{1b}[2J\nthree\n";
    insta::assert_snapshot!(difference("AGENTS.md", old, new.as_bytes()));
}

#[test]
fn a_text_that_was_kept_and_damaged_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let places = Places::new(Some(folder.path()), None, folder.path().join("p"));
    let store = Store::new(&places, Home::User).unwrap();
    let hash = store.keep(b"text").unwrap();
    assert_eq!(store.text(hash).unwrap(), b"text");
    let kept = places.state.unwrap().join("locks/texts").join(hash.to_string());
    std::fs::write(kept, "other").unwrap();
    assert_eq!(store.text(hash), None);
}

#[cfg(unix)]
#[test]
fn a_pipe_or_device_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.md");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(bytes_of(&pipe), None);
    assert_eq!(bytes_of(Path::new("/dev/zero")), None);
}

#[test]
fn folders_with_instruction_files_are_found_at_any_depth() {
    let folder = tempfile::tempdir().unwrap();
    for path in [
        "AGENTS.md",
        "a/b/CLAUDE.md",
        "c/.claude/CLAUDE.md",
        "d/README.md",
        ".git/AGENTS.md",
    ] {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    let found = folders(folder.path());
    let shown: Vec<_> = found
        .iter()
        .map(|path| path.strip_prefix(folder.path()).unwrap().to_str().unwrap())
        .collect();
    assert!(
        ["", "a/b", "c"].iter().all(|path| shown.contains(path)),
        "{shown:?}"
    );
    assert!(
        !shown.iter().any(|path| path.contains(".git") || *path == "d"),
        "{shown:?}"
    );
}

proptest! {
    #[test]
    fn a_file_of_approvals_reads_back_and_is_written_the_same(
        rows in prop::collection::btree_map(("\\PC{1,12}", prop::option::of("\\PC{0,8}")), any::<[u8; 4]>(), 0..8)
    ) {
        let mut lock = ContextLock::default();
        for ((path, within), bytes) in rows {
            lock.approve(key(&path, within.as_deref()), ContentHash::of(&bytes));
        }
        let text = lock.to_toml().unwrap();
        let read = ContextLock::parse(&text, "f").unwrap();
        prop_assert_eq!(&read, &lock);
        prop_assert_eq!(read.to_toml().unwrap(), text);
    }

    #[test]
    fn no_text_panics(text in "[a-z_=\\[\\]\"0-9 \n/.]{0,80}") {
        let _ = ContextLock::parse(&text, "f");
    }
}
