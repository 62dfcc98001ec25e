//! The app server while a turn runs: what it refuses, and what it asks the client.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use bindery_agent::app_server::{Ask, Host, Opened, Outlet, Refusal, Server, protocol::ThreadListed};
use bindery_agent::{Effect, Input, Outcome, Permission, Permit, Request, Runner};
use bindery_core::{BoxFuture, Scope, Tool};
use bindery_store::{MemoryStore, Store as _};
use serde_json::{Value, json};
use tokio::sync::mpsc::{Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::task::LocalSet;

use crate::common::{Still, id, open};

/// Opens sessions whose model calls the tool `work` once and then answers.
struct Sessions {
    runs: Arc<Mutex<u32>>,
    hangs: bool,
}

impl Host for Sessions {
    fn open(&self, _: Ask<'_>) -> Result<Opened, Refusal> {
        let (store, scope) = (MemoryStore::default(), Scope::global());
        store.create(&id(), 0).unwrap();
        let script = "[[reply]]\ncalls = [{ tool = 'work' }]\n[[reply]]\ntext = 'Done.'\n".repeat(4);
        let mut agent = open(&store, &scope, &script, Arc::new(Still::default()));
        let work = Work {
            runs: self.runs.clone(),
            hangs: self.hangs,
        };
        agent.toolbox = std::mem::take(&mut agent.toolbox).with(work);
        agent.permit = Arc::new(Nobody);
        let kept = scope.tools(agent.toolbox.schemas());
        Ok(Opened {
            id: "s".into(),
            agent,
            durable: false,
            forked_from: None,
            kept: Box::new((kept, store)),
        })
    }

    fn list(&self, _: usize) -> Result<Vec<ThreadListed>, Refusal> {
        Ok(Vec::new())
    }
}

/// Acts, and counts it.
struct Work {
    runs: Arc<Mutex<u32>>,
    hangs: bool,
}

impl Runner for Work {
    fn tool(&self) -> Tool {
        Tool::new("work", "Works.", &json!({"type": "object"}))
    }

    fn effect(&self) -> Effect {
        if self.hangs { Effect::Reads } else { Effect::Acts }
    }

    fn describe(&self, _: &Input) -> String {
        "work hard".into()
    }

    fn run(self: Arc<Self>, _: Input) -> BoxFuture<'static, Outcome> {
        *self.runs.lock().unwrap() += 1;
        Box::pin(async move {
            if self.hangs {
                std::future::pending::<()>().await;
            }
            Outcome::done("worked")
        })
    }
}

/// Nobody can be asked.
struct Nobody;

impl Permit for Nobody {
    fn decide<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Permission> {
        Box::pin(std::future::ready(Permission::Refused(
            "nobody can be asked".into(),
        )))
    }
}

/// Where lines of the server arrive; they come in pieces.
struct Lines {
    to: UnboundedSender<Value>,
    line: Vec<u8>,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if self.line.ends_with(b"\n") {
            let _gone = self.to.send(serde_json::from_slice(&self.line).unwrap());
            self.line.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Client {
    to: Sender<String>,
    from: UnboundedReceiver<Value>,
}

impl Client {
    async fn send(&self, line: Value) {
        self.to.send(line.to_string()).await.unwrap();
    }

    async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(json!({"id": id, "method": method, "params": params}))
            .await;
        self.until(|line| line["id"] == id).await
    }

    async fn until(&mut self, is: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.from.recv().await.unwrap();
            if is(&line) {
                return line;
            }
        }
    }

    /// A turn to its end; what the model was told of the tool.
    async fn turn(&mut self, answer: impl Fn(&Value) -> Option<Value>) -> String {
        let input = json!([{"type": "text", "text": "work"}]);
        self.send(json!({"id": 100, "method": "turn/start", "params": {"threadId": "s", "input": input}}))
            .await;
        let mut told = String::new();
        loop {
            let line = self.from.recv().await.unwrap();
            match line["method"].as_str().unwrap_or_default() {
                "turn/completed" => return told,
                "tool/requestApproval" => {
                    assert_eq!(line["params"]["what"], "work hard");
                    if let Some(result) = answer(&line) {
                        let mut response = result;
                        response["id"] = line["id"].clone();
                        self.send(response).await;
                    }
                }
                "item/completed" if line["params"]["item"]["type"] == "tool_returned" => {
                    told = line["params"]["item"]["data"].to_string();
                }
                _ => {}
            }
        }
    }
}

/// A client of a server, and what it says; its lines end with the test.
async fn with_client<T>(hangs: bool, runs: &Arc<Mutex<u32>>, test: impl AsyncFnOnce(&mut Client) -> T) -> T {
    let local = LocalSet::new();
    let sessions = Sessions {
        runs: runs.clone(),
        hangs,
    };
    let run = async {
        let (to_client, from) = unbounded_channel();
        let (to, lines) = channel(64);
        let mut server = Server::new(
            sessions,
            Outlet::new(Lines {
                to: to_client,
                line: Vec::new(),
            }),
        );
        let serving = tokio::task::spawn_local(async move { server.serve(lines).await });
        let mut client = Client { to, from };
        let out = test(&mut client).await;
        drop(client);
        serving.await.unwrap();
        out
    };
    local.run_until(run).await
}

fn start() -> Value {
    json!({"cwd": "/"})
}

#[tokio::test]
async fn steering_another_turn_or_one_that_ends_is_refused_by_its_own_code() {
    let runs = Arc::default();
    with_client(true, &runs, async |client| {
        client
            .ask(1, "initialize", json!({"clientInfo": {"name": "t"}}))
            .await;
        client.ask(2, "thread/start", start()).await;
        let input = json!([{"type": "text", "text": "work"}]);
        client
            .ask(3, "turn/start", json!({"threadId": "s", "input": input}))
            .await;
        client
            .until(|line| line["params"]["item"]["type"] == "tool_called")
            .await;
        let steer = |turn: &str| json!({"threadId": "s", "expectedTurnId": turn, "input": input});
        let other = client.ask(4, "turn/steer", steer("9")).await;
        assert_eq!(
            other["error"]["data"],
            json!({"code": "turn_mismatch", "expected": "9", "actual": "1"})
        );
        let other = client
            .ask(5, "turn/interrupt", json!({"threadId": "s", "turnId": "9"}))
            .await;
        assert_eq!(other["error"]["data"]["code"], "turn_mismatch");
        let again = client
            .ask(6, "turn/start", json!({"threadId": "s", "input": input}))
            .await;
        assert_eq!(again["error"]["data"]["code"], "turn_active");
        let taken = client.ask(7, "turn/steer", steer("1")).await;
        assert_eq!(taken["result"], json!({"turnId": "1", "started": false}));
        // Both lines are there before the turn can end.
        client
            .send(json!({"id": 8, "method": "turn/interrupt", "params": {"threadId": "s", "turnId": "1"}}))
            .await;
        let late = client.ask(9, "turn/steer", steer("1")).await;
        assert_eq!(
            late["error"]["data"],
            json!({"code": "not_steerable", "expected": "1", "actual": "1"})
        );
        client.until(|line| line["method"] == "turn/completed").await;
    })
    .await;
}

#[tokio::test]
async fn a_client_that_says_so_is_asked_and_its_answer_holds() {
    let runs = Arc::default();
    let capabilities = json!({"requestApproval": true, "approvalTimeoutMs": 60_000, "experimentalApi": true});
    with_client(false, &runs, async |client| {
        let hello = json!({"clientInfo": {"name": "t"}, "capabilities": capabilities});
        client.ask(1, "initialize", hello).await;
        client.ask(2, "thread/start", start()).await;
        let answer = |decision: &str| json!({"result": {"decision": decision, "reason": "not today"}});
        let told = client.turn(|_| Some(answer("decline"))).await;
        assert!(told.contains("the user refused and said: not today"), "{told}");
        let told = client
            .turn(|_| Some(json!({"error": {"code": 1, "message": "no such method"}})))
            .await;
        assert!(told.contains("no such method"), "{told}");
        let told = client.turn(|_| Some(answer("perhaps"))).await;
        assert!(told.contains("cannot be read"), "{told}");
        assert_eq!(*runs.lock().unwrap(), 0);
        let told = client.turn(|_| Some(answer("acceptForSession"))).await;
        assert!(told.contains("worked"), "{told}");
        assert_eq!(*runs.lock().unwrap(), 1);
        // A response to nothing is passed over, and the server goes on.
        client
            .send(json!({"id": "approval-99", "result": {"decision": "accept"}}))
            .await;
        client.send(json!({"id": 7, "result": {}})).await;
        assert!(client.ask(8, "thread/list", json!({})).await["result"].is_object());
    })
    .await;
}

#[tokio::test]
async fn what_was_allowed_for_the_session_is_not_asked_again() {
    let runs = Arc::default();
    with_client(false, &runs, async |client| {
        let hello = json!({"clientInfo": {"name": "t"}, "capabilities": {"requestApproval": true}});
        client.ask(1, "initialize", hello).await;
        client.ask(2, "thread/start", start()).await;
        client
            .turn(|_| Some(json!({"result": {"decision": "acceptForSession"}})))
            .await;
        client.turn(|_| panic!("asked again")).await;
        assert_eq!(*runs.lock().unwrap(), 2);
    })
    .await;
}

#[tokio::test]
async fn no_answer_in_time_is_no_and_so_is_a_client_that_answers_nothing() {
    for (capabilities, said) in [
        (
            json!({"requestApproval": true, "approvalTimeoutMs": 1}),
            "did not answer within 1ms",
        ),
        (json!({"experimentalApi": true}), "nobody can be asked"),
        (Value::Null, "nobody can be asked"),
    ] {
        let runs = Arc::default();
        with_client(false, &runs, async |client| {
            let hello = json!({"clientInfo": {"name": "t"}, "capabilities": capabilities});
            client.ask(1, "initialize", hello).await;
            client.ask(2, "thread/start", start()).await;
            let told = client.turn(|_| None).await;
            assert!(told.contains(said), "{told}");
        })
        .await;
        assert_eq!(*runs.lock().unwrap(), 0);
    }
}
