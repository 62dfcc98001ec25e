use std::fs;

use bindery_hooks::Event;

use super::*;
use crate::lock;

struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new(files: &[(&str, &str)]) -> Self {
        let ground = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(ground.folder.path().join("home/p")).unwrap();
        for (path, text) in files {
            ground.write(path, text);
        }
        ground
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join("home").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn places(&self) -> Places {
        let home = self.folder.path().join("home");
        Places::new(Some(&home), None, home.join("p"))
    }

    fn read(&self, approvals: &ContextLock) -> Declared {
        declared(
            &self.places(),
            &BTreeMap::new(),
            Clients::of_dialect("auto"),
            approvals,
        )
        .unwrap()
    }
}

fn settings(event: &str, command: &str) -> String {
    format!(r#"{{"hooks": {{"{event}": [{{"hooks": [{{"type": "command", "command": "{command}"}}]}}]}}}}"#)
}

fn commands(declared: &Declared) -> Vec<&str> {
    declared.hooks.iter().map(|hook| hook.command.as_str()).collect()
}

#[test]
fn the_users_hooks_run_and_the_repositorys_wait_for_approval_byte_by_byte() {
    let ground = Ground::new(&[
        (".claude/settings.json", &settings("Stop", "mine")),
        (".codex/hooks.json", &settings("stop", "codex")),
        (
            ".codex/config.toml",
            "model = \"m\"\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"toml\"\n",
        ),
        (
            ".config/bindery/config.toml",
            "[[hook]]\nevent = \"Stop\"\ncommand = \"own\"\n",
        ),
        ("p/.claude/settings.json", &settings("Stop", "theirs")),
        ("p/.claude/settings.local.json", &settings("PreToolUse", "local")),
        (
            "p/bindery.toml",
            "[[hook]]\nevent = \"Stop\"\ncommand = \"project\"\n",
        ),
    ]);
    let mut approvals = ContextLock::default();
    let before = ground.read(&approvals);
    assert_eq!(commands(&before), ["mine", "codex", "toml", "own"]);
    assert_eq!(before.waiting.len(), 3);
    insta::assert_snapshot!(
        before
            .notices
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    );
    for item in lock::hooks(&ground.places()).0 {
        approvals.approve(item.key, item.hash);
    }
    assert_eq!(
        commands(&ground.read(&approvals)),
        ["mine", "codex", "toml", "own", "theirs", "local", "project"]
    );
    ground.write("p/.claude/settings.json", &settings("Stop", "theirs --other"));
    let after = ground.read(&approvals);
    assert!(!commands(&after).iter().any(|command| command.contains("theirs")));
    assert_eq!(after.waiting.len(), 1);
}

#[test]
fn a_client_whose_dialect_is_not_read_runs_no_hooks() {
    let ground = Ground::new(&[
        (".claude/settings.json", &settings("Stop", "claude")),
        (".codex/hooks.json", &settings("stop", "codex")),
    ]);
    let read = |dialect: &str| {
        let clients = Clients::of_dialect(dialect);
        declared(
            &ground.places(),
            &BTreeMap::new(),
            clients,
            &ContextLock::default(),
        )
        .unwrap()
    };
    assert_eq!(commands(&read("claude@2.1")), ["claude"]);
    assert_eq!(commands(&read("codex")), ["codex"]);
    assert_eq!(commands(&read("none")), [""; 0]);
}

#[test]
fn a_repositorys_gates_hold_and_one_that_is_none_is_refused() {
    let ground = Ground::new(&[(
        "p/bindery.toml",
        "[[gate]]\nrequire = \"plan.approved\"\ntools = \"edit\"\n",
    )]);
    let read = ground.read(&ContextLock::default());
    assert_eq!(read.gates.gates.len(), 1);
    assert_eq!(read.notices.len(), 1, "a state that nothing declares is told");
    ground.write("p/bindery.toml", "[[gate]]\nrequire = \"plan.approved\"\n");
    let refused = declared(
        &ground.places(),
        &BTreeMap::new(),
        Clients::of_dialect("auto"),
        &ContextLock::default(),
    );
    insta::assert_snapshot!(refused.unwrap_err());
    ground.write("p/bindery.toml", "");
    ground.write("p/.claude/settings.json", "{");
    let read = ground.read(&ContextLock::default());
    assert_eq!(read.hooks.of(Event::Stop, "").len(), 0);
    assert_eq!(read.notices.len(), 1);
}
