use std::fmt::Write as _;

use super::*;

/// Every exchange and problem of a transcript, in the order in which they come.
fn read(kind: TranscriptKind, lines: &[String]) -> String {
    let mut reader = TranscriptReader::new(kind);
    let mut out = String::new();
    let show = |reader: &mut TranscriptReader, found: Vec<TranscriptExchange>, out: &mut String| {
        for one in found {
            let (at, began) = (one.at_ms.unwrap_or(0) % 1_000_000, one.began_ms);
            let used = one
                .usage
                .map(|usage| (usage.uncached, usage.read, usage.written(), usage.generated()));
            let agent = one.agent.as_deref().unwrap_or("main");
            write!(
                out,
                "line {} {agent} at {at} began {began:?} used {used:?}",
                one.line
            )
            .unwrap();
            write!(out, " reported {:?}\n  {}\n", one.reported, one.body).unwrap();
        }
        for problem in reader.problems() {
            writeln!(out, "line {}: {}", problem.line, problem.what).unwrap();
        }
    };
    for (number, line) in (1..).zip(lines) {
        let found = reader.line(number, line);
        show(&mut reader, found, &mut out);
    }
    let found = reader.finish();
    show(&mut reader, found, &mut out);
    out
}

/// A line of Claude Code: kind, id, the line it follows, second, and what else it holds.
fn claude(kind: &str, id: &str, parent: &str, second: u32, more: &str) -> String {
    format!(
        r#"{{"type":"{kind}","uuid":"{id}","parentUuid":"{parent}","isSidechain":false,"sessionId":"s1","version":"2.1.197","timestamp":"2026-11-30T08:29:{second:02}.000Z",{more}}}"#
    )
}

fn prompt(id: &str, parent: &str, second: u32, text: &str) -> String {
    claude(
        "user",
        id,
        parent,
        second,
        &format!(r#""message":{{"role":"user","content":"{text}"}}"#),
    )
}

fn block(id: &str, parent: &str, second: u32, message: &str, block: &str) -> String {
    let usage =
        r#"{"input_tokens":3,"cache_read_input_tokens":7,"cache_creation":{"ephemeral_1h_input_tokens":2}}"#;
    let more = format!(
        r#""requestId":"req_{message}","message":{{"id":"{message}","model":"claude-opus-4-8","content":[{block}],"usage":{usage}}}"#
    );
    claude("assistant", id, parent, second, &more)
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

#[test]
fn claude_code_s_lines_become_requests() {
    let call = |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"Read","input":{{}}}}"#);
    let result = |id: &str| {
        format!(
            r#""message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"f"}}]}}"#
        )
    };
    let attached =
        r#""attachment":{"type":"nested_memory","path":"/repo/s/CLAUDE.md","content":{"content":"Rules"}}"#;
    let lines = [
        prompt("u1", "", 1, "go"),
        block("a1", "u1", 3, "m1", &call("t1")),
        block("a2", "a1", 4, "m1", &call("t2")),
        claude("user", "r1", "a1", 5, &result("t1")),
        claude("user", "r2", "a2", 6, &result("t2")),
        claude("attachment", "n1", "r2", 6, attached),
        "{torn".to_owned(),
        "[1]".to_owned(),
        r#"{"type":"last-prompt","sessionId":"s1"}"#.to_owned(),
        block("a3", "n1", 9, "m2", &text("done")),
        prompt("u2", "a3", 20, "more"),
        block("a4", "u2", 21, "m3", &text("yes")),
        // The user goes back to before `more`.
        prompt("u3", "a3", 30, "else"),
        block("a5", "u3", 31, "m4", &text("well")),
    ];
    insta::assert_snapshot!(read(TranscriptKind::ClaudeCode, &lines));
}

#[test]
fn sub_agents_and_summaries_are_conversations_of_their_own() {
    let side = |line: String| line.replace(r#""isSidechain":false"#, r#""isSidechain":true,"agentId":"x7""#);
    let lines = [
        prompt("u1", "", 1, "go"),
        block("a1", "u1", 2, "m1", &text("I ask")),
        side(prompt("s1", "", 3, "look")),
        side(block("s2", "s1", 4, "m2", &text("seen"))),
        prompt("u2", "a1", 5, "on"),
        block("a2", "u2", 6, "m3", &text("so")),
        claude("system", "c1", "", 7, r#""subtype":"compact_boundary""#),
        prompt("u3", "c1", 8, "A summary."),
        claude(
            "assistant",
            "e1",
            "u3",
            9,
            r#""isApiErrorMessage":true,"message":{"model":"<synthetic>","content":[]}"#,
        ),
        block("a3", "u3", 9, "m4", &text("going on")),
    ];
    insta::assert_snapshot!(read(TranscriptKind::ClaudeCode, &lines));
}

#[test]
fn codex_s_items_become_requests() {
    let line = |second: u32, kind: &str, payload: &str| {
        format!(r#"{{"timestamp":"2026-11-30T08:29:{second:02}.000Z","type":"{kind}","payload":{payload}}}"#)
    };
    let usage = r#"{"input_tokens":100,"cached_input_tokens":60,"cache_write_input_tokens":10,"output_tokens":9,"reasoning_output_tokens":4}"#;
    let count = format!(r#"{{"type":"token_count","info":{{"last_token_usage":{usage}}}}}"#);
    let said = |role: &str, text: &str| {
        format!(
            r#"{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}],"metadata":{{"x":1}}}}"#
        )
    };
    let lines = [
        line(
            0,
            "session_meta",
            r#"{"id":"th1","cli_version":"0.171.0","base_instructions":{"text":"Base."}}"#,
        ),
        line(0, "turn_context", r#"{"model":"gpt-5.5","effort":"high"}"#),
        line(1, "response_item", &said("user", "go")),
        line(2, "event_msg", r#"{"type":"task_started"}"#),
        line(
            4,
            "response_item",
            r#"{"type":"reasoning","encrypted_content":"z"}"#,
        ),
        line(
            4,
            "response_item",
            r#"{"type":"function_call","call_id":"c","name":"exec_command","arguments":"{}"}"#,
        ),
        line(5, "event_msg", &count),
        line(
            6,
            "response_item",
            r#"{"type":"function_call_output","call_id":"c","output":"x"}"#,
        ),
        "{\"timestamp\":\"2026-11-30T08:29:07.000Z\",\"type\":\"resp".to_owned(),
        line(8, "response_item", &said("assistant", "done")),
        line(
            9,
            "token_usage_record",
            &format!(r#"{{"response_id":"resp_2","usage":{usage}}}"#),
        ),
        line(9, "event_msg", &count),
        line(
            10,
            "compacted",
            &format!(
                r#"{{"message":"","replacement_history":[{}]}}"#,
                said("user", "Sum.")
            ),
        ),
        line(11, "response_item", &said("user", "on")),
        line(12, "response_item", &said("assistant", "cut off")),
    ];
    insta::assert_snapshot!(read(TranscriptKind::Codex, &lines));
}

#[test]
fn a_trace_holds_bodies_as_they_were_sent() {
    let lines = [
        r#"{"model":"m","messages":[{"role":"system","content":"S"}]}"#,
        r#"{"format":"anthropic","at":"2026-11-30T08:29:07Z","body":{"model":"m","messages":[]},"usage":{"input_tokens":3},"route":"https://x","session":"a"}"#,
        r#"{"at_ms":5,"began_ms":2,"request":"{\"model\":\"m\",\"input\":\"hi\"}","response":{"id":"r"}}"#,
        r#"{"format":"smoke","body":{}}"#,
        r#"{"hello":1}"#,
        "",
    ];
    insta::assert_snapshot!(read(TranscriptKind::Trace, &lines.map(str::to_owned)));
}

#[test]
fn the_kind_is_told_by_a_line() {
    for (line, kind) in [
        (prompt("u", "", 1, "x"), Some(TranscriptKind::ClaudeCode)),
        (
            r#"{"type":"queue-operation","sessionId":"s"}"#.to_owned(),
            Some(TranscriptKind::ClaudeCode),
        ),
        (
            r#"{"timestamp":"2026-11-30T08:29:40.154Z","type":"session_meta","payload":{}}"#.to_owned(),
            Some(TranscriptKind::Codex),
        ),
        (
            r#"{"model":"m","messages":[]}"#.to_owned(),
            Some(TranscriptKind::Trace),
        ),
        (r#"{"body":{}}"#.to_owned(), Some(TranscriptKind::Trace)),
        (r#"{"a":1}"#.to_owned(), None),
        ("no".to_owned(), None),
    ] {
        assert_eq!(TranscriptKind::of_line(&line), kind, "{line}");
    }
}

proptest::proptest! {
    #[test]
    fn no_line_makes_a_reader_fall(lines in proptest::collection::vec("[\\[\\]{}\",:a-z0-9 ]{0,60}", 0..20)) {
        for kind in [TranscriptKind::ClaudeCode, TranscriptKind::Codex, TranscriptKind::Trace] {
            read(kind, &lines);
        }
    }
}
