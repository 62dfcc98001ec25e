//! The server: lines in, sessions, lines out.

use std::collections::BTreeMap;

use bindery_core::log::TurnOutcome;
use bindery_store::StoreError;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::approval::Desk;
use super::outlet::Outlet;
use super::protocol::{CompactedNotification, ErrorCode, Turn, TurnNotification, TurnStatus};
use super::refusal::Refusal;
use super::thread::{Host, Open, Slot};
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::compact::Compacted;
use crate::turn::TurnReport;

/// Lines of a client, in order. The channel is bounded: whoever reads them from outside waits where the
/// server is busy.
pub type Transport = Receiver<String>;

/// Sessions and who asks for them.
pub struct Server<H> {
    pub(super) host: H,
    pub(super) outlet: Outlet,
    pub(super) desk: Desk,
    pub(super) initialized: bool,
    pub(super) threads: BTreeMap<String, Open>,
    ended: UnboundedReceiver<Finished>,
    tell_end: UnboundedSender<Finished>,
}

/// What an agent is handed out for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Turn,
    Compaction,
}

/// Work that is done.
struct Finished {
    thread: String,
    agent: Box<Agent>,
    turn: String,
    done: Done,
}

enum Done {
    Turn(Result<Option<TurnReport>, StoreError>),
    Compaction(Result<Compacted, StoreError>),
}

impl<H: Host> Server<H> {
    /// A server that writes to `outlet`.
    pub fn new(host: H, outlet: Outlet) -> Self {
        let (tell_end, ended) = unbounded_channel();
        Self {
            host,
            outlet,
            desk: Desk::default(),
            initialized: false,
            threads: BTreeMap::new(),
            ended,
            tell_end,
        }
    }

    /// Serves a client until its lines end; then turns that run are interrupted and written to their end.
    /// Has to run in a local set.
    pub async fn serve(&mut self, mut lines: Transport) {
        self.initialized = false;
        self.desk.greet(None);
        loop {
            tokio::select! {
                biased;
                Some(finished) = self.ended.recv() => self.finish(finished),
                line = lines.recv() => match line {
                    Some(line) => self.handle(&line),
                    None => break,
                },
            }
        }
        self.desk.greet(None);
        let busy = |open: &&Open| matches!(open.slot, Slot::Busy { .. });
        for open in self.threads.values().filter(busy) {
            if let Slot::Busy { cancel, .. } = &open.slot {
                cancel.cancel();
            }
        }
        while self
            .threads
            .values()
            .any(|open| matches!(open.slot, Slot::Busy { .. }))
        {
            match self.ended.recv().await {
                Some(finished) => self.finish(finished),
                None => break,
            }
        }
        for open in self.threads.values_mut() {
            if let Slot::Idle(agent) = &mut open.slot {
                let _logged = agent.end("disconnected").await;
            }
        }
    }

    /// Answers a line. One that is no request is answered as JSON-RPC says; a notification gets no answer.
    fn handle(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let message: Value = match serde_json::from_str(line) {
            Ok(message) => message,
            Err(error) => {
                let message = format!("the line is no JSON: {error}");
                return self.answer(
                    &Value::Null,
                    json!({"error": {"code": -32700, "message": message}}),
                );
            }
        };
        let id = message.get("id").cloned().unwrap_or(Value::Null);
        let is_response = message.get("result").is_some() || message.get("error").is_some();
        if is_response && message.get("method").is_none() {
            return self.desk.answered(&id, &message);
        }
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            let error = json!({"code": -32600, "message": "there is no `method`"});
            return self.answer(&id, json!({"error": error}));
        };
        let params = message.get("params").cloned().unwrap_or(Value::Null);
        if message.get("id").is_none() {
            // `initialized` and the like: nothing waits for an answer.
            return;
        }
        match self.call(method, params) {
            Ok(result) => self.answer(&id, json!({"result": result})),
            Err(refusal) => self.answer(&id, json!({"error": refusal.to_json()})),
        }
    }

    fn answer(&self, id: &Value, mut answer: Value) {
        if let Value::Object(fields) = &mut answer {
            fields.insert("jsonrpc".to_owned(), "2.0".into());
            fields.insert("id".to_owned(), id.clone());
        }
        let _gone = self.outlet.send(&answer);
    }

    /// Hands a session's agent out.
    pub(super) fn spawn(&mut self, id: &str, work: Work) -> Result<String, Refusal> {
        let unknown = || Refusal::new(ErrorCode::UnknownThread, "the session is gone");
        let open = self.threads.get_mut(id).ok_or_else(unknown)?;
        let Slot::Idle(agent) = &open.slot else {
            return Err(Refusal::new(ErrorCode::TurnActive, "a turn runs"));
        };
        let (turns, mail) = (agent.state().turns().saturating_add(1), agent.mail());
        open.turns = turns;
        let turn = turns.to_string();
        let cancel = Cancel::new();
        let busy = Slot::Busy {
            turn: turn.clone(),
            mail,
            cancel: cancel.clone(),
        };
        let Slot::Idle(mut agent) = std::mem::replace(&mut open.slot, busy) else {
            return Err(unknown());
        };
        let (thread, tell, turn_id) = (id.to_owned(), self.tell_end.clone(), turn.clone());
        let outlet = self.outlet.clone();
        tokio::task::spawn_local(async move {
            let done = if work == Work::Turn {
                let started = notification(&thread, &turn_id, TurnStatus::InProgress, None);
                outlet.notify("turn/started", &started);
                Done::Turn(Box::pin(agent.turn(&cancel)).await)
            } else {
                Done::Compaction(Box::pin(agent.compact(&cancel)).await)
            };
            let turn = turn_id;
            let _server_gone = tell.send(Finished {
                thread,
                agent,
                turn,
                done,
            });
        });
        Ok(turn)
    }

    /// Takes an agent back. What was said in the last moment begins a turn of its own.
    fn finish(&mut self, finished: Finished) {
        let Finished {
            thread,
            mut agent,
            turn,
            done,
        } = finished;
        let collected = agent.collect();
        let wakes = collected.is_ok() && agent.state().inbox().wakes();
        if let Some(open) = self.threads.get_mut(&thread) {
            open.slot = Slot::Idle(agent);
            let carried = open.carry_out().and_then(|()| open.instruct(None));
            match done {
                Done::Turn(report) => self.tell_turn(&thread, &turn, report),
                Done::Compaction(compacted) => self.tell_compaction(&thread, compacted),
            }
            if let Err(refusal) = carried {
                self.warn(&thread, &refusal.message);
            }
        }
        if wakes && let Err(refusal) = self.begin(&thread, None) {
            self.warn(&thread, &refusal.message);
        }
    }

    fn tell_turn(&self, thread: &str, turn: &str, report: Result<Option<TurnReport>, StoreError>) {
        let (status, reason) = match report {
            Ok(None) => (TurnStatus::Completed, None),
            Ok(Some(report)) => (status(report.outcome), report.reason),
            Err(error) => (TurnStatus::Failed, Some(error.to_string())),
        };
        self.outlet
            .notify("turn/completed", &notification(thread, turn, status, reason));
    }

    fn tell_compaction(&self, thread: &str, compacted: Result<Compacted, StoreError>) {
        let reason = match compacted {
            Ok(Compacted::Done(_)) => None,
            Ok(Compacted::Unchanged { reason }) => Some(reason),
            Err(error) => Some(error.to_string()),
        };
        let told = CompactedNotification {
            thread_id: thread.to_owned(),
            changed: reason.is_none(),
            reason,
        };
        self.outlet.notify("thread/compacted", &told);
    }

    fn warn(&self, thread: &str, message: &str) {
        let told = super::protocol::WarningNotification {
            thread_id: thread.to_owned(),
            message: message.to_owned(),
        };
        self.outlet.notify("warning", &told);
    }
}

fn notification(thread: &str, turn: &str, status: TurnStatus, reason: Option<String>) -> TurnNotification {
    TurnNotification {
        thread_id: thread.to_owned(),
        turn: Turn {
            id: turn.to_owned(),
            status,
            reason,
        },
    }
}

fn status(outcome: TurnOutcome) -> TurnStatus {
    match outcome {
        TurnOutcome::Completed => TurnStatus::Completed,
        TurnOutcome::Blocked => TurnStatus::Blocked,
        TurnOutcome::Aborted | TurnOutcome::Interrupted => TurnStatus::Interrupted,
        TurnOutcome::Failed => TurnStatus::Failed,
    }
}
