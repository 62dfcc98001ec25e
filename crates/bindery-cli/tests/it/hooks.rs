//! `bindery hook`, and hooks and gates of `bindery run`.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::place::{Place, Ran};

/// Runs the binary with something on its standard input.
fn told(place: &Place, arguments: &[&str], input: &str) -> Ran {
    let mut command = place.command("home/repo", arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// One event for `bindery hook gate`; its answer.
fn event(place: &Place, name: &str, fields: &Value) -> Value {
    let mut all = json!({
        "session_id": "s1", "transcript_path": "", "hook_event_name": name,
        "cwd": place.path("home/repo").to_string_lossy(),
    });
    for (key, value) in fields.as_object().unwrap() {
        all[key] = value.clone();
    }
    let ran = told(place, &["hook", "gate"], &all.to_string());
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap_or_default()
}

const GATES: &str = r#"
[[gate]]
name = "memory before edits"
require = "memory.loaded"
tools = "edit|write"
message = "Read what is known first."

[[gate]]
require = "tests.passed"
stop = true

[[state]]
name = "memory.loaded"
retrieve = ["memory/MEMORY.md", "memory/topics/*.md"]
when = "refused"

[[state]]
name = "tests.passed"
tool = "shell"
input = "run-tests"
expires = { tools = "edit|write" }
"#;

fn gated() -> Place {
    let place = Place::new();
    place.write("home/repo/bindery.toml", GATES);
    place.write("home/repo/memory/MEMORY.md", "- [deploys](topics/deploys.md)\n");
    place.write(
        "home/repo/memory/topics/deploys.md",
        "Deploys happen on Tuesdays.\n",
    );
    place
}

#[test]
fn the_gate_command_refuses_loads_lets_through_and_holds_the_end_for_both_clients() {
    let place = gated();
    let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": "a.rs"}});
    let refused = event(&place, "PreToolUse", &edit);
    insta::assert_snapshot!(format!("{refused:#}"));
    assert_eq!(
        event(&place, "PreToolUse", &edit),
        Value::Null,
        "what was loaded is not asked for twice"
    );
    let held = event(&place, "Stop", &json!({"stop_hook_active": false}));
    assert_eq!(held["decision"], "block");
    let tests = |response: Value| json!({"tool_name": "Bash", "tool_input": {"command": "run-tests"}, "tool_response": response});
    event(
        &place,
        "PostToolUse",
        &tests(json!("Process exited with code 1\nOutput:\n")),
    );
    assert_eq!(
        event(&place, "Stop", &json!({}))["decision"],
        "block",
        "tests that fail set nothing"
    );
    event(
        &place,
        "PostToolUse",
        &tests(json!({"stdout": "", "interrupted": false})),
    );
    assert_eq!(event(&place, "Stop", &json!({})), Value::Null);
    event(&place, "PostToolUse", &edit);
    assert_eq!(
        event(&place, "Stop", &json!({}))["decision"],
        "block",
        "an edit takes it back"
    );
    event(&place, "SessionStart", &json!({"source": "compact"}));
    let again = event(&place, "PreToolUse", &edit);
    assert_eq!(again["hookSpecificOutput"]["permissionDecision"], "deny");
    for _ in 0..8 {
        event(&place, "Stop", &json!({}));
    }
    let mut last = Value::Null;
    for _ in 0..9 {
        last = event(&place, "Stop", &json!({}));
        if last.get("decision").is_none() {
            break;
        }
    }
    assert!(
        last["systemMessage"]
            .as_str()
            .unwrap()
            .contains("8 times in a row"),
        "{last}"
    );
}

#[test]
fn the_runtime_context_is_given_when_it_changed_and_taken_back_when_it_is_empty() {
    let place = Place::new();
    let submit = || event(&place, "UserPromptSubmit", &json!({"prompt": "hi"}));
    assert_eq!(submit(), Value::Null);
    place.write("home/repo/.claude/runtime-context.md", "Branch is frozen.\n");
    let context = |answer: &Value| {
        answer["hookSpecificOutput"]["additionalContext"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(context(&submit()).contains("Branch is frozen."));
    assert_eq!(
        submit(),
        Value::Null,
        "what stands there already is not said again"
    );
    place.write("home/repo/.claude/runtime-context.md", "");
    assert!(context(&submit()).contains("no longer holds"));
    assert_eq!(submit(), Value::Null);
}

#[test]
fn states_are_set_by_hand_and_what_is_no_event_is_told() {
    let place = Place::new();
    place.write(
        "home/repo/bindery.toml",
        "[[gate]]\nrequire = \"plan.approved\"\ntools = \"edit\"\n",
    );
    let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": "a.rs"}});
    let none = place.bindery(&["hook", "gate", "--set", "plan.approved"]);
    assert_eq!(none.code, 2, "{}", none.err);
    assert_ne!(event(&place, "PreToolUse", &edit), Value::Null);
    assert_eq!(place.bindery(&["hook", "gate", "--set", "plan.approved"]).code, 0);
    assert_eq!(event(&place, "PreToolUse", &edit), Value::Null);
    assert_eq!(
        place.bindery(&["hook", "gate", "--clear", "plan.approved"]).code,
        0
    );
    assert_ne!(event(&place, "PreToolUse", &edit), Value::Null);
    for input in ["", "{", "[]", "{\"hook_event_name\": \"Halt\"}", "\u{0}"] {
        let ran = told(&place, &["hook", "gate"], input);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{input}");
    }
    place.write("home/repo/bindery.toml", "[[gate]]\nrequire = \"x\"\n");
    let broken = event(&place, "PreToolUse", &edit);
    assert_eq!(broken["hookSpecificOutput"]["permissionDecision"], "deny");
    assert!(event(&place, "UserPromptSubmit", &json!({"prompt": "hi"}))["systemMessage"].is_string());
}

#[test]
fn what_runs_what_waits_and_what_nobody_looks_at_is_shown() {
    let place = gated();
    let settings = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}]}}"#;
    place.write("home/.claude/settings.json", settings);
    place.write(
        "home/repo/.claude/settings.json",
        settings.replace("mine", "theirs"),
    );
    place.write(
        "home/repo/.mcp.json",
        r#"{"mcpServers": {"mail": {"command": "x"}}}"#,
    );
    let list = place.bindery(&["hook", "list"]);
    assert_eq!(list.code, 1, "one waits");
    insta::assert_snapshot!(format!("{}---\n{}", list.out, list.err));
    let coverage = place.bindery(&["hook", "coverage", "--tool", "mcp__mail__send"]);
    assert_eq!(coverage.code, 1);
    insta::assert_snapshot!(coverage.out);
    let json: Value = serde_json::from_str(&place.bindery(&["hook", "coverage", "--json"]).out).unwrap();
    assert_eq!(
        (&json["schema"], &json["servers"]),
        (&json!("bindery.hook-coverage/1"), &json!(["mail"]))
    );
    assert_eq!(
        place.bindery(&["lock", "approve", ".claude/settings.json"]).code,
        0
    );
    let list = place.bindery(&["hook", "list"]);
    assert!(list.code == 0 && list.out.contains("theirs"), "{}", list.out);
}

#[test]
fn one_run_of_one_hook_says_how_its_answer_is_read() {
    let place = Place::new();
    let test = |command: &str, event: &str| place.bindery(&["hook", "test", command, "--event", event]);
    let deny = test("echo no >&2; exit 2", "PreToolUse");
    assert_eq!(deny.code, 0);
    insta::assert_snapshot!(deny.out);
    let noise = test("echo ready; echo '{}'", "UserPromptSubmit");
    assert_eq!(noise.code, 1, "{}", noise.out);
    assert!(
        noise.out.contains("text stands before the JSON object"),
        "{}",
        noise.out
    );
    let two = test("echo '{}'; echo '{}'", "Stop");
    assert!(two.out.contains("begins at byte 3"), "{}", two.out);
    assert_eq!(test("true", "Halt").code, 2);
    let input = place.path("home/repo/in.json");
    place.write("home/repo/in.json", "{\"prompt\": \"mine\"}");
    let file = input.to_string_lossy().into_owned();
    let own = place.bindery(&[
        "hook",
        "test",
        "grep -o mine",
        "--event",
        "UserPromptSubmit",
        "--input",
        &file,
    ]);
    assert!(own.out.contains("context    mine"), "{}", own.out);
}

#[test]
fn the_tables_are_for_people_machines_and_pages() {
    let place = Place::new();
    let json: Value = serde_json::from_str(&place.bindery(&["hook", "table", "--json"]).out).unwrap();
    assert_eq!(json["permissions"].as_array().unwrap().len(), 16);
    let page = include_str!("../../../../docs/hooks.md");
    assert!(page.contains(&place.bindery(&["hook", "table", "--markdown"]).out));
    assert!(
        place
            .bindery(&["hook", "table"])
            .out
            .contains("exit 2, reason on stderr")
    );
}

#[test]
fn a_run_asks_the_hooks_and_holds_the_gates_that_are_declared() {
    let place = gated();
    place.write(
        "home/.config/bindery/config.toml",
        "[[hook]]\nevent = \"SessionStart\"\ncommand = \"echo STARTED\"\n[[hook]]\nevent = \"SessionEnd\"\ncommand = \"touch ended\"\n",
    );
    place.write("home/repo/.bindery/runtime-context.md", "Branch is frozen.\n");
    let ran = place.bindery(&["run", "--provider", "sim", "--session", "s", "hello"]);
    let shown = place.bindery(&["log", "show", "s", "--json"]).out;
    assert!(shown.contains("STARTED"), "{shown}\n{}", ran.err);
    assert!(shown.contains("Branch is frozen."));
    assert!(
        shown.contains("stop_cap"),
        "the simulated model never runs the tests, and is let go all the same"
    );
    assert!(place.path("home/repo/ended").exists());
    assert_eq!(place.bindery(&["replay", "s", "--verify"]).code, 0);
    let without = place.bindery(&[
        "run",
        "--provider",
        "sim",
        "--session",
        "t",
        "--no-hooks",
        "hello",
    ]);
    assert_eq!(without.code, 0);
    assert!(
        !place
            .bindery(&["log", "show", "t", "--json"])
            .out
            .contains("STARTED")
    );
}
