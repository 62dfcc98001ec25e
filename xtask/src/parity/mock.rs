//! A model on loopback that says `ok`, asks to read the files a case names, and keeps every body.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};
use tiny_http::{Header, Method, Request, Response, Server};

/// Threads that answer; more than clients run at once.
const WORKERS: usize = 6;

/// What a case's client is told and what it sent.
#[derive(Debug, Default)]
struct Session {
    touches: Vec<String>,
    /// What the model does request by request, where that is written down; after its end it says `ok`.
    script: Vec<Step>,
    bodies: Vec<Value>,
}

/// What the model does in one request: a call of a tool, or `ok`.
pub(crate) type Step = Option<(&'static str, Value)>;

type Sessions = Arc<Mutex<BTreeMap<String, Session>>>;

/// The running server.
pub(crate) struct Mock {
    port: u16,
    sessions: Sessions,
}

impl Mock {
    /// Starts on a free port; it ends with the process.
    pub(crate) fn start() -> Result<Self> {
        let server = Server::http("127.0.0.1:0").map_err(|error| anyhow!("the mock model: {error}"))?;
        let port = server.server_addr().to_ip().context("an IP address")?.port();
        let server = Arc::new(server);
        let sessions = Sessions::default();
        for _ in 0..WORKERS {
            let (server, sessions) = (Arc::clone(&server), Arc::clone(&sessions));
            thread::spawn(move || {
                while let Ok(request) = server.recv() {
                    answer(request, &sessions);
                }
            });
        }
        Ok(Self { port, sessions })
    }

    /// Opens a case's session and gives the base URL that belongs to it.
    pub(crate) fn open(&self, id: &str, touches: Vec<String>) -> String {
        self.begin(id, touches, Vec::new())
    }

    /// Opens a session whose model does what is written down.
    pub(crate) fn scripted(&self, id: &str, script: Vec<Step>) -> String {
        self.begin(id, Vec::new(), script)
    }

    fn begin(&self, id: &str, touches: Vec<String>, script: Vec<Step>) -> String {
        let session = Session {
            touches,
            script,
            bodies: Vec::new(),
        };
        lock(&self.sessions).insert(id.to_owned(), session);
        format!("http://127.0.0.1:{}/{id}", self.port)
    }

    /// Ends a session: the bodies in the order they came.
    pub(crate) fn close(&self, id: &str) -> Vec<Value> {
        lock(&self.sessions)
            .remove(id)
            .map(|session| session.bodies)
            .unwrap_or_default()
    }
}

fn lock(sessions: &Sessions) -> std::sync::MutexGuard<'_, BTreeMap<String, Session>> {
    sessions.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(mut request: Request, sessions: &Sessions) {
    let url = request.url().to_owned();
    let mut body = Vec::new();
    let read = request.as_reader().read_to_end(&mut body);
    let (status, text, kind) = if request.method() == &Method::Post && read.is_ok() {
        match reply(&url, &body, sessions) {
            Some(events) => (200, stream(&events), "text/event-stream"),
            None => (404, "{}".to_owned(), "application/json"),
        }
    } else if request.method() == &Method::Head {
        (200, String::new(), "text/plain")
    } else {
        (404, "{}".to_owned(), "application/json")
    };
    let mut response = Response::from_string(text).with_status_code(status);
    if let Ok(header) = Header::from_bytes("content-type", kind) {
        response.add_header(header);
    }
    // A client that hung up is seen by its missing bodies.
    let _ = request.respond(response);
}

/// The events that answer a request to `/CASE/v1/…`.
fn reply(url: &str, body: &[u8], sessions: &Sessions) -> Option<Vec<Value>> {
    let (id, path) = url.trim_start_matches('/').split_once('/')?;
    let body: Value = serde_json::from_slice(body).ok()?;
    let mut sessions = lock(sessions);
    let session = sessions.get_mut(id)?;
    let events = if path.starts_with("v1/messages") {
        let touch = session.touches.get(results(&body));
        let read = touch.map(|path| ("Read", json!({ "file_path": path })));
        messages(&body, step(session, &body).or(read))
    } else if path.starts_with("v1/responses") {
        responses(&body, step(session, &body))
    } else {
        return None;
    };
    session.bodies.push(body);
    Some(events)
}

/// What the script says for this request. Requests without tools (titles and the like) are no part of it.
fn step(session: &Session, body: &Value) -> Step {
    let asks = |body: &Value| {
        body.get("input").is_some() || body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
    };
    let done = session.bodies.iter().filter(|body| asks(body)).count();
    session.script.get(done).filter(|_| asks(body)).cloned().flatten()
}

/// How many tool results the conversation holds.
fn results(body: &Value) -> usize {
    let contents = body["messages"].as_array().into_iter().flatten();
    contents
        .filter_map(|message| message["content"].as_array())
        .flatten()
        .filter(|block| block["type"] == "tool_result")
        .count()
}

/// An answer in the Messages protocol: a call, or `ok`.
fn messages(body: &Value, call: Step) -> Vec<Value> {
    let (block, delta, stop) = match call {
        Some((name, input)) => {
            let id = format!("toolu_{:04}", results(body));
            let input = input.to_string();
            (
                json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                json!({"type": "input_json_delta", "partial_json": input}),
                "tool_use",
            )
        }
        None => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": "ok"}),
            "end_turn",
        ),
    };
    vec![
        json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
            "usage": {"output_tokens": 2}}),
        json!({"type": "message_stop"}),
    ]
}

/// An answer in the Responses protocol: a call, or `ok`.
fn responses(body: &Value, call: Step) -> Vec<Value> {
    let number = body["input"].as_array().map_or(0, Vec::len);
    let said = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "ok", "annotations": []}]});
    let item = call.map_or(said, |(name, input)| {
        json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"), "name": name,
            "arguments": input.to_string(), "status": "completed"})
    });
    vec![
        json!({"type": "response.created", "response": {"id": "resp_1"}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": "resp_1", "status": "completed",
            "output": [item], "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}}),
    ]
}

/// Server-sent events.
fn stream(events: &[Value]) -> String {
    let mut text = String::new();
    for event in events {
        let kind = event["type"].as_str().unwrap_or_default();
        let data = event.to_string();
        for part in ["event: ", kind, "\ndata: ", &data, "\n\n"] {
            text.push_str(part);
        }
    }
    text
}
