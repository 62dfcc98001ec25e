//! `cargo xtask control`: the real clients with `bindery hook gate` as their hook, on a model that is written
//! down. The runtime context has to arrive, the gate to block the edit until the memory was shown, and the end
//! to be held until the tests passed. Codex's app server says its schema, which `docs/app-server.md` compares.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::client::Client;
use super::install::Installed;
use super::isolation;
use super::mock::{Mock, Step};
use super::process::{bare, run as run_program};
use crate::say;

const GATES: &str = r#"
[[gate]]
name = "memory before edits"
require = "memory.loaded"
tools = "edit|write|shell"

[[gate]]
require = "tests.passed"
stop = true

[[state]]
name = "memory.loaded"
retrieve = ["memory/*.md"]
when = "refused"

[[state]]
name = "tests.passed"
tool = "shell"
input = "run-tests"
"#;

/// The events that a client is told to run the hook at.
const EVENTS: [&str; 5] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
];

/// Runs the command.
pub(crate) fn run() -> Result<()> {
    let scratch = super::scratch()?;
    let clients = [Client::Claude, Client::Codex];
    let installed = Installed::ensure(&scratch, &clients)?;
    let bindery = super::bindery()?;
    if !isolation::is_inside() && isolation::is_possible() {
        return isolation::run_again();
    }
    let folder = tempfile::Builder::new().prefix("control-").tempdir()?;
    super::methods::check(&installed, &fs::canonicalize(folder.path())?.join("methods"))?;
    let mock = Mock::start()?;
    for client in clients {
        let root = fs::canonicalize(folder.path())?.join(client.name());
        lay(&root, &bindery)?;
        let bodies = match client {
            Client::Codex => codex(&installed, &mock, &root)?,
            _ => claude(&installed, &mock, &root)?,
        };
        judge(client, &root, &bodies)?;
    }
    Ok(())
}

/// A project with gates, memory and runtime context, and a home whose hooks are `bindery hook gate`.
fn lay(root: &Path, bindery: &Path) -> Result<()> {
    let write = |path: &str, text: &str| -> Result<()> {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::write(path, text)?;
        Ok(())
    };
    let command = format!("{} hook gate", bindery.display());
    let hooks: Value = EVENTS
        .map(|event| {
            (
                event.to_owned(),
                json!([{"hooks": [{"type": "command", "command": command}]}]),
            )
        })
        .into_iter()
        .collect();
    let settings = json!({ "hooks": hooks }).to_string();
    write("p/bindery.toml", GATES)?;
    write("p/memory/MEMORY.md", "MEMORY-WORD\n")?;
    write("p/.bindery/runtime-context.md", "RUNTIME-WORD\n")?;
    write("p/run-tests", "#!/bin/sh\nexit 0\n")?;
    write("home/.claude/settings.json", &settings)?;
    write("home/.codex/hooks.json", &settings)
}

fn claude(installed: &Installed, mock: &Mock, root: &Path) -> Result<Vec<Value>> {
    let file = root.join("p/made.txt").to_string_lossy().into_owned();
    let edit = || Some(("Write", json!({"file_path": file, "content": "x\n"})));
    let test = Some(("Bash", json!({"command": "sh run-tests", "description": "tests"})));
    let script: Vec<Step> = vec![edit(), edit(), None, test, None];
    let url = mock.scripted("claude", script);
    let mut command = bare(&installed.program(Client::Claude), &root.join("p"));
    command
        .args([
            "-p",
            "hello",
            "--model",
            "claude-sonnet-4-6",
            "--allowedTools",
            "Write,Bash",
        ])
        .env("HOME", root.join("home"))
        .env("TMPDIR", root)
        .env("ANTHROPIC_BASE_URL", url)
        .env("ANTHROPIC_API_KEY", "made-up")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("DISABLE_TELEMETRY", "1");
    let ran = run_program(&mut command, &root.join("logs"));
    let bodies = mock.close("claude");
    ran?;
    let asks = |body: &Value| body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    Ok(bodies.into_iter().filter(asks).collect())
}

fn codex(installed: &Installed, mock: &Mock, root: &Path) -> Result<Vec<Value>> {
    let shell = |command: &str| Some(("exec_command", json!({"cmd": command})));
    let edit = "echo x > made.txt";
    let script: Vec<Step> = vec![shell(edit), shell(edit), None, shell("sh run-tests"), None];
    let url = mock.scripted("codex", script);
    let provider = format!(
        "model_providers.mock={{name=\"mock\",base_url=\"{url}/v1\",wire_api=\"responses\",\
         env_key=\"MOCK_KEY\",request_max_retries=0,stream_max_retries=0}}"
    );
    let mut command = bare(&installed.program(Client::Codex), &root.join("p"));
    command
        .args(["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"])
        .args(["--dangerously-bypass-approvals-and-sandbox", "-c", &provider])
        .args([
            "-c",
            "model_provider=\"mock\"",
            "-c",
            "model=\"gpt-5.5\"",
            "hello",
        ])
        .env("HOME", root.join("home"))
        .env("CODEX_HOME", root.join("home/.codex"))
        .env("TMPDIR", root)
        .env("MOCK_KEY", "made-up");
    let ran = run_program(&mut command, &root.join("logs"));
    let bodies = mock.close("codex");
    ran?;
    Ok(bodies)
}

/// What each request has to hold, in order.
fn judge(client: Client, root: &Path, bodies: &[Value]) -> Result<()> {
    let texts: Vec<String> = bodies.iter().map(Value::to_string).collect();
    let has = |index: usize, word: &str| texts.get(index).is_some_and(|text| text.contains(word));
    let checks = [
        ("five requests", texts.len() == 5),
        (
            "the runtime context is in the first request",
            has(0, "RUNTIME-WORD"),
        ),
        ("nothing else of it is", !has(0, "MEMORY-WORD")),
        ("the gate refused the edit", has(1, "requires `memory.loaded`")),
        ("the memory was shown with the refusal", has(1, "MEMORY-WORD")),
        (
            "once it was shown the edit went through",
            root.join("p/made.txt").exists(),
        ),
        (
            "the refusal came once",
            texts
                .last()
                .is_some_and(|text| text.matches("`memory before edits` requires").count() == 1),
        ),
        ("the end was held", has(3, "requires `tests.passed`")),
        (
            "and let go once the tests passed",
            texts
                .last()
                .is_some_and(|text| text.matches("requires `tests.passed`").count() == 1),
        ),
    ];
    let mut failed = 0_usize;
    for (what, holds) in checks {
        failed += usize::from(!holds);
        say(&format!(
            "{} {}: {what}",
            if holds { "ok  " } else { "FAIL" },
            client.name()
        ));
    }
    if failed > 0 {
        let kept = std::env::temp_dir().join(format!("control-{}.json", client.name()));
        fs::write(&kept, format!("{:#}", json!(bodies)))?;
        bail!("{failed} checks failed; the requests lie in {}", kept.display());
    }
    Ok(())
}
