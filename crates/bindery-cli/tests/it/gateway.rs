//! `bindery gateway`: started, asked, stopped and killed as a process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::place::Place;

/// A gateway before the simulated provider. It is killed with this value.
struct Gateway {
    child: Child,
    address: String,
    lines: BufReader<ChildStdout>,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // One that has ended needs no end.
        let _gone = self.child.kill();
        self.child.wait().unwrap();
    }
}

impl Gateway {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut all = vec!["gateway", "--upstream", "sim", "--listen", "127.0.0.1:0"];
        all.extend(arguments);
        let mut command = place.command("home/repo", &all);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut first = String::new();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        stderr.read_line(&mut first).unwrap();
        child.stderr = Some(stderr.into_inner());
        let address = first
            .split_whitespace()
            .find_map(|word| word.strip_prefix("http://"));
        let address = address.unwrap_or_else(|| panic!("{first}")).to_owned();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            address,
            lines,
        }
    }

    fn post(&self, session: &str, text: &str) -> String {
        let body = format!(
            r#"{{"model":"claude-opus-5","max_tokens":9,"messages":[{{"role":"user","content":"{text}"}}]}}"#
        );
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "POST /v1/messages HTTP/1.1\r\nHost: {}\r\nUser-Agent: claude-cli/2.1.197 (x)\r\nX-Claude-Code-Session-Id: {session}\r\n\
             X-Api-Key: sk-ant-made-up-0123456789\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }

    /// Sends a signal and waits for the end: exit code, and what it said last.
    fn signal(mut self, name: &str) -> (Option<i32>, String) {
        let process = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([name, &process])
                .status()
                .unwrap()
                .success()
        );
        let mut said = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

#[test]
fn a_line_for_each_request_and_a_clean_end() {
    let place = Place::new();
    let mut gateway = Gateway::start(&place, &["--record"]);
    for text in ["hi", "ho"] {
        assert!(gateway.post("s-1", text).contains("[simulated]"));
    }
    let lines = [gateway.line(), gateway.line()].concat();
    insta::assert_snapshot!(lines, @r"
    #1 claude-code s-1 claude-opus-5 · read 0 · wrote 0 · plain 2 · hit 0 % · no breakpoints
    #2 claude-code s-1 claude-opus-5 · read 0 · wrote 0 · plain 2 · hit 0 % · no breakpoints
    ");
    let (code, said) = gateway.signal("-TERM");
    assert_eq!(code, Some(0), "{said}");
    insta::assert_snapshot!(said, @"2 requests: read 0 · wrote 0 · plain 4 · hit 0 %");
    let why = place.bindery(&["why", "gw-claude-code-s-1", "--all"]);
    assert!(
        why.out.contains("claude-opus-5 · 2 requests"),
        "{}{}",
        why.out,
        why.err
    );
}

#[test]
fn what_was_told_survives_a_kill_and_the_session_goes_on() {
    let place = Place::new();
    for round in 1..=2 {
        let mut gateway = Gateway::start(&place, &["--record", "--json"]);
        gateway.post("s-1", &format!("round {round}"));
        let line = gateway.line();
        assert!(line.contains(r#""log":"gw-claude-code-s-1""#), "{line}");
        let (code, _) = gateway.signal("-KILL");
        assert_eq!(code, None);
    }
    let shown = place.bindery(&["log", "show", "gw-claude-code-s-1"]);
    assert_eq!(
        shown.out.matches("exchange_ended").count(),
        2,
        "{}{}",
        shown.out,
        shown.err
    );
    assert!(!shown.out.contains("made-up"));
}

#[test]
fn two_gateways_at_once_keep_two_logs_of_one_session() {
    let place = Place::new();
    let (mut one, mut other) = (
        Gateway::start(&place, &["--record"]),
        Gateway::start(&place, &["--record"]),
    );
    for gateway in [&mut one, &mut other] {
        gateway.post("s-1", "hi");
        gateway.line();
    }
    drop((one, other));
    let listed = place.bindery(&["log", "list"]);
    assert!(
        listed.out.contains("gw-claude-code-s-1 ") && listed.out.contains("gw-claude-code-s-1.2 "),
        "{}",
        listed.out
    );
}

#[test]
fn what_to_set_can_be_evaluated() {
    let place = Place::new();
    let mut said = String::new();
    for agent in ["claude", "codex", "litellm", "openai-sdk"] {
        let ran = place.bindery(&["gateway", "env", agent, "--base", "http://127.0.0.1:9000/"]);
        assert_eq!(ran.code, 0);
        said += &["# ", agent, "\n", &ran.out, "-- ", &ran.err, "\n"].concat();
    }
    insta::assert_snapshot!(said);
    for agent in ["openclaw", "hermes", "opencode", "anthropic-sdk"] {
        assert_eq!(place.bindery(&["gateway", "env", agent]).code, 0, "{agent}");
    }
}

#[test]
fn wrong_usage_says_what_to_do() {
    let place = Place::new();
    let mut said = String::new();
    for arguments in [
        &["gateway"][..],
        &["gateway", "--upstream", "ftp://h"],
        &["gateway", "--upstream", "sim", "--listen", "0.0.0.0:0"],
        &["gateway", "--upstream", "sim", "--upstream", "sim"],
        &[
            "gateway",
            "--upstream",
            "http://127.0.0.1:9471",
            "--listen",
            "127.0.0.1:9471",
        ],
        &["gateway", "env", "nobody"],
    ] {
        let ran = place.bindery(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
        said.extend([format!("{arguments:?}\n"), ran.err, "\n".to_owned()]);
    }
    insta::assert_snapshot!(said);
}
