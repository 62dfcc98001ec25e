//! `bindery run`, `log` and `replay`: the real binary, and servers on loopback.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use bindery_loopback::{Piece, Protocol, Reply, Say, Server};
use serde_json::{Value, json};

use crate::place::{Place, Ran};

/// Waits for git however long it takes.
pub(crate) const PATIENT: [&str; 2] = ["-c", "git_status_deadline_ms=10000"];

/// A repository with two crates.
pub(crate) fn workspace() -> Place {
    let place = Place::new();
    place.write("home/repo/Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n");
    for (name, does) in [("ink", "Draws lines."), ("paper", "Holds pages.")] {
        let manifest = format!("[package]\nname = \"{name}\"\ndescription = \"{does}\"\n");
        place.write(&format!("home/repo/crates/{name}/Cargo.toml"), manifest);
    }
    place
}

pub(crate) fn run(place: &Place, arguments: &[&str]) -> Ran {
    let mut all = vec!["run"];
    all.extend(PATIENT);
    all.extend(arguments);
    let ran = place.bindery(&all);
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    ran
}

/// The events of a session, without what follows them.
pub(crate) fn events(place: &Place, session: &str) -> Vec<Value> {
    let ran = place.bindery(&["log", "show", session, "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut lines: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.pop().unwrap()["type"], "usage");
    lines
}

/// The types of events from a place on.
pub(crate) fn kinds(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

pub(crate) fn verify(place: &Place, session: &str) -> String {
    let ran = place.bindery(&["replay", session, "--verify"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    ran.out
}

pub(crate) const ASK: &str = "list the crates and say what each does";

#[test]
fn a_session_needs_no_key_uses_tools_and_verifies() {
    let place = workspace();
    let ran = run(&place, &[ASK, "--session", "first"]);
    assert!(
        ran.out.contains("crates/ink/Cargo.toml: Draws lines."),
        "{}",
        ran.out
    );
    assert!(ran.err.contains("session first: simulated model"), "{}", ran.err);
    assert!(ran.err.contains("would cost $0."), "{}", ran.err);
    let unknown = run(&place, &["hi", "--model", "homemade"]);
    assert!(
        unknown.err.contains("price unknown: none is listed for homemade"),
        "{}",
        unknown.err
    );
    assert_eq!(
        verify(&place, "first").split(" (").next(),
        Some("all 4 requests match")
    );
    let body = place.bindery(&["replay", "first", "--at", "1"]);
    let body: Value = serde_json::from_str(&body.out).unwrap();
    assert!(body["messages"].to_string().contains(ASK));
    assert_eq!(place.bindery(&["replay", "first", "--at", "9"]).code, 2);
    let list = place.bindery(&["log"]);
    assert!(
        list.out.starts_with("first ") && list.out.trim_end().ends_with("[place]/home/repo"),
        "{}",
        list.out
    );
    assert!(
        !place.path("home/repo/.bindery").exists(),
        "nothing is kept in the repository"
    );
}

#[test]
fn it_works_in_this_repository() {
    let place = Place::new();
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let ran = run(
        &place,
        &[ASK, "--provider", "sim", "-C", here, "--session", "here"],
    );
    assert!(
        ran.out
            .contains("crates/bindery-core/Cargo.toml: The pure core of a context engine"),
        "{}",
        ran.out
    );
    assert!(verify(&place, "here").starts_with("all "));
}

#[test]
fn every_request_after_the_first_reads_from_the_cache() {
    for family in ["anthropic", "openai", "openai-chat", "deepseek"] {
        let place = workspace();
        place.git(&["add", "-A"]);
        let provider = format!("sim:{family}");
        run(&place, &[ASK, "--session", "s", "--provider", &provider]);
        place.write("home/repo/new.txt", "git status is another now\n");
        run(
            &place,
            &[
                "and again: list the crates",
                "--continue",
                "--provider",
                &provider,
            ],
        );
        let events = events(&place, "s");
        let usage = events.iter().filter(|event| event["type"] == "usage_reported");
        let cached: Vec<u64> = usage
            .map(|event| event["data"]["usage"]["read"].as_u64().unwrap())
            .collect();
        assert_eq!(cached.len(), 8, "{family}");
        assert!(
            cached.iter().skip(1).all(|tokens| *tokens > 0),
            "{family}: {cached:?}"
        );
        let snapshots = kinds(&events)
            .iter()
            .filter(|kind| **kind == "snapshot_entered")
            .count();
        assert_eq!(snapshots, 2, "{family}: the status changed once");
        verify(&place, "s");
    }
}

/// A server that refuses twice, breaks off twice, and lets a tool be called.
fn troubled(protocol: Protocol, call: &Say) -> Vec<Reply> {
    let text = || Reply::stream(protocol, &[Say::text("Half a sentence"), Say::text("more")]);
    vec![
        Reply::error(protocol, 429, "rate_limit_error", "slow down").header("retry-after", "0"),
        Reply::error(protocol, 529, "overloaded_error", "busy"),
        Reply::stream(protocol, &[Say::text("Looking."), call.clone()])
            .with_keep_alives()
            .split_every(7),
        text().then(4, [Piece::Disconnect]),
        text().error_after(3, protocol, "server_error", "died"),
        Reply::stream(protocol, &[Say::Think("Hm.".to_owned()), Say::text("Grüße 🦀")]).split_every(1),
    ]
}

const PROTOCOLS: [(&str, Protocol); 4] = [
    ("anthropic", Protocol::Anthropic),
    ("openai", Protocol::Responses),
    ("openai-chat", Protocol::Chat),
    ("deepseek", Protocol::Deepseek),
];

/// Runs the binary while servers answer.
pub(crate) async fn run_beside(place: Place, arguments: Vec<String>) -> (Place, Ran) {
    let work = move || {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ran = place.bindery(&arguments);
        (place, ran)
    };
    tokio::task::spawn_blocking(work).await.unwrap()
}

fn against(server: &Server, provider: &str, more: &[&str]) -> Vec<String> {
    let url = format!("{}/v1", server.url());
    let mut all = vec![
        "run",
        "go on",
        "--session",
        "s",
        "--provider",
        provider,
        "--base-url",
        &url,
    ];
    all.extend(["--backoff-ms", "0", "--header", "x-team: blue"]);
    all.extend(PATIENT);
    all.extend(more);
    all.into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn what_every_protocol_received_is_what_replay_rebuilds() {
    for (provider, protocol) in PROTOCOLS {
        let call = Say::call("c1", "read", &json!({"path": "crates/ink/Cargo.toml"}));
        let server = Server::start(troubled(protocol, &call)).await.unwrap();
        let (place, ran) = run_beside(workspace(), against(&server, provider, &[])).await;
        assert_eq!(ran.code, 0, "{provider}: {}", ran.err);
        assert!(ran.out.ends_with("Grüße 🦀\n"), "{provider}: {}", ran.out);
        assert!(ran.err.contains("trying again"), "{}", ran.err);
        // A second turn, so that what was kept goes out again.
        server.queue(Reply::stream(protocol, &[Say::text("Bye.")]));
        let (place, ran) = run_beside(place, against(&server, provider, &[])).await;
        assert_eq!(ran.code, 0, "{provider}: {}", ran.err);
        let received = server.received();
        assert_eq!(received.len(), 7, "{provider}");
        for (at, request) in received.iter().enumerate() {
            assert_eq!(request.path, protocol.path());
            assert_eq!(request.header("x-team"), Some("blue"));
            let number = (at + 1).to_string();
            let output = place
                .command("home/repo", &["replay", "s", "--at", &number])
                .output()
                .unwrap();
            assert!(
                output.stdout == request.body,
                "{provider}: request {number} is another"
            );
        }
        assert!(
            String::from_utf8_lossy(&received[4].body).contains("Draws lines."),
            "the tool's result went out"
        );
        assert_eq!(
            verify(&place, "s").split(" (").next(),
            Some("all 7 requests match")
        );
    }
}

#[tokio::test]
async fn what_acts_needs_permission() {
    let script = || {
        let call = Say::call("c1", "write", &json!({"path": "made.txt", "content": "x"}));
        [
            Reply::stream(Protocol::Chat, &[call]),
            Reply::stream(Protocol::Chat, &[Say::text("ok")]),
        ]
    };
    let server = Server::start(script()).await.unwrap();
    let (place, ran) = run_beside(workspace(), against(&server, "openai-chat", &[])).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!place.path("home/repo/made.txt").exists());
    assert!(ran.err.contains("nobody can be asked"), "{}", ran.err);
    for reply in script() {
        server.queue(reply);
    }
    let (place, _) = run_beside(place, against(&server, "openai-chat", &["--allow", "write"])).await;
    assert!(place.path("home/repo/made.txt").exists());
    let decided: Vec<Value> = events(&place, "s")
        .into_iter()
        .filter(|event| event["type"] == "gate_decided")
        .collect();
    assert_eq!(
        [&decided[0]["data"]["decision"], &decided[1]["data"]["decision"]],
        ["deny", "allow"]
    );
}

/// Starts a turn against a server that falls silent in the middle of a word, sends the binary a signal, and
/// gives what it printed from then on.
async fn signalled(server: &Server, place: Place, signal: &'static str) -> (Place, Option<i32>, Vec<String>) {
    let arguments = against(server, "anthropic", &["--json"]);
    let work = move || {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = place.command("home/repo", &arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(
            lines
                .by_ref()
                .map(Result::unwrap)
                .any(|line| line.contains("\"text-delta\""))
        );
        let pid = child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &pid])
                .status()
                .unwrap()
                .success()
        );
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        let code = child.wait().unwrap().code();
        (place, code, rest)
    };
    tokio::task::spawn_blocking(work).await.unwrap()
}

fn falls_silent() -> Reply {
    Reply::stream(Protocol::Anthropic, &[Say::text("Half"), Say::text("x")]).then(4, [Piece::Hang])
}

#[tokio::test]
async fn ctrl_c_aborts_the_turn_and_keeps_the_session() {
    let server = Server::start([falls_silent()]).await.unwrap();
    let (place, code, rest) = signalled(&server, workspace(), "-INT").await;
    assert_eq!(code, Some(3));
    assert!(
        rest.iter().any(|line| line.contains("\"outcome\":\"aborted\"")),
        "{rest:?}"
    );
    server.queue(Reply::stream(Protocol::Anthropic, &[Say::text("Whole.")]));
    let (place, ran) = run_beside(place, against(&server, "anthropic", &[])).await;
    assert_eq!((ran.code, ran.out.as_str()), (0, "Whole.\n"), "{}", ran.err);
    let received = String::from_utf8_lossy(&server.received()[1].body).into_owned();
    assert!(received.contains("Half"), "what was said is kept");
    verify(&place, "s");
}

#[tokio::test]
async fn a_killed_session_goes_on() {
    let server = Server::start([falls_silent()]).await.unwrap();
    let (place, code, _) = signalled(&server, workspace(), "-KILL").await;
    assert_eq!(code, None);
    server.queue(Reply::stream(Protocol::Anthropic, &[Say::text("Whole.")]));
    let (place, ran) = run_beside(place, against(&server, "anthropic", &[])).await;
    assert_eq!((ran.code, ran.out.as_str()), (0, "Whole.\n"), "{}", ran.err);
    let events = events(&place, "s");
    let interrupted = events
        .iter()
        .filter(|event| event["data"]["outcome"] == "interrupted");
    let interrupted: Vec<Value> = interrupted.cloned().collect();
    assert_eq!(kinds(&interrupted), ["attempt_ended", "step_ended", "turn_ended"]);
    verify(&place, "s");
}

#[test]
fn sessions_travel_and_wrong_use_says_what_to_do() {
    let place = workspace();
    run(&place, &[ASK, "--session", "s"]);
    assert_eq!(place.bindery(&["log", "export", "s", "s.jsonl"]).code, 0);
    assert_eq!(
        place.bindery(&["log", "import", "s.jsonl", "--to", "copy"]).code,
        0
    );
    assert_eq!(events(&place, "s"), events(&place, "copy"));
    assert_eq!(verify(&place, "s"), verify(&place, "copy"));
    assert_eq!(place.bindery(&["log", "recover", "s", "--to", "saved"]).code, 0);
    assert_eq!(events(&place, "s"), events(&place, "saved"));
    let tail = place.bindery(&["log", "tail", "s", "-n", "1"]);
    assert!(
        tail.out.contains("turn_ended") && tail.out.lines().count() == 1,
        "{}",
        tail.out
    );
    let says = |arguments: &[&str]| {
        let ran = place.bindery(arguments);
        assert_eq!(ran.code, 2, "{}", ran.err);
        ran.err
    };
    assert!(says(&["run", "hi", "--provider", "anthropic"]).contains("set ANTHROPIC_API_KEY"));
    assert!(says(&["run", "hi", "--session", "No Such"]).contains("is no session id"));
    assert!(says(&["run"]).contains("there is nothing to say"));
    assert!(says(&["run", "hi", "--provider", "nobody"]).contains("unknown provider"));
    let names = place.bindery(&["log"]).out;
    assert_eq!(
        names.lines().count(),
        3,
        "what was refused began no session: {names}"
    );
}
