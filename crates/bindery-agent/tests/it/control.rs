//! Hooks and gates in the loop.

use std::path::Path;
use std::sync::Arc;

use bindery_agent::hooks::{Control, HookRunner, Surroundings};
use bindery_agent::plugins::{RUNTIME_FILES, RuntimeFile};
use bindery_agent::{Agent, Effect, replay};
use bindery_core::Message;
use bindery_core::log::{Decision, Payload, TurnOutcome};
use bindery_hooks::{Gates, Owner, declared_hooks};
use bindery_sources::gate::Gate;
use serde_json::{Value, json};

use crate::common::{Does, TestTool, World, Yes, says};

/// A project, and what controls a session in it.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn project(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.project().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn control(&self, agent: &mut Agent, settings: &Value) {
        let (hooks, remarks) = declared_hooks(Owner::User, "h", settings.get("hook").unwrap_or(&json!([])));
        assert_eq!(remarks, []);
        let gates = Gates::parse(Owner::User, "g", settings).unwrap();
        let surroundings = Surroundings {
            shell: "/bin/sh".into(),
            directory: self.project().to_owned(),
            environment: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
        };
        let runner = HookRunner::new(hooks, surroundings);
        let project = self.project().to_owned();
        agent.control = Some(Arc::new(Control::new(runner, gates, project, "s")));
        agent.gate = Some(Arc::new(Gate::default()));
        agent.permit = Arc::new(Yes);
    }
}

fn hook(event: &str, command: &str) -> Value {
    json!({"event": event, "command": command})
}

fn texts(world: &World) -> Vec<String> {
    let fragments = world.agent.state().messages().iter().flat_map(Message::fragments);
    fragments
        .map(|fragment| fragment.text.as_str().to_owned())
        .collect()
}

fn verified(world: &World) {
    let verified = replay::verify(world.agent.journal().log()).unwrap();
    assert_eq!(verified.differences, []);
    assert_eq!(verified.requests, world.agent.state().attempts());
}

fn acts(name: &'static str) -> TestTool {
    TestTool {
        name,
        effect: Effect::Acts,
        does: Does::Says("done"),
    }
}

fn replies(count: usize) -> String {
    "[[reply]]\ntext = 'Yes.'\n".repeat(count)
}

fn decisions(world: &World) -> Vec<(String, Decision)> {
    let events = world.events();
    let decided = events.iter().filter_map(|event| match &event.payload {
        Payload::HookDecided(one) => Some((one.moment.to_string(), one.decision)),
        Payload::GateDecided(one) => Some((format!("{} {}", one.gate, one.action), one.decision)),
        _ => None,
    });
    decided.collect()
}

#[tokio::test]
async fn what_hooks_say_reaches_the_model_once_a_session_and_once_a_prompt() {
    let ground = Ground::new();
    let mut world = World::new(&replies(2));
    let prompt = r#"grep -q '"turn_index":0' && echo first || echo later"#;
    ground.control(
        &mut world.agent,
        &json!({"hook": [hook("SessionStart", "echo START"), hook("UserPromptSubmit", prompt)]}),
    );
    world.say("one").await;
    world.say("two").await;
    let texts = texts(&world);
    let count = |word: &str| texts.iter().filter(|text| text.contains(word)).count();
    assert_eq!(
        (count("START"), count("first"), count("later")),
        (1, 1, 1),
        "{texts:?}"
    );
    let place = |word: &str| texts.iter().position(|text| text.contains(word)).unwrap();
    assert!(place("START") < place("one") && place("one") < place("first") && place("first") < place("two"));
    assert!(texts[0].starts_with("<bindery-hook "), "{}", texts[0]);
    verified(&world);
}

#[tokio::test]
async fn an_ephemeral_context_is_in_the_next_request_alone_and_replay_still_verifies() {
    let ground = Ground::new();
    let mut world = World::new(&replies(2));
    let mut ephemeral = hook(
        "UserPromptSubmit",
        r#"grep -q '"prompt":"one"' && echo t=1 || echo t=2"#,
    );
    ephemeral["delivery"] = "ephemeral".into();
    ground.control(&mut world.agent, &json!({"hook": [ephemeral]}));
    world.say("one").await;
    world.say("two").await;
    assert!(!texts(&world).iter().any(|text| text.contains("t=")));
    let events = world.events();
    let reminders: Vec<String> = events
        .iter()
        .filter_map(|event| match &event.payload {
            Payload::AttemptStarted(started) => Some(started),
            _ => None,
        })
        .map(|started| {
            let fragments = started.reminders.iter().flat_map(Message::fragments);
            fragments.map(|fragment| fragment.text.as_str()).collect()
        })
        .collect();
    assert!(
        reminders[0].contains("t=1") && !reminders[0].contains("t=2"),
        "{reminders:?}"
    );
    assert!(
        reminders[1].contains("t=2") && !reminders[1].contains("t=1"),
        "{reminders:?}"
    );
    verified(&world);
}

#[tokio::test]
async fn a_prompt_that_a_hook_refuses_is_kept_as_a_draft_and_a_crash_refuses_nothing() {
    let ground = Ground::new();
    let mut world = World::new(&replies(1));
    ground.control(
        &mut world.agent,
        &json!({"hook": [hook("UserPromptSubmit", "echo 'not on Fridays' >&2; exit 2")]}),
    );
    let report = world.say("publish it").await;
    assert_eq!(report.outcome, TurnOutcome::Blocked);
    assert_eq!(report.reason.as_deref(), Some("not on Fridays"));
    assert_eq!(world.agent.draft().as_deref(), Some("publish it"));
    assert_eq!(world.agent.state().attempts(), 0);
    ground.control(
        &mut world.agent,
        &json!({"hook": [hook("UserPromptSubmit", "exit 3")]}),
    );
    assert_eq!(world.say("publish it").await.outcome, TurnOutcome::Completed);
    verified(&world);
}

#[tokio::test]
async fn every_dispatch_path_passes_the_hooks_and_deny_wins() {
    let ground = Ground::new();
    let script = "
        [[reply]]
        calls = [{ tool = 'spawn_agent' }, { tool = 'mcp__mail__send' }, { tool = 'look' }]
        [[reply]]
        text = 'Well.'
    ";
    let mut world =
        World::new(script).with_tools([acts("spawn_agent"), acts("mcp__mail__send"), says("look", "seen")]);
    let deny = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no agents"}}'"#;
    let allow =
        r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'"#;
    let mut no = hook("PreToolUse", deny);
    no["matcher"] = "spawn_agent|mcp__.*|look".into();
    ground.control(
        &mut world.agent,
        &json!({"hook": [hook("PreToolUse", allow), no]}),
    );
    world.say("go").await;
    let refused = texts(&world)
        .iter()
        .filter(|text| text.contains("no agents"))
        .count();
    assert_eq!(refused, 3);
    assert!(
        !world
            .events()
            .iter()
            .any(|event| matches!(event.payload, Payload::ToolCalled(_)))
    );
    verified(&world);
}

#[tokio::test]
async fn an_input_that_a_hook_put_in_its_place_passes_the_gates_too() {
    let ground = Ground::new();
    let script = "
        [[reply]]
        calls = [{ tool = 'edit', input = { path = 'free.md' } }]
        [[reply]]
        text = 'Well.'
    ";
    let rewrite = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"path":"src/kept.rs"}}}'"#;
    let mut world = World::new(script).with_tools([acts("edit")]);
    ground.control(
        &mut world.agent,
        &json!({
            "hook": [hook("PreToolUse", rewrite)],
            "gate": [{"name": "plan first", "require": "plan.approved", "tools": "edit", "paths": ["src/**"]}],
        }),
    );
    world.say("go").await;
    let called = |event: &bindery_core::log::Event| matches!(event.payload, Payload::ToolCalled(_));
    assert!(!world.events().iter().any(called));
    assert!(
        texts(&world)
            .iter()
            .any(|text| text.contains("`plan first` requires `plan.approved`"))
    );
    verified(&world);
}

#[tokio::test]
async fn a_hooks_allow_takes_the_place_of_a_question_and_never_of_a_rule() {
    let ground = Ground::new();
    let script = "[[reply]]\ncalls = [{ tool = 'shell' }]\n[[reply]]\ntext = 'Well.'\n";
    let allow =
        r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'"#;
    let mut world = World::new(script).with_tools([acts("shell")]);
    ground.control(&mut world.agent, &json!({"hook": [hook("PreToolUse", allow)]}));
    world.agent.permit = Arc::new(bindery_agent::ReadOnly);
    world.say("go").await;
    assert!(
        texts(&world)
            .iter()
            .any(|text| text.contains("not allowed in this session"))
    );
    verified(&world);
}

#[tokio::test]
async fn the_end_of_a_turn_is_held_until_hooks_let_go_and_not_for_ever() {
    let ground = Ground::new();
    let mut world = World::new(&replies(3));
    let once = r#"grep -q '"stop_hook_active":true' && exit 0; echo 'tests first' >&2; exit 2"#;
    ground.control(&mut world.agent, &json!({"hook": [hook("Stop", once)]}));
    let report = world.say("finish").await;
    assert_eq!((report.outcome, report.steps), (TurnOutcome::Completed, 2));
    assert!(texts(&world).iter().any(|text| text.contains("tests first")));
    verified(&world);
    let mut world = World::new(&replies(12));
    ground.control(
        &mut world.agent,
        &json!({"hook": [hook("Stop", "echo never >&2; exit 2")]}),
    );
    let report = world.say("finish").await;
    assert_eq!((report.outcome, report.steps), (TurnOutcome::Completed, 9));
    assert!(report.reason.unwrap().contains("8 times in a row"));
    verified(&world);
}

/// The running example: what is known has to be loaded before anything is changed.
#[tokio::test]
async fn memory_is_loaded_before_any_edit_by_the_harness_and_whoever_skips_it_is_refused_until_then() {
    let ground = Ground::new();
    ground.write("memory/MEMORY.md", "- [deploys](topics/deploys.md)\n");
    ground.write("memory/topics/deploys.md", "Deploys happen on Tuesdays.\n");
    let settings = json!({
        "gate": [{"name": "memory before edits", "require": "memory.loaded", "tools": "edit|write"}],
        "state": [{"name": "memory.loaded", "retrieve": ["memory/MEMORY.md", "memory/topics/*.md"], "when": "refused"}]
    });
    let script = "
        [[reply]]
        calls = [{ tool = 'edit', input = { path = 'a.rs' } }]
        [[reply]]
        calls = [{ tool = 'edit', input = { path = 'a.rs' } }]
        [[reply]]
        text = 'Done.'
    ";
    let mut world = World::new(script).with_tools([acts("edit")]);
    ground.control(&mut world.agent, &settings);
    let report = world.say("change it").await;
    assert_eq!((report.outcome, report.steps), (TurnOutcome::Completed, 3));
    let texts = texts(&world);
    let place = |word: &str| texts.iter().position(|text| text.contains(word));
    assert!(
        place("`memory before edits` requires `memory.loaded`") < place("Tuesdays"),
        "{texts:?}"
    );
    assert!(place("Tuesdays") < place("done"), "{texts:?}");
    assert!(world.agent.state().holds("memory.loaded"));
    let gated = decisions(&world);
    assert_eq!(gated[0], ("memory before edits edit".to_owned(), Decision::Deny));
    assert_eq!(gated[1..], [("permission edit".to_owned(), Decision::Allow)]);
    verified(&world);
    // With the default nobody has to be refused: it is loaded with the first prompt.
    let mut eager = settings;
    eager["state"][0]["when"] = "start".into();
    let script =
        "[[reply]]\ncalls = [{ tool = 'edit', input = { path = 'a.rs' } }]\n[[reply]]\ntext = 'Done.'\n";
    let mut world = World::new(script).with_tools([acts("edit")]);
    ground.control(&mut world.agent, &eager);
    assert_eq!(world.say("change it").await.steps, 2);
    assert!(
        !decisions(&world)
            .iter()
            .any(|(_, decision)| *decision == Decision::Deny)
    );
    // What was shown is gone after a compaction, and so is the state.
    world
        .agent
        .after_compaction("auto", "summary", &world.cancel)
        .await
        .unwrap();
    assert!(!world.agent.state().holds("memory.loaded"));
    verified(&world);
}

#[tokio::test]
async fn a_turn_does_not_end_before_the_tests_passed_after_the_last_edit() {
    let ground = Ground::new();
    let settings = json!({
        "gate": [{"name": "tests before the end", "require": "tests.passed", "stop": true}],
        "state": [{"name": "tests.passed", "tool": "shell", "input": "cargo test", "expires": {"tools": "edit"}}]
    });
    let script = "
        [[reply]]
        calls = [{ tool = 'shell', input = { command = 'cargo test' } }]
        [[reply]]
        calls = [{ tool = 'edit', input = { path = 'a.rs' } }]
        [[reply]]
        text = 'Done.'
        [[reply]]
        calls = [{ tool = 'shell', input = { command = 'cargo test' } }]
        [[reply]]
        text = 'Really done.'
    ";
    let mut world = World::new(script).with_tools([acts("edit"), acts("shell")]);
    ground.control(&mut world.agent, &settings);
    let report = world.say("change it").await;
    assert_eq!((report.outcome, report.steps), (TurnOutcome::Completed, 5));
    let held = texts(&world)
        .iter()
        .filter(|text| text.contains("requires `tests.passed`"))
        .count();
    assert_eq!(held, 1);
    verified(&world);
}

#[tokio::test]
async fn hooks_are_asked_before_a_compaction_and_told_after_it() {
    let ground = Ground::new();
    let long = format!("[[reply]]\ntext = \"{}\"\n", "word ".repeat(600));
    let mut world = World::new(&long.repeat(8));
    let blobs = Arc::new(bindery_store::MemoryBlobs::default());
    let budget = bindery_core::budget::Budget::new(2_900, 0);
    world.agent.capacity = Some(bindery_agent::Capacity::new(budget, Arc::new(Letters), blobs));
    let refuse = "echo not now: $(cat) >&2; exit 2";
    ground.control(&mut world.agent, &json!({"hook": [hook("PreCompact", refuse)]}));
    for turn in 0..4 {
        world.say(&format!("question {turn}")).await;
    }
    let refused = world.agent.compact(&world.cancel).await.unwrap();
    let refused = format!("{refused:?}").replace('\\', "");
    assert!(
        refused.contains("not now") && refused.contains("\"trigger\":\"manual\""),
        "{refused}"
    );
    let by_itself = |payload: &Payload| match payload {
        Payload::ErrorRecorded(error) => error.message.contains("\"trigger\":\"auto\""),
        _ => false,
    };
    assert!(world.events().iter().any(|event| by_itself(&event.payload)));
    let hooks = json!({"hook": [
        hook("PreCompact", r#"echo '{"replace": "REPLACED"}'"#),
        hook("PostCompact", r#"grep -q REPLACED && echo '{"set": ["seen"]}'"#),
        hook("SessionStart", r#"grep -q '"source":"compact"' && echo AGAIN"#),
    ]});
    ground.control(&mut world.agent, &hooks);
    let done = world.agent.compact(&world.cancel).await.unwrap();
    assert!(matches!(done, bindery_agent::Compacted::Done(_)), "{done:?}");
    assert!(world.agent.state().holds("seen"));
    world.say("go on").await;
    let texts = texts(&world).join("\n");
    assert!(texts.contains("REPLACED") && texts.contains("AGAIN"), "{texts}");
    verified(&world);
}

/// Four letters are a token.
struct Letters;

impl bindery_core::CountTokens for Letters {
    fn count(&self, text: &str) -> bindery_core::TokenCount {
        bindery_core::TokenCount::estimate(text.len().div_ceil(4) as u64)
    }

    fn name(&self) -> &'static str {
        "letters"
    }
}

#[tokio::test]
async fn a_hook_sets_a_state_and_stops_the_work() {
    let ground = Ground::new();
    let mut world = World::new("[[reply]]\ncalls = [{ tool = 'look' }]\n[[reply]]\ntext = 'Never.'\n")
        .with_tools([says("look", "seen")]);
    let hooks = json!({"hook": [
        hook("UserPromptSubmit", r#"echo '{"set": ["plan.approved"]}'"#),
        hook("PostToolUse", r#"echo '{"continue": false, "stopReason": "enough"}'"#),
    ]});
    ground.control(&mut world.agent, &hooks);
    let report = world.say("go").await;
    assert_eq!(
        (report.outcome, report.reason.as_deref()),
        (TurnOutcome::Blocked, Some("enough"))
    );
    assert!(world.agent.state().holds("plan.approved"));
    verified(&world);
}

#[tokio::test]
async fn the_runtime_context_follows_its_file_and_no_old_byte_changes() {
    let ground = Ground::new();
    let mut world = World::new(&replies(4));
    let (project, scope) = (ground.project().to_owned(), world.scope.clone());
    world.agent.refreshers.push(Box::new(RuntimeFile::new(
        project,
        Arc::new(Gate::default()),
        scope,
    )));
    ground.write(RUNTIME_FILES[0], "Branch is frozen.");
    world.say("one").await;
    world.say("two").await;
    ground.write(RUNTIME_FILES[0], "Branch is open.");
    world.say("three").await;
    let before = texts(&world);
    ground.write(RUNTIME_FILES[0], "");
    world.say("four").await;
    let after = texts(&world);
    assert_eq!(after[..before.len()], before[..], "what was said stays as it was");
    let count = |word: &str| after.iter().filter(|text| text.contains(word)).count();
    assert_eq!((count("frozen"), count("is open")), (1, 1));
    assert!(
        after
            .iter()
            .any(|text| text.starts_with("<bindery-context-cleared")),
        "{after:?}"
    );
    verified(&world);
}
