use std::fs;

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
            let path = ground.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        ground
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("home").join(path)
    }

    fn places(&self) -> Places {
        Places::new(Some(&self.path("")), None, self.path("p"))
    }

    fn read(&self, approvals: &ContextLock) -> Declared {
        self.ask(approvals, &[], false).unwrap()
    }

    fn ask(
        &self,
        approvals: &ContextLock,
        given: &[PathBuf],
        given_alone: bool,
    ) -> Result<Declared, Refused> {
        declared(&Asked {
            places: &self.places(),
            environment: &BTreeMap::from([("TOKEN".to_owned(), "secret".to_owned())]),
            clients: Clients::of_dialect("auto"),
            approvals,
            given,
            given_alone,
        })
    }
}

fn summary(declared: &Declared) -> String {
    let servers = declared.servers.iter().map(|server| {
        let reach = match &server.reach {
            Reach::Stdio {
                command, args, env, ..
            } => format!("{command} {args:?} {env:?}"),
            Reach::Http { url, headers } => format!("{url} {headers:?}"),
        };
        format!(
            "{} {:?} {}: {reach}\n",
            server.name, server.owner, server.declared
        )
    });
    let left = declared.left.iter().map(|left| {
        format!(
            "- {} {:?} {}: {:?}\n",
            left.name, left.owner, left.declared, left.why
        )
    });
    let notices = declared.notices.iter().map(|notice| format!("{notice}\n"));
    servers.chain(left).chain(notices).collect::<Vec<_>>().concat()
}

#[test]
fn every_form_is_read_and_the_first_owner_of_a_name_has_it() {
    let ground = Ground::new(&[
        (
            ".config/bindery/config.toml",
            "[mcp]\non_change = \"rebuild\"\n[mcp.servers.own]\ncommand = \"own\"\nargs = [\"${TOKEN}\"]\n\
             [mcp.servers.off]\ncommand = \"off\"\nenabled = false\n[mcp.servers.odd]\ncomand = \"x\"\n",
        ),
        (
            ".codex/config.toml",
            "[mcp_servers.codex]\ncommand = \"cx\"\nargs = [\"${TOKEN}\"]\nenv_vars = [\"TOKEN\", \"GONE\"]\n\
             [mcp_servers.remote]\nurl = \"https://x.example/mcp\"\nbearer_token_env_var = \"TOKEN\"\n",
        ),
        (
            "p/.mcp.json",
            r#"{"mcpServers": {
                "own": {"command": "theirs"},
                "web": {"type": "http", "url": "https://w.example/${PART:-mcp}", "headers": {"X-Key": "${TOKEN}"}},
                "old": {"type": "sse", "url": "https://o.example"}
            }}"#,
        ),
        (
            "p/bindery.toml",
            "[mcp]\non_change = \"rebuild\"\n[mcp.servers.db]\ncommand = \"db\"\ncwd = \"tools\"\n",
        ),
    ]);
    let project = ground.path("p");
    let claude = format!(
        r#"{{"mcpServers": {{"all": {{"command": "all"}}, "here": {{"command": "far"}}}},
            "projects": {{"{}": {{"mcpServers": {{"here": {{"type": "stdio", "command": "near"}}}}}}}}}}"#,
        project.display()
    );
    fs::write(ground.path(".claude.json"), claude).unwrap();
    let mut approvals = ContextLock::default();
    insta::assert_snapshot!("nothing_approved", summary(&ground.read(&approvals)));
    for item in lock::mcp_servers(&ground.places()).0 {
        approvals.approve(item.key, item.hash);
    }
    insta::assert_snapshot!("all_approved", summary(&ground.read(&approvals)));
    fs::write(
        project.join(".mcp.json"),
        r#"{"mcpServers": {"web": {"type": "http", "url": "https://other.example"}}}"#,
    )
    .unwrap();
    let changed = ground.read(&approvals);
    let web = changed.left.iter().find(|left| left.name == "web").unwrap();
    assert_eq!(web.why, Why::Changed);
    assert_eq!(changed.on_change, OnChange::Rebuild);
}

#[test]
fn entries_that_cannot_be_used_say_why_and_the_others_stand() {
    let entries = [
        ("two", r#"{"command": "a", "url": "https://b"}"#),
        ("neither", "{}"),
        ("unset", r#"{"command": "${NOWHERE}"}"#),
        ("kind", r#"{"type": "carrier-pigeon", "command": "a"}"#),
        ("mixed", r#"{"type": "http", "command": "a"}"#),
        ("scheme", r#"{"url": "file:///etc/passwd"}"#),
        ("list", "[]"),
        ("text", r#"{"command": 1}"#),
        ("late", r#"{"command": "a", "startup_timeout_sec": -1}"#),
        (
            "good",
            r#"{"command": "a", "disabled_tools": ["x"], "tool_timeout_sec": 0.5}"#,
        ),
    ];
    let body: Vec<String> = entries
        .iter()
        .map(|(name, value)| format!("\"{name}\": {value}"))
        .collect();
    let ground = Ground::new(&[(
        "given.json",
        &format!("{{\"mcpServers\": {{{}}}}}", body.join(",")),
    )]);
    let given = [ground.path("given.json")];
    let read = ground.ask(&ContextLock::default(), &given, true).unwrap();
    assert_eq!(read.servers.len(), 1);
    assert_eq!(read.servers[0].call, Duration::from_millis(500));
    let whys: Vec<String> = read
        .left
        .iter()
        .map(|left| format!("{}: {:?}", left.name, left.why))
        .collect();
    insta::assert_snapshot!(whys.join("\n"));
    let gone = ground
        .ask(&ContextLock::default(), &[ground.path("gone.json")], true)
        .err()
        .unwrap();
    assert_eq!(gone.0[0].code, "mcp-config");
}

#[test]
fn broken_files_are_told_and_links_out_of_the_project_are_not_followed() {
    let ground = Ground::new(&[
        ("p/.mcp.json", "{"),
        (".codex/config.toml", "[mcp_servers"),
        (".claude.json", "nonsense"),
        ("outside.toml", "[mcp_servers.x]\ncommand = \"x\"\n"),
    ]);
    fs::create_dir(ground.path("p/.codex")).unwrap();
    std::os::unix::fs::symlink(ground.path("outside.toml"), ground.path("p/.codex/config.toml")).unwrap();
    let read = ground.read(&ContextLock::default());
    assert!(read.servers.is_empty());
    let codes: Vec<&str> = read.notices.iter().map(|notice| &*notice.code).collect();
    assert_eq!(
        codes,
        [
            "mcp-unreadable",
            "mcp-unreadable",
            "mcp-unreadable",
            "file-outside-project"
        ]
    );
}

#[test]
fn what_was_seen_is_kept_and_approved_tool_by_tool() {
    let ground = Ground::new(&[("p/.mcp.json", r#"{"mcpServers": {"s": {"command": "s"}}}"#)]);
    let mut approvals = ContextLock::default();
    for item in lock::mcp_servers(&ground.places()).0 {
        approvals.approve(item.key, item.hash);
    }
    let servers = ground.read(&approvals).servers;
    let seen = SeenTools::new(&ground.places()).unwrap();
    assert_eq!(seen.read("s"), None);
    let tool = |description: &str| ToolText {
        name: "t".to_owned(),
        description: description.to_owned(),
        schema: serde_json::json!({"type": "object", "b": 1, "a": [2]}),
    };
    seen.write("s", &[tool("one")]).unwrap();
    let items = lock::mcp_tools(&servers, &seen);
    assert_eq!(items[0].key.to_string(), "mcp:s (t)");
    insta::assert_snapshot!(tool("one").text());
    seen.write("s", &[tool("two")]).unwrap();
    assert_ne!(lock::mcp_tools(&servers, &seen)[0].hash, items[0].hash);
}
