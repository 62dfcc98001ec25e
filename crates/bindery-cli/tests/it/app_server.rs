//! `bindery app-server`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::place::Place;

/// A client of a server.
struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    last: u64,
    told: Vec<Value>,
}

impl Client {
    fn new(place: &Place) -> Self {
        let mut client = Self::silent(place);
        client.ask("initialize", json!({"clientInfo": {"name": "test"}}));
        client
    }

    fn silent(place: &Place) -> Self {
        Self::with(place, &["app-server"])
    }

    fn with(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command("home/repo", arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self {
            child,
            to,
            from,
            last: 0,
            told: Vec::new(),
        }
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "the server is gone");
        serde_json::from_str(&line).unwrap()
    }

    fn send(&mut self, line: &str) {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The whole response.
    #[expect(clippy::needless_pass_by_value, reason = "calls read as the protocol does")]
    fn response(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        loop {
            let line = self.line();
            if line["id"] == json!(id) {
                return line;
            }
            self.told.push(line);
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let response = self.response(method, params);
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    fn refused(&mut self, method: &str, params: Value) -> Value {
        self.response(method, params)["error"]["data"].clone()
    }

    fn wait(&mut self, method: &str) -> Value {
        if let Some(at) = self.told.iter().position(|one| one["method"] == method) {
            return self.told.drain(..=at).next_back().unwrap()["params"].clone();
        }
        loop {
            let line = self.line();
            if line["method"] == method {
                return line["params"].clone();
            }
        }
    }

    fn start(&mut self, place: &Place) -> String {
        let cwd = place.path("home/repo");
        let result = self.ask("thread/start", json!({"cwd": cwd, "provider": "sim"}));
        result["thread"]["id"].as_str().unwrap().to_owned()
    }

    fn turn(&mut self, thread: &str, text: &str) {
        self.ask("turn/start", json!({"threadId": thread, "input": says(text)}));
        assert_eq!(self.wait("turn/completed")["turn"]["status"], "completed");
    }

    fn end(mut self) {
        drop(self.to.take());
        assert!(self.child.wait().unwrap().success());
    }
}

fn says(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

#[test]
fn a_thread_without_turns_is_resumed_and_an_ephemeral_one_says_that_it_is_not() {
    let place = Place::new();
    let mut one = Client::new(&place);
    let thread = one.start(&place);
    let cwd = place.path("home/repo");
    let ephemeral = one.ask(
        "thread/start",
        json!({"cwd": cwd, "provider": "sim", "ephemeral": true}),
    );
    assert_eq!(ephemeral["thread"]["durable"], false);
    one.end();
    let mut two = Client::new(&place);
    let resumed = two.ask("thread/resume", json!({"threadId": thread, "provider": "sim"}));
    assert_eq!(
        (&resumed["thread"]["durable"], &resumed["thread"]["turns"]),
        (&json!(true), &json!(0))
    );
    let gone = two.refused("thread/resume", json!({"threadId": ephemeral["thread"]["id"]}));
    assert_eq!(gone["code"], "unknown_thread");
    two.end();
}

#[test]
fn an_ephemeral_resume_leaves_the_stored_session_as_it_is() {
    let place = Place::new();
    let mut client = Client::new(&place);
    let thread = client.start(&place);
    client.turn(&thread, "one");
    client.ask("thread/close", json!({"threadId": thread}));
    let before = place.bindery(&["log", "show", &thread, "--json"]).out;
    let copy = client.ask(
        "thread/resume",
        json!({"threadId": thread, "ephemeral": true, "provider": "sim"}),
    );
    let copy = copy["thread"]["id"].as_str().unwrap().to_owned();
    client.turn(&copy, "two");
    assert_eq!(place.bindery(&["log", "show", &thread, "--json"]).out, before);
    let fork = client.ask("thread/fork", json!({"threadId": thread, "provider": "sim"}));
    assert_eq!(
        (&fork["thread"]["forkedFrom"], &fork["thread"]["turns"]),
        (&json!(thread), &json!(1))
    );
    client.end();
}

#[test]
fn steering_is_refused_by_codes_and_steer_or_start_is_decided_on_the_server() {
    let place = Place::new();
    let mut client = Client::new(&place);
    let thread = client.start(&place);
    let steer = |expected: &str, or_start: bool| json!({"threadId": thread, "expectedTurnId": expected, "input": says("x"), "orStart": or_start});
    let refused = client.refused("turn/steer", steer("9", false));
    assert_eq!(refused, json!({"code": "no_active_turn", "expected": "9"}));
    client.turn(&thread, "one");
    let started = client.ask("turn/steer", steer("1", true));
    assert_eq!(started, json!({"turnId": "2", "started": true}));
    client.wait("turn/completed");
    let refused = client.refused("turn/interrupt", json!({"threadId": thread, "turnId": "2"}));
    assert_eq!(refused["code"], "no_active_turn");
    let refused = client.refused("turn/start", json!({"threadId": "nope", "input": says("x")}));
    assert_eq!(refused["code"], "unknown_thread");
    let refused = client.refused("turn/start", json!({"threadId": thread, "input": says(" ")}));
    assert_eq!(refused["code"], "invalid_params");
    client.end();
}

#[test]
fn a_second_writer_is_told_who_holds_the_session_and_gets_it_when_that_one_lets_go() {
    let place = Place::new();
    let (mut one, mut two) = (Client::new(&place), Client::new(&place));
    let thread = one.start(&place);
    let resume = json!({"threadId": thread, "provider": "sim"});
    let refused = two.refused("thread/resume", resume.clone());
    assert_eq!(refused["code"], "writer_busy");
    assert!(
        refused["owner"].as_str().unwrap().contains("app-server"),
        "{refused}"
    );
    one.ask("thread/close", json!({"threadId": thread}));
    two.ask("thread/resume", resume);
    one.end();
    two.end();
}

#[test]
fn an_update_keeps_what_it_does_not_name_clears_null_and_says_all_that_holds() {
    let place = Place::new();
    let mut client = Client::new(&place);
    let thread = client.start(&place);
    let mut update = |fields: Value| {
        let mut params = fields;
        params["threadId"] = json!(thread);
        client.ask("thread/settings/update", params)
    };
    let first = update(json!({"effort": "low", "tier": "flex", "policyVersion": "7"}));
    assert_eq!(first["notSent"], json!([]));
    assert_eq!(first["changesCacheKey"], json!(["effort"]));
    let second = update(json!({"tier": null, "model": "m2"}));
    let settings = &second["settings"];
    assert_eq!(
        (&settings["effort"], &settings["tier"]),
        (&json!("low"), &Value::Null)
    );
    assert_eq!(second["changesCacheKey"], json!(["model"]));
    assert_eq!(update(json!({"model": "m2"}))["changed"], json!([]));
    client.ask(
        "thread/settings/update",
        json!({"threadId": thread, "developerInstructions": "Be terse."}),
    );
    client.turn(&thread, "one");
    let said = place.bindery(&["log", "show", &thread, "--json"]).out;
    assert!(said.contains("Be terse.") && said.contains("m2"), "{said}");
    assert!(said.contains(r#""effort":"low""#), "{said}");
    client.end();
    // What was set holds in the next process as well.
    let mut client = Client::new(&place);
    let resumed = client.ask("thread/resume", json!({"threadId": thread, "provider": "sim"}));
    assert_eq!(resumed["settings"]["developerInstructions"], "Be terse.");
    client.end();
}

#[test]
fn injected_items_enter_in_order_and_the_history_is_read() {
    let place = Place::new();
    let mut client = Client::new(&place);
    let thread = client.start(&place);
    let items = json!([{"class": "note", "text": "NOTE"}, {"class": "baseline", "text": "BASE"}]);
    assert_eq!(
        client.ask("thread/inject_items", json!({"threadId": thread, "items": items}))["accepted"],
        2
    );
    let empty = client.refused("thread/inject_items", json!({"threadId": thread, "items": []}));
    assert_eq!(empty["code"], "invalid_params");
    client.turn(&thread, "one");
    let read = client.ask("thread/read", json!({"threadId": thread}));
    let text = read["items"].to_string();
    assert!(text.contains("NOTE") && text.contains("BASE"), "{text}");
    assert_eq!(
        client.ask("thread/list", json!({}))["data"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert!(
        client
            .told
            .iter()
            .any(|one| one["method"] == "thread/tokenUsage/updated")
            || client.last > 0
    );
    client.end();
    assert_eq!(place.bindery(&["replay", &thread, "--verify"]).code, 0);
}

#[test]
fn a_baseline_is_said_again_after_a_compaction_and_a_note_is_not() {
    let place = Place::new();
    let mut client = Client::new(&place);
    let thread = client.start(&place);
    let items = json!([{"class": "note", "text": "NOTE-WORD"}, {"class": "baseline", "text": "BASE-WORD"}]);
    client.ask("thread/inject_items", json!({"threadId": thread, "items": items}));
    for turn in 0..12 {
        client.turn(&thread, &format!("{turn} {}", "word ".repeat(4_000)));
    }
    client.ask("thread/compact/start", json!({"threadId": thread}));
    let compacted = client.wait("thread/compacted");
    assert_eq!(compacted["changed"], true, "{compacted}");
    client.turn(&thread, "and now?");
    client.end();
    let request = place.bindery(&["replay", &thread, "--at", "13"]);
    assert!(
        request.out.contains("BASE-WORD"),
        "{}{}",
        request.err,
        request.out.len()
    );
}

#[test]
fn what_is_no_request_is_answered_and_the_server_goes_on() {
    let place = Place::new();
    let mut client = Client::silent(&place);
    let early = client.refused("thread/list", json!({}));
    assert_eq!(early["code"], "not_initialized");
    for (line, code) in [("{", -32700), ("{\"id\": 7}", -32600), ("\u{0}", -32700)] {
        client.send(line);
        assert_eq!(client.line()["error"]["code"], code, "{line}");
    }
    client.send("{\"method\": \"initialized\"}");
    client.ask("initialize", json!({"clientInfo": {"name": "t"}}));
    let unknown = client.response("thread/frob", json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    let extra = client.refused("thread/list", json!({"colour": "red"}));
    assert_eq!(extra["code"], "invalid_params");
    client.end();
}

#[test]
fn an_edited_policy_reaches_every_session_and_the_client_sees_only_its_own_answers() {
    let place = Place::new();
    place.write("home/repo/policy.md", "Ask before deploys.\n");
    let command = format!("'{}' app-server", env!("CARGO_BIN_EXE_bindery"));
    let watch = [
        "policy",
        "watch",
        "policy.md",
        "--app-server",
        &command,
        "--every",
        "10",
    ];
    let mut client = Client::with(&place, &watch);
    client.ask("initialize", json!({"clientInfo": {"name": "t"}}));
    let thread = client.start(&place);
    client.turn(&thread, "one");
    place.write("home/repo/policy.md", "Never deploy.\n");
    // An update that keeps everything shows what holds, and the new policy is there before long.
    let holds = |client: &mut Client| {
        let all = client.ask("thread/settings/update", json!({"threadId": thread}));
        all["settings"]["developerInstructions"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    while !holds(&mut client).contains("Never deploy.") {
        std::thread::yield_now();
    }
    client.turn(&thread, "two");
    assert!(client.told.iter().all(|one| !one["id"].is_string()));
    client.end();
    let said = place.bindery(&["log", "show", &thread, "--json"]).out;
    assert!(
        said.contains("Ask before deploys.") && said.contains("Never deploy."),
        "{said}"
    );
}

#[test]
fn the_example_runs_where_python_is() {
    let found = Command::new("python3").arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        return;
    }
    let place = Place::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/app_server.py");
    let mut python = Command::new("python3");
    python
        .arg(example)
        .arg(env!("CARGO_BIN_EXE_bindery"))
        .arg(place.path("home/repo"));
    python
        .env("HOME", place.path("home"))
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CONFIG_HOME");
    let ran = place.ran(&mut python);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("changed: mode, developerInstructions"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("late: no_active_turn"), "{}", ran.out);
    assert!(ran.out.contains("resumed:"), "{}", ran.out);
    assert!(include_str!("../../../../examples/app_server.py").lines().count() <= 40);
}

#[cfg(unix)]
mod socket {
    use std::os::unix::net::UnixStream;
    use std::path::Path;

    use super::*;

    struct Listening(Child);

    impl Listening {
        /// A server at a socket, once it says that it listens.
        fn at(place: &Place, socket: &Path) -> Result<Self, String> {
            let socket = socket.to_str().unwrap();
            let mut command = place.command("home/repo", &["app-server", "--listen", socket]);
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut said = String::new();
            let mut err = BufReader::new(child.stderr.take().unwrap());
            err.read_line(&mut said).unwrap();
            if said.starts_with("listening at") {
                return Ok(Self(child));
            }
            child.wait().unwrap();
            Err(said)
        }
    }

    impl Drop for Listening {
        fn drop(&mut self) {
            let _gone = self.0.kill().and_then(|()| self.0.wait());
        }
    }

    /// A request on a connection of its own.
    fn ask(stream: &mut UnixStream, id: u64, method: &str, params: &Value) -> Value {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(stream, "{line}").unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        loop {
            let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            if line["id"] == id {
                return line;
            }
        }
    }

    #[test]
    fn a_socket_serves_one_client_after_the_other_and_one_server_holds_it() {
        let place = Place::new();
        let socket = place.path("s");
        let server = Listening::at(&place, &socket).unwrap();
        let hello = json!({"clientInfo": {"name": "t"}});
        let start = json!({"cwd": place.path("home/repo"), "provider": "sim"});
        let mut one = UnixStream::connect(&socket).unwrap();
        assert_eq!(
            ask(&mut one, 1, "thread/list", &json!({}))["error"]["data"]["code"],
            "not_initialized"
        );
        ask(&mut one, 2, "initialize", &hello);
        let thread = ask(&mut one, 3, "thread/start", &start)["result"]["thread"]["id"].clone();
        drop(one);
        // The next client greets for itself, and finds what the one before left open.
        let mut two = UnixStream::connect(&socket).unwrap();
        assert_eq!(
            ask(&mut two, 1, "thread/list", &json!({}))["error"]["data"]["code"],
            "not_initialized"
        );
        ask(&mut two, 2, "initialize", &hello);
        let read = ask(&mut two, 3, "thread/read", &json!({"threadId": thread}));
        assert_eq!(read["result"]["thread"]["id"], thread);
        let refused = Listening::at(&place, &socket).map(drop).unwrap_err();
        assert!(
            refused.contains("listening at") || refused.contains("in use"),
            "{refused}"
        );
        drop(server);
        // A socket that a killed server left is taken over.
        drop(Listening::at(&place, &socket).unwrap());
    }
}
