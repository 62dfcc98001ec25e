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
