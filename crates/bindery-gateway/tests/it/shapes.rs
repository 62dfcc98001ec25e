//! Requests of the structure that agents send, written by us: what the test of the real clients checks is checked
//! everywhere.

use std::collections::BTreeSet;
use std::sync::Arc;

use bindery_cache::typing::{Piece, Typing};
use bindery_cache::{RequestReader, Verdict, WireRequest};
use bindery_gateway::sim::SimUpstream;
use bindery_store::MemoryStore;
use serde_json::{Value, json};

use crate::place::{Place, clock, recorded};

const TURNS: usize = 3;

fn filler(of: &str) -> String {
    format!("Some words about {of}. ").repeat(120)
}

fn marked(text: &str) -> Value {
    json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}})
}

fn reminder(text: &str) -> Value {
    json!({"type": "text", "text": format!("<system-reminder>\n{text}\n</system-reminder>\n")})
}

/// As Claude Code sends it: reminders before the prompt, the mark on the last block of the last message.
fn claude(history: &[Value]) -> Value {
    let system = format!(
        "You help.\n\n# Rules\n{}\n# Environment\nYou run at /p.\n\ngitStatus: a snapshot\nBranch: main\n",
        filler("rules")
    );
    let instructions = "Words before.\n# claudeMd\nWords on them.\n\n\
         Contents of /home/u/.claude/CLAUDE.md (user's private global instructions for all projects):\n\nHome rule.\n\n\
         Contents of /p/CLAUDE.md (project instructions, checked into the codebase):\n\nProject rule.\n\
         # currentDate\nToday's date is 2026-11-30.";
    let first = json!({"role": "user", "content": [
        reminder("SessionStart:startup hook success: from a hook"),
        reminder("Available agent types for the Agent tool:\n- one: does things"),
        reminder("The following skills are available for use with the Skill tool:\n\n- greet: greets"),
        reminder("UserPromptSubmit hook additional context: from another"),
        reminder(instructions),
        {"type": "text", "text": "Turn 1"},
    ]});
    let mut messages: Vec<Value> = std::iter::once(first).chain(history.iter().cloned()).collect();
    if let Some(Value::Array(blocks)) = messages.last_mut().map(|last| last["content"].take()) {
        let mut blocks = blocks;
        blocks.last_mut().unwrap()["cache_control"] = json!({"type": "ephemeral"});
        messages.last_mut().unwrap()["content"] = json!(blocks);
    }
    let tool =
        |name: &str| json!({"name": name, "description": filler(name), "input_schema": {"type": "object"}});
    json!({"model": "claude-sonnet-4-6", "max_tokens": 32000, "stream": true, "tools": [tool("Bash"), tool("mcp__files__find")],
        "metadata": {"user_id": r#"{"device_id":"d","account_uuid":"","session_id":"s-1"}"#},
        "system": [{"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.197.abc; cc_entrypoint=sdk-cli;"},
            marked("You are an agent."), marked(&system)],
        "messages": messages})
}

/// As Codex sends it: instructions as developer messages, an id on every item.
fn codex(history: &[Value]) -> Value {
    let message = |role: &str, texts: &[&str]| {
        let parts: Vec<Value> = texts
            .iter()
            .map(|text| json!({"type": "input_text", "text": text}))
            .collect();
        json!({"type": "message", "id": format!("msg_{role}"), "role": role, "content": parts})
    };
    let base = format!("You are an agent.\n\n# Rules\n{}", filler("rules"));
    let skills = format!(
        "<skills_instructions>\n{}\n</skills_instructions>",
        filler("skills")
    );
    let first = [
        message("developer", &[&base]),
        message(
            "developer",
            &[
                &skills,
                "<permissions instructions>\nRead only.\n</permissions instructions>",
            ],
        ),
        message(
            "user",
            &[
                "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nA rule.\n</INSTRUCTIONS>",
                "<environment_context>\n  <cwd>/p</cwd>\n  <current_date>2026-11-30</current_date>\n</environment_context>",
            ],
        ),
        message("user", &["Turn 1"]),
    ];
    let input: Vec<Value> = first.into_iter().chain(history.iter().cloned()).collect();
    json!({"model": "gpt-6.2-sol", "stream": true, "store": false, "input": input, "prompt_cache_key": "t-1",
        "tools": [{"type": "function", "name": "exec_command", "description": filler("commands"), "parameters": {"type": "object"}}]})
}

/// Sends turns of two requests each; `add` puts what was answered and what follows into the history.
async fn run(
    path: &str,
    make: fn(&[Value]) -> Value,
    add: fn(&mut Vec<Value>, usize, bool),
) -> BTreeSet<String> {
    let sim = SimUpstream::new(clock()).unwrap();
    let mut place = Place::with(sim, Arc::new(MemoryStore::default()), |_| {}).await;
    let (mut history, mut sent) = (Vec::new(), Vec::new());
    for turn in 1..=TURNS {
        for calls in [true, false] {
            let body = make(&history).to_string();
            let answer = place.post(path, "User-Agent: test/1\r\n", &body).await;
            assert_eq!(answer.contains("Looking"), calls, "{answer}");
            add(&mut history, turn, calls);
            sent.push(body);
        }
    }
    let mut verdicts = Vec::new();
    for _ in &sent {
        verdicts.push(place.summary().await.why.unwrap().verdict);
    }
    assert_eq!(verdicts.first(), Some(&Verdict::Cold));
    assert!(
        verdicts.iter().skip(1).all(|verdict| *verdict == Verdict::Hit),
        "{verdicts:?}"
    );
    let logs = recorded(&*place.store);
    let [(_, exchanges)] = &logs[..] else {
        panic!("one session: {logs:?}")
    };
    let kept: Vec<&[u8]> = exchanges.iter().map(|exchange| &*exchange.body).collect();
    assert_eq!(kept, sent.iter().map(String::as_bytes).collect::<Vec<_>>());
    let reader = RequestReader::new(Typing::built_in().unwrap());
    let read = |exchange: &bindery_core::log::RecordedExchange| -> WireRequest {
        reader
            .read(exchange.started.format.parse().unwrap(), &exchange.body)
            .unwrap()
    };
    let requests: Vec<WireRequest> = exchanges.iter().map(read).collect();
    let segments = requests.iter().flat_map(WireRequest::segments);
    segments
        .flat_map(|segment| segment.pieces.iter())
        .map(Piece::key)
        .collect()
}

#[tokio::test]
async fn a_conversation_of_claude_code_s_structure() {
    let add = |history: &mut Vec<Value>, turn: usize, calls: bool| {
        if calls {
            let call = json!({"type": "tool_use", "id": format!("c{turn}"), "name": "Bash", "input": {"command": "ls"}});
            history
                .push(json!({"role": "assistant", "content": [{"type": "text", "text": "I look."}, call]}));
            let result =
                json!({"type": "tool_result", "tool_use_id": format!("c{turn}"), "content": "a.txt"});
            history.push(json!({"role": "user", "content": [result, reminder("PostToolUse:Bash hook additional context: seen")]}));
        } else {
            history.push(json!({"role": "assistant", "content": [{"type": "text", "text": "Done."}]}));
            history.push(
                json!({"role": "user", "content": [{"type": "text", "text": format!("Turn {}", turn + 1)}]}),
            );
        }
    };
    let keys = run("/v1/messages?beta=true", claude, add).await;
    insta::assert_debug_snapshot!(keys);
}

#[tokio::test]
async fn a_conversation_of_codex_s_structure() {
    let add = |history: &mut Vec<Value>, turn: usize, calls: bool| {
        let said = |role: &str, kind: &str, text: &str| json!({"type": "message", "id": format!("m{turn}"), "role": role, "content": [{"type": kind, "text": text}]});
        if calls {
            let call = format!("c{turn}");
            history.push(said("assistant", "output_text", "I look."));
            history.push(json!({"type": "function_call", "id": "f", "call_id": call, "name": "exec_command", "arguments": "{}"}));
            history.push(json!({"type": "function_call_output", "call_id": call, "output": "a.txt"}));
        } else {
            history.push(said("assistant", "output_text", "Done."));
            history.push(said("user", "input_text", &format!("Turn {}", turn + 1)));
        }
    };
    let keys = run("/v1/responses", codex, add).await;
    insta::assert_debug_snapshot!(keys);
}
