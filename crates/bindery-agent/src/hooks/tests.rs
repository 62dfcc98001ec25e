use std::sync::Arc;
use std::time::Duration;

use bindery_core::BoxFuture;
use bindery_hooks::{
    Contract, Delivery, Event, Facts, Failure, Hook, Hooks, Matcher, OnError, Over, Owner, Ran, Rule,
};
use serde_json::{Map, Value, json};

use super::*;

fn hook(event: Event, command: &str) -> Hook {
    Hook {
        event,
        matcher: Matcher::all(),
        command: command.to_owned(),
        timeout_ms: 20_000,
        on_error: OnError::Allow,
        contract: Contract::Own,
        declared: command.to_owned(),
        delivery: Delivery::Persistent,
        over: Over::Reference,
        first_turn: false,
        owner: Owner::User,
    }
}

fn facts(turn: u64) -> Facts {
    Facts {
        session_id: "s".to_owned(),
        transcript_path: String::new(),
        cwd: "/".to_owned(),
        permission_mode: "default".to_owned(),
        context_budget_chars: CONTEXT_LIMIT,
        turn_index: Some(turn),
    }
}

fn surroundings() -> Surroundings {
    Surroundings {
        shell: "/bin/sh".into(),
        directory: "/".into(),
        environment: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
    }
}

fn runner(hooks: impl IntoIterator<Item = Hook>) -> HookRunner {
    let mut all = Hooks::default();
    hooks.into_iter().for_each(|hook| all.push(hook));
    HookRunner::new(all, surroundings())
}

async fn ask(runner: &HookRunner, event: Event, value: &str, fields: Value) -> Asked {
    runner
        .ask(event, value, &facts(0), fields.as_object().unwrap())
        .await
}

#[tokio::test]
async fn a_hook_reads_its_event_and_its_answer_comes_back() {
    let command = r#"cat | grep -q '"prompt":"hi"' && echo '{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"CANARY"}}'"#;
    let asked = ask(
        &runner([hook(Event::UserPromptSubmit, command)]),
        Event::UserPromptSubmit,
        "",
        json!({"prompt": "hi"}),
    )
    .await;
    assert_eq!(asked.outcome.contexts[0].said, "CANARY");
    assert_eq!(asked.runs[0].contexts, ["CANARY"]);
    assert_eq!(asked.runs[0].exit_code, Some(0));
}

#[tokio::test]
async fn the_order_of_hooks_decides_whichever_ends_first() {
    let slow = "read x; sleep 0.2; echo slow";
    let runner = runner([
        hook(Event::UserPromptSubmit, slow),
        hook(Event::UserPromptSubmit, "echo fast"),
    ]);
    let asked = ask(&runner, Event::UserPromptSubmit, "", json!({})).await;
    let said: Vec<&str> = asked
        .outcome
        .contexts
        .iter()
        .map(|one| one.said.as_str())
        .collect();
    assert_eq!(said, ["slow", "fast"]);
}

/// Ignores its limit; without the runner's it would hang for ever.
struct Never;

impl Handler for Never {
    fn answer(&self, _: Value) -> BoxFuture<'static, Ran> {
        Box::pin(std::future::pending())
    }
}

struct Panics;

impl Handler for Panics {
    fn answer(&self, _: Value) -> BoxFuture<'static, Ran> {
        Box::pin(async { panic!("on purpose") })
    }
}

#[tokio::test]
async fn every_kind_of_hook_has_a_limit_and_a_failure_is_what_was_declared() {
    let handler = |name: &str, handler: Arc<dyn Handler>| Registered {
        name: name.to_owned(),
        event: Event::PreToolUse,
        limit: Duration::from_millis(20),
        on_error: OnError::Block,
        handler,
    };
    let mut runner = runner([Hook {
        timeout_ms: 50,
        on_error: OnError::Block,
        ..hook(Event::PreToolUse, "sleep 600 & sleep 600; echo never")
    }]);
    runner.handlers = vec![
        handler("never", Arc::new(Never)),
        handler("panics", Arc::new(Panics)),
    ];
    let asked = ask(&runner, Event::PreToolUse, "shell", json!({"tool_input": {}})).await;
    assert_eq!(asked.outcome.verdict, Rule::Deny);
    let failures: Vec<&Failure> = asked
        .runs
        .iter()
        .filter_map(|run| run.answer.failure.as_ref())
        .collect();
    assert_eq!(failures.len(), 3);
    assert_eq!(failures[..2], [&Failure::TimedOut(50), &Failure::TimedOut(20)]);
    assert!(matches!(failures[2], Failure::NotStarted(_)));
    let allows = self::runner([
        hook(Event::Stop, "exit 1"),
        hook(Event::Stop, "kill -9 $$"),
        hook(Event::Stop, "/no/such"),
    ]);
    let asked = ask(&allows, Event::Stop, "", json!({})).await;
    assert_eq!(
        (asked.outcome.verdict, asked.outcome.failures.len()),
        (Rule::None, 3)
    );
}

#[tokio::test]
async fn what_a_hook_leaves_running_holds_nobody_up_and_no_profile_speaks() {
    let mut runner = runner([hook(Event::UserPromptSubmit, "sleep 600 & echo done")]);
    let profile = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(profile.path(), "echo noise\n").unwrap();
    for variable in ["ENV", "BASH_ENV"] {
        let environment = &mut runner.surroundings.environment;
        environment.insert(variable.into(), profile.path().into());
    }
    let asked = ask(&runner, Event::UserPromptSubmit, "", json!({})).await;
    assert_eq!(asked.runs[0].contexts, ["done"]);
}

#[tokio::test]
async fn endless_output_is_bounded_and_no_answer() {
    let endless = Hook {
        timeout_ms: 10_000,
        ..hook(Event::UserPromptSubmit, "head -c 3000000 /dev/zero | tr '\\0' x")
    };
    let asked = ask(&runner([endless]), Event::UserPromptSubmit, "", json!({})).await;
    assert!(asked.runs[0].contexts.is_empty());
    assert!(asked.runs[0].answer.failure.is_some());
}

#[tokio::test]
async fn context_over_the_limit_is_told_and_reported_as_declared() {
    let folder = tempfile::tempdir().unwrap();
    let output = |length: usize| format!("head -c {length} /dev/zero | tr '\\0' x");
    let with = |length, over| Hook {
        over,
        ..hook(Event::SessionStart, &output(length))
    };
    for (length, over, pieces, is_over) in [
        (10_000, Over::Error, 1, false),
        (10_001, Over::Error, 0, true),
        (10_001, Over::Split, 2, true),
        (10_001, Over::Reference, 1, true),
    ] {
        let mut runner = runner([with(length, over)]);
        runner.keep = Some(folder.path().to_owned());
        let asked = ask(&runner, Event::SessionStart, "startup", json!({})).await;
        let run = &asked.runs[0];
        assert_eq!(run.contexts.len(), pieces, "{over:?}");
        let told = !run.answer.remarks.is_empty() || run.answer.failure.is_some();
        assert_eq!(told, is_over, "{over:?}");
    }
    let kept: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(
        kept.len(),
        1,
        "what is referred to lies whole in the state directory"
    );
    // The next time the hook is told what became of its answer.
    let forgetful = Hook {
        over: Over::Error,
        ..hook(
            Event::SessionStart,
            "IFS= read -r x; case $x in *'\"over_limit\":true,\"length\":10001'*) echo seen;; *) head -c 10001 /dev/zero | tr '\\0' x;; esac",
        )
    };
    let runner = runner([forgetful]);
    ask(&runner, Event::SessionStart, "startup", json!({})).await;
    let again = ask(&runner, Event::SessionStart, "startup", json!({})).await;
    assert_eq!(again.runs[0].contexts, ["seen"]);
}

#[tokio::test]
async fn a_hook_of_another_client_is_told_its_names_and_answers_in_them() {
    let rewrite = r#"cat >/dev/null; echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"file_path":"b","old_string":"x","new_string":"y"}}}'"#;
    let check = r#"grep -q '"tool_name":"Edit"' || exit 2"#;
    let claude = |command: &str| Hook {
        contract: Contract::Claude,
        matcher: Matcher::new("Edit").unwrap(),
        ..hook(Event::PreToolUse, command)
    };
    let runner = runner([claude(rewrite), claude(check)]);
    let fields = json!({"tool_input": {"path": "a", "old": "x", "new": "y"}});
    let asked = ask(&runner, Event::PreToolUse, "edit", fields).await;
    assert_eq!(asked.outcome.verdict, Rule::Allow);
    let input: Option<Map<String, Value>> = asked.outcome.rewrite.map(|one| one.said);
    assert_eq!(
        input.map(Value::Object),
        Some(json!({"path": "b", "old": "x", "new": "y"}))
    );
}

#[tokio::test]
async fn a_hook_for_the_first_turn_runs_once() {
    let runner = runner([Hook {
        first_turn: true,
        ..hook(Event::UserPromptSubmit, "echo recalled")
    }]);
    let mut said = Vec::new();
    for turn in 0..2 {
        let asked = runner
            .ask(Event::UserPromptSubmit, "", &facts(turn), &Map::new())
            .await;
        said.push(asked.outcome.contexts.len());
    }
    assert_eq!(said, [1, 0]);
}
