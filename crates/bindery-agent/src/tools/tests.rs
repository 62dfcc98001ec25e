//! The tools on real files.

use std::fs;

use serde_json::{Value, json};

use super::*;
use crate::tool::Outcome;

struct Place {
    folder: tempfile::TempDir,
    toolbox: Toolbox,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        fs::create_dir_all(work.join("src")).unwrap();
        fs::write(work.join("src/a.rs"), "fn one() {}\nfn two() {}\n").unwrap();
        fs::write(work.join(".gitignore"), "target\n").unwrap();
        fs::create_dir(work.join("target")).unwrap();
        fs::write(work.join("target/junk.rs"), "fn junk() {}\n").unwrap();
        fs::write(folder.path().join("secret"), "outside\n").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("../secret", work.join("link")).unwrap();
        let workdir = Workdir::new(&work, Reach::Inside).unwrap();
        let environment = [("PATH".into(), std::env::var_os("PATH").unwrap())].into();
        let toolbox = toolbox(&workdir, Shell::new(environment));
        Self { folder, toolbox }
    }

    async fn call(&self, tool: &str, input: Value) -> Outcome {
        let Value::Object(input) = input else {
            panic!("no object")
        };
        self.toolbox.get(tool).unwrap().clone().run(input).await
    }

    async fn done(&self, tool: &str, input: Value) -> String {
        let outcome = self.call(tool, input).await;
        assert!(!outcome.is_error, "{}", outcome.text);
        outcome.text
    }

    async fn failed(&self, tool: &str, input: Value) -> String {
        let outcome = self.call(tool, input).await;
        assert!(outcome.is_error, "{}", outcome.text);
        outcome.text
    }
}

#[tokio::test]
async fn files_are_read_listed_and_searched() {
    let place = Place::new();
    assert_eq!(
        place
            .done("read", json!({"path": "src/a.rs", "from_line": 2}))
            .await,
        "fn two() {}\n"
    );
    assert_eq!(place.done("list", json!({})).await, ".gitignore\nlink\nsrc/");
    let found = place
        .done("search", json!({"pattern": "fn \\w+", "glob": "*.rs"}))
        .await;
    assert_eq!(found, "src/a.rs:1: fn one() {}\nsrc/a.rs:2: fn two() {}");
    assert!(
        place
            .failed("search", json!({"pattern": "("}))
            .await
            .contains("unclosed group")
    );
    assert!(
        place
            .failed("read", json!({"path": "src"}))
            .await
            .contains("use `list`")
    );
    assert!(
        place
            .failed("read", json!({"path": "src/a.rs", "from_line": 9}))
            .await
            .contains("it has 2 lines")
    );
}

#[tokio::test]
async fn no_path_leads_out() {
    let place = Place::new();
    for path in [
        "../secret",
        "link",
        "/etc/passwd",
        "src/../../secret",
        "new/../../secret",
        "link/x",
    ] {
        for (tool, input) in [
            ("read", json!({"path": path})),
            ("write", json!({"path": path, "content": "x"})),
            ("edit", json!({"path": path, "old": "outside", "new": "x"})),
        ] {
            place.failed(tool, input).await;
        }
    }
    assert_eq!(
        fs::read_to_string(place.folder.path().join("secret")).unwrap(),
        "outside\n"
    );
}

#[tokio::test]
async fn files_are_written_and_edited_as_a_whole() {
    let place = Place::new();
    place
        .done(
            "write",
            json!({"path": "new/deep/b.txt", "content": "one two one"}),
        )
        .await;
    assert!(
        place
            .failed(
                "edit",
                json!({"path": "new/deep/b.txt", "old": "one", "new": "x"})
            )
            .await
            .contains("2 times")
    );
    assert!(
        place
            .failed(
                "edit",
                json!({"path": "new/deep/b.txt", "old": "six", "new": "x"})
            )
            .await
            .contains("does not occur")
    );
    place
        .done(
            "edit",
            json!({"path": "new/deep/b.txt", "old": "two", "new": "2"}),
        )
        .await;
    assert_eq!(
        place.done("read", json!({"path": "new/deep/b.txt"})).await,
        "one 2 one"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let file = place.folder.path().join("work/new/deep/b.txt");
        let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode() & 0o600, 0o600);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        place
            .done("edit", json!({"path": "new/deep/b.txt", "old": "2", "new": "2"}))
            .await;
        assert_eq!(mode(), 0o755, "an edit keeps what a file may");
    }
    let left: Vec<_> = fs::read_dir(place.folder.path().join("work/new/deep"))
        .unwrap()
        .collect();
    assert_eq!(left.len(), 1, "no temporary file is left");
}

#[tokio::test]
async fn commands_have_limits() {
    let place = Place::new();
    assert_eq!(
        place
            .done("shell", json!({"command": "echo out; echo err >&2"}))
            .await,
        "out\n[stderr]\nerr"
    );
    assert!(
        place
            .failed("shell", json!({"command": "exit 3"}))
            .await
            .contains("exit status: 3")
    );
    let long = place
        .done("shell", json!({"command": "yes 0123456789 | head -c 200000"}))
        .await;
    assert!(
        long.len() < MOST_BYTES && long.contains("175000 bytes left out"),
        "{}",
        long.len()
    );
}

#[tokio::test]
async fn a_command_whose_time_is_over_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let workdir = Workdir::new(folder.path(), Reach::Inside).unwrap();
    let shell = Shell {
        timeout: std::time::Duration::from_millis(1),
        ..Shell::new([].into())
    };
    let toolbox = toolbox(&workdir, shell);
    let Value::Object(input) = json!({"command": "while :; do :; done"}) else {
        panic!("no object")
    };
    let outcome = toolbox.get("shell").unwrap().clone().run(input).await;
    assert!(
        outcome.is_error && outcome.text.starts_with("Stopped after 1ms"),
        "{}",
        outcome.text
    );
}

#[test]
fn long_text_is_cut_at_a_line_and_says_so() {
    let text = "0123456789\n".repeat(10_000);
    let cut = bounded(&text, "narrow it");
    assert!(cut.len() < MOST_BYTES + 100);
    assert!(cut.ends_with("more bytes left out; narrow it]"));
    assert!(cut.lines().rev().nth(1) == Some("0123456789"));
}

/// The same place with tools that keep what is large.
fn keeping() -> Place {
    let place = Place::new();
    let work = place.folder.path().join("work");
    let workdir = Workdir::new(&work, Reach::Inside).unwrap();
    let environment = [("PATH".into(), std::env::var_os("PATH").unwrap())].into();
    let intake = Intake::new(std::sync::Arc::new(bindery_store::MemoryBlobs::default()));
    let toolbox = toolbox_with(&workdir, Shell::new(environment), &intake);
    Place { toolbox, ..place }
}

fn reference(text: &str) -> String {
    bindery_core::compaction::references(text)
        .into_iter()
        .next()
        .unwrap()
}

#[tokio::test]
async fn what_is_large_is_kept_and_read_by_reference() {
    let place = keeping();
    let mut log = String::new();
    for line in 1..=9_000 {
        log.push_str(if line == 4_321 {
            "the needle é\n"
        } else {
            "a line of the log\n"
        });
    }
    fs::write(place.folder.path().join("work/build.log"), &log).unwrap();
    let digest = place.done("read", json!({"path": "build.log"})).await;
    assert!(
        digest.starts_with("[9000 lines, ") && digest.len() < 9_000,
        "{digest}"
    );
    let kept = reference(&digest);
    let by = |input: Value| {
        let mut input = input;
        input["reference"] = kept.as_str().into();
        input
    };
    let found = place.done("retrieve", by(json!({"match": "needle"}))).await;
    assert_eq!(found, "4321| the needle é");
    let found = place
        .done("retrieve", by(json!({"match": "n.edle|nothing", "regex": true})))
        .await;
    assert_eq!(found, "4321| the needle é");
    let lines = place
        .done("retrieve", by(json!({"from_line": 4_320, "lines": 2})))
        .await;
    assert_eq!(
        lines,
        "4320| a line of the log\n4321| the needle é\n[4679 more lines of 9000 lines; go on with `from_line`: 4322]"
    );
    assert_eq!(
        place.done("retrieve", by(json!({"match": "absent"}))).await,
        "None of its 9000 lines matches."
    );
    assert_eq!(
        place.done("retrieve", by(json!({"from_line": 9_001}))).await,
        "It has 9000 lines, so line 9001 does not exist."
    );
    for (input, why) in [
        (by(json!({"match": "("})), ""),
        (by(json!({"match": "(", "regex": true})), "no regular expression"),
        (by(json!({"match": ""})), "is empty"),
        (json!({"reference": "blob:0000000000000000"}), "nothing is kept"),
        (json!({"reference": "../../etc/passwd"}), "is no reference"),
        (json!({}), "is missing"),
    ] {
        let outcome = place.call("retrieve", input).await;
        assert_eq!(outcome.is_error, !why.is_empty(), "{}", outcome.text);
        assert!(outcome.text.contains(why), "{}", outcome.text);
    }
    // Some lines of a file are given as they are.
    let lines = place
        .done(
            "read",
            json!({"path": "build.log", "from_line": 4_321, "lines": 1}),
        )
        .await;
    assert_eq!(lines, "the needle é\n");
}

#[tokio::test]
async fn a_large_output_is_kept_whole_and_what_is_no_text_is_refused() {
    let place = keeping();
    let command = "i=0; while [ $i -lt 6000 ]; do echo \"line $i of the output\"; i=$((i+1)); done; echo broken >&2; exit 3";
    let said = place.failed("shell", json!({"command": command})).await;
    assert!(
        said.starts_with("[6000 lines, ") && said.contains("[stderr]\nbroken"),
        "{said}"
    );
    assert!(said.ends_with("[exit status: 3]"), "{said}");
    let input = json!({"reference": reference(&said), "match": "line 3000 "});
    assert_eq!(
        place.done("retrieve", input).await,
        "3001| line 3000 of the output"
    );
    assert_eq!(
        place.done("shell", json!({"command": "echo small"})).await,
        "small"
    );
    fs::write(place.folder.path().join("work/data"), vec![0_u8; 100_000]).unwrap();
    assert!(
        place
            .failed("read", json!({"path": "data"}))
            .await
            .contains("no text (100000 bytes)")
    );
}

#[tokio::test]
async fn plans_and_notes_are_taken_or_refused() {
    let place = keeping();
    let todos = json!({"todos": [{"content": "a", "status": "pending"}]});
    assert_eq!(place.done("todo", todos).await, "The plan has 1 steps.");
    assert!(
        place
            .failed("todo", json!({"todos": "a"}))
            .await
            .contains("as a list")
    );
    assert_eq!(
        place.done("note", json!({"kind": "fact", "text": "x"})).await,
        "Noted."
    );
    assert!(
        place
            .failed("note", json!({"kind": "rumour", "text": "x"}))
            .await
            .contains("one of decision")
    );
    assert!(
        place
            .failed("note", json!({"kind": "fact", "text": " "}))
            .await
            .contains("is missing")
    );
}
