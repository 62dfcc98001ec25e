//! `bindery hook test`: one hook, one event, and how its answer is read.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use bindery::hooks::{Contract, Delivery, Event, Facts, Hook, Hooks, Matcher, OnError, Over, Owner};
use bindery_agent::hooks::{Asked, CONTEXT_LIMIT, HookRunner, Run, Surroundings};
use serde_json::{Map, Value, json};

use super::ground::Ground;
use super::{Speaks, Trial};
use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};

pub(super) fn run(trial: &Trial, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let ground = Ground::read(&trial.here.dir, None)?;
    let hook = chosen(trial, &ground);
    let fields = fields(trial)?;
    let value = trial
        .event
        .matched()
        .and_then(|field| fields.get(field)?.as_str());
    let value = value.unwrap_or_default().to_owned();
    let mut hooks = Hooks::default();
    // Whatever it is declared for: it is to run now.
    hooks.push(Hook {
        event: trial.event,
        matcher: Matcher::all(),
        ..hook
    });
    let mut runner = HookRunner::new(hooks, surroundings(&ground.dir));
    runner.keep = Some(std::env::temp_dir().join("bindery-hook-test"));
    let facts = Facts {
        session_id: "hook-test".to_owned(),
        transcript_path: String::new(),
        cwd: ground.dir.to_string_lossy().into_owned(),
        permission_mode: "default".to_owned(),
        context_budget_chars: CONTEXT_LIMIT,
        turn_index: (trial.event != Event::SessionStart).then_some(0),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("starting the runtime")?;
    let began = Instant::now();
    let asked = runtime.block_on(runner.ask(trial.event, &value, &facts, &fields));
    let took = began.elapsed();
    let Some(run) = asked.runs.first() else {
        return Err(anyhow::anyhow!("the hook did not run"));
    };
    if trial.here.json {
        writeln!(
            terminal.out,
            "{}",
            serde_json::to_string_pretty(&page(trial.event, &asked, run))?
        )?;
    } else {
        show(trial.event, run, terminal)?;
        writeln!(terminal.err, "it took {} ms", took.as_millis())?;
    }
    let bad = run.answer.failure.is_some() || !run.answer.remarks.is_empty();
    Ok(if bad { Status::Finding } else { Status::Success })
}

/// Where hooks run: here, with the environment of this process.
fn surroundings(dir: &Path) -> Surroundings {
    let mut environment: std::collections::BTreeMap<_, _> = std::env::vars_os().collect();
    environment.insert("CLAUDE_PROJECT_DIR".into(), dir.as_os_str().to_owned());
    Surroundings {
        shell: "/bin/sh".into(),
        directory: dir.to_owned(),
        environment,
    }
}

/// The hook that is declared so, or the command itself.
fn chosen(trial: &Trial, ground: &Ground) -> Hook {
    let declared = ground
        .declared
        .hooks
        .iter()
        .find(|hook| hook.declared == trial.hook);
    declared.cloned().unwrap_or_else(|| Hook {
        event: trial.event,
        matcher: Matcher::all(),
        command: trial.hook.clone(),
        timeout_ms: 60_000,
        on_error: OnError::Allow,
        contract: match trial.contract {
            Speaks::Bindery => Contract::Own,
            Speaks::Claude => Contract::Claude,
            Speaks::Codex => Contract::Codex,
        },
        declared: "the command line".to_owned(),
        delivery: Delivery::Persistent,
        over: Over::Reference,
        first_turn: false,
        owner: Owner::User,
    })
}

fn fields(trial: &Trial) -> anyhow::Result<Map<String, Value>> {
    let value = match &trial.input {
        None => sample(trial.event),
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| UsageError(format!("{} cannot be read: {error}", path.display())))?;
            serde_json::from_str(&text)
                .map_err(|error| UsageError(format!("{} is no JSON: {error}", path.display())))?
        }
    };
    match value {
        Value::Object(fields) => Ok(fields),
        _ => Err(UsageError("the event's fields are one JSON object".to_owned()).into()),
    }
}

/// Something that might happen.
fn sample(event: Event) -> Value {
    let call = json!({"tool_name": "edit", "tool_use_id": "call-1", "tool_input": {"path": "README.md", "old": "a", "new": "b"}});
    match event {
        Event::SessionStart => json!({"source": "startup"}),
        Event::UserPromptSubmit => json!({"prompt": "What is here?"}),
        Event::PreToolUse => call,
        Event::PostToolUse => {
            let mut call = call;
            if let Value::Object(call) = &mut call {
                call.insert(
                    "tool_response".to_owned(),
                    json!({"text": "done", "is_error": false}),
                );
            }
            call
        }
        Event::Stop | Event::SubagentStop => {
            json!({"stop_hook_active": false, "last_assistant_message": "Done."})
        }
        Event::SubagentStart => json!({"agent_type": "general"}),
        Event::PreCompact => json!({"trigger": "manual", "custom_instructions": ""}),
        Event::PostCompact => json!({"trigger": "manual", "compact_summary": "…"}),
        Event::Notification => json!({"notification_type": "permission", "message": "May `shell` run?"}),
        Event::SessionEnd => json!({"reason": "exit"}),
    }
}

fn page(event: Event, asked: &Asked, run: &Run) -> Value {
    let answer = &run.answer;
    json!({
        "schema": "bindery.hook-test/1",
        "event": event.name(),
        "exit_code": run.exit_code,
        "verdict": asked.outcome.verdict,
        "reason": answer.reason,
        "context": run.contexts,
        "rewrite": answer.rewrite,
        "message": answer.message,
        "stops_the_work": answer.halt,
        "sets": answer.states,
        "replacement": answer.replacement,
        "failure": answer.failure.as_ref().map(ToString::to_string),
        "remarks": answer.remarks,
    })
}

fn show(event: Event, run: &Run, terminal: &mut Terminal) -> anyhow::Result<()> {
    let answer = &run.answer;
    let rewrite = answer
        .rewrite
        .clone()
        .map(|input| Value::Object(input).to_string());
    let verdict = match answer.verdict {
        bindery::hooks::Rule::None => "none: nothing changes".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    };
    let mut rows: Vec<(&str, String)> = vec![("event", event.name().to_owned()), ("verdict", verdict)];
    rows.extend(run.exit_code.map(|code| ("exit code", code.to_string())));
    rows.extend(answer.reason.clone().map(|text| ("reason", text)));
    rows.extend(run.contexts.iter().map(|text| ("context", text.clone())));
    rows.extend(rewrite.map(|text| ("input", text)));
    rows.extend(answer.message.clone().map(|text| ("message", text)));
    rows.extend(answer.halt.clone().map(|text| ("stops", text)));
    rows.extend(answer.states.iter().map(|text| ("sets", text.clone())));
    rows.extend(
        answer
            .failure
            .as_ref()
            .map(|failure| ("failure", failure.to_string())),
    );
    rows.extend(answer.remarks.iter().map(|text| ("remark", text.clone())));
    for (label, text) in rows {
        writeln!(terminal.out, "{label:<10} {}", printable(&text))?;
    }
    Ok(())
}
