//! What stands between a client and a server.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::ChildStdin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bindery::ContentHash;
use serde_json::{Value, json};

/// What our requests' ids begin with: no client's do.
const OWN: &str = "bindery-policy-";
/// Requests whose answer names a session that is open from there on.
const OPENING: [&str; 3] = ["thread/start", "thread/resume", "thread/fork"];

/// The lines between a client and a server. Clones are one.
#[derive(Clone)]
pub(super) struct Watched {
    file: PathBuf,
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    /// The server's input; none once the client has ended.
    to: Option<ChildStdin>,
    /// Requests of the client that open sessions and are not answered, by id.
    opening: Vec<Value>,
    /// The client's request that begins the connection.
    initialize: Option<Value>,
    /// Whether the server is ours.
    ours: bool,
    /// The sessions, with the model that each was started with.
    threads: BTreeMap<String, Option<String>>,
    /// The policy that was sent last.
    policy: String,
    sent: u64,
}

impl Watched {
    pub(super) fn new(file: PathBuf, to: ChildStdin) -> Self {
        let policy = fs::read_to_string(&file).unwrap_or_default();
        Self {
            file,
            inner: Arc::new(Mutex::new(Inner {
                to: Some(to),
                opening: Vec::new(),
                initialize: None,
                ours: false,
                threads: BTreeMap::new(),
                policy,
                sent: 0,
            })),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client's lines, until they end; then the server's input ends as well.
    pub(super) fn pass_to_server(&self, from: impl Read) {
        for line in BufReader::new(from).lines() {
            let Ok(line) = line else { break };
            let mut inner = self.lock();
            let line = inner.towards_server(line);
            inner.send(&line);
        }
        self.lock().to = None;
    }

    /// The server's lines, without the answers to our own requests.
    pub(super) fn pass_to_client(&self, from: impl Read, out: &mut dyn Write) -> std::io::Result<()> {
        for line in BufReader::new(from).lines() {
            let line = line?;
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            if message["id"].as_str().is_some_and(|id| id.starts_with(OWN)) {
                if let Some(error) = message.get("error") {
                    let mut err = anstream::stderr();
                    let why = crate::terminal::printable(&error["message"].to_string());
                    let _unseen = writeln!(err, "the policy was refused: {why}");
                }
                continue;
            }
            writeln!(out, "{line}")?;
            out.flush()?;
            self.lock().towards_client(&message);
        }
        Ok(())
    }

    /// Looks at the file. One that is gone takes the policy back; one that cannot be read changes nothing.
    pub(super) fn look(&self) {
        let now = match fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(_) => return,
        };
        let mut inner = self.lock();
        if now == inner.policy {
            return;
        }
        inner.policy = now;
        let threads: Vec<String> = inner.threads.keys().cloned().collect();
        for thread in threads {
            inner.update(&thread);
        }
    }
}

impl Inner {
    fn send(&mut self, line: &str) {
        if let Some(to) = &mut self.to {
            // A server that is gone is seen by the end of its output.
            let _gone = writeln!(to, "{line}").and_then(|()| to.flush());
        }
    }

    /// A line of the client's, as it goes on. Codex has settings updates for clients only that ask for what is
    /// experimental.
    fn towards_server(&mut self, line: String) -> String {
        let Ok(mut message) = serde_json::from_str::<Value>(&line) else {
            return line;
        };
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        if OPENING.contains(&method.as_str()) {
            self.opening.push(message["id"].clone());
        }
        if method != "initialize" {
            return line;
        }
        self.initialize = Some(message["id"].clone());
        let params = message.get_mut("params").and_then(Value::as_object_mut);
        let Some(params) = params else { return line };
        let capabilities = params.entry("capabilities").or_insert(Value::Null);
        if capabilities.is_null() {
            *capabilities = json!({});
        }
        if let Some(capabilities) = capabilities.as_object_mut() {
            capabilities.insert("experimentalApi".to_owned(), true.into());
        }
        message.to_string()
    }

    fn towards_client(&mut self, message: &Value) {
        let id = message.get("id").filter(|_| message.get("result").is_some());
        let Some(id) = id else { return };
        let result = &message["result"];
        if self.initialize.as_ref() == Some(id) {
            self.ours = result["userAgent"]
                .as_str()
                .is_some_and(|name| name.starts_with("bindery/"));
        }
        let Some(at) = self.opening.iter().position(|one| one == id) else {
            return;
        };
        self.opening.remove(at);
        if let Some(thread) = result["thread"]["id"].as_str() {
            let model = result["model"].as_str().map(str::to_owned);
            self.threads.insert(thread.to_owned(), model);
            if !self.policy.trim().is_empty() {
                self.update(thread);
            }
        }
    }

    /// Tells the server what the policy of a session is.
    fn update(&mut self, thread: &str) {
        self.sent += 1;
        let text = (!self.policy.trim().is_empty()).then_some(self.policy.as_str());
        let params = if self.ours {
            let version = text.map(|text| ContentHash::of(text.as_bytes()).short());
            json!({"threadId": thread, "developerInstructions": text, "policyVersion": version})
        } else {
            let model = self.threads.get(thread).cloned().flatten();
            let settings = json!({"model": model, "developer_instructions": text.unwrap_or_default()});
            json!({"threadId": thread, "collaborationMode": {"mode": "default", "settings": settings}})
        };
        let id = format!("{OWN}{}", self.sent);
        let request =
            json!({"jsonrpc": "2.0", "id": id, "method": "thread/settings/update", "params": params});
        self.send(&request.to_string());
    }
}
