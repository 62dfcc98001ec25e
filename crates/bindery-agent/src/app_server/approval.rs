//! Asking the client before a tool acts: a request from the server, an answer within a time, else no.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bindery_core::BoxFuture;
use bindery_hooks::Rule;
use serde_json::{Value, json};
use tokio::sync::oneshot::{Receiver, Sender, channel};

use super::outlet::Outlet;
use super::protocol::{ApprovalDecision, ApprovalParams, ApprovalResult, Capabilities};
use crate::tool::{Permission, Permit, Request};

/// The request's name.
pub(super) const METHOD: &str = "tool/requestApproval";
/// How long an answer may take where the client does not say.
const TIMEOUT: Duration = Duration::from_mins(5);

/// The questions that wait for this client's answers. Clones are one.
#[derive(Clone, Default)]
pub(super) struct Desk(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    /// How long answers may take; `None` where the client answers no questions.
    within: Option<Duration>,
    asked: u64,
    open: BTreeMap<String, Sender<ApprovalResult>>,
}

impl Desk {
    /// What a client said it can do; questions to the one before are answered with no.
    pub(super) fn greet(&self, capabilities: Option<&Capabilities>) {
        let mut waiting = self.lock();
        waiting.open.clear();
        let can = capabilities.filter(|capabilities| capabilities.request_approval);
        waiting.within = can.map(|can| can.approval_timeout_ms.map_or(TIMEOUT, Duration::from_millis));
    }

    /// Takes a response of the client's. One that nobody waits for is dropped: the question was withdrawn, or
    /// its time was over.
    pub(super) fn answered(&self, id: &Value, response: &Value) {
        let Some(sender) = id.as_str().and_then(|id| self.lock().open.remove(id)) else {
            return;
        };
        let result = response.get("result").cloned().unwrap_or_default();
        let result = serde_json::from_value(result).unwrap_or_else(|error| ApprovalResult {
            decision: ApprovalDecision::Decline,
            reason: Some(
                match response.get("error").and_then(|error| error.get("message")) {
                    Some(message) => format!("the client answered with an error: {message}"),
                    None => format!("the client's answer cannot be read: {error}"),
                },
            ),
        });
        let _turn_gone = sender.send(result);
    }

    fn ask(&self) -> Option<(Question, Receiver<ApprovalResult>, Duration)> {
        let mut waiting = self.lock();
        let within = waiting.within?;
        waiting.asked = waiting.asked.saturating_add(1);
        let id = format!("approval-{}", waiting.asked);
        let (answer, answered) = channel();
        waiting.open.insert(id.clone(), answer);
        let desk = self.clone();
        Some((Question { id, desk }, answered, within))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question that waits; dropping it withdraws it.
struct Question {
    id: String,
    desk: Desk,
}

impl Drop for Question {
    fn drop(&mut self) {
        self.desk.lock().open.remove(&self.id);
    }
}

/// Gives permission as the client says, where what stood before does not decide by itself.
pub(super) struct ByClient {
    pub(super) thread: String,
    pub(super) desk: Desk,
    pub(super) outlet: Outlet,
    /// Who decides where the client answers no questions.
    pub(super) otherwise: Arc<dyn Permit>,
    /// Tools that the client allowed for the session.
    pub(super) allowed: Mutex<BTreeSet<Arc<str>>>,
}

impl ByClient {
    fn is_allowed(&self, tool: &str) -> bool {
        self.allowed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(tool)
    }

    async fn ask(&self, request: &Request) -> Option<Permission> {
        let (question, answered, within) = self.desk.ask()?;
        let params = ApprovalParams {
            thread_id: self.thread.clone(),
            tool: request.tool.to_string(),
            what: request.what.clone(),
            why: request.why.clone(),
            timeout_ms: u64::try_from(within.as_millis()).unwrap_or(u64::MAX),
        };
        let params = serde_json::to_value(params).unwrap_or_default();
        let line = json!({"jsonrpc": "2.0", "id": question.id, "method": METHOD, "params": params});
        if self.outlet.send(&line).is_err() {
            return Some(Permission::Refused(
                "the client is gone, and nobody else can be asked".to_owned(),
            ));
        }
        let answer = tokio::time::timeout(within, answered).await;
        Some(match answer {
            Err(_) => Permission::Refused(format!("the client did not answer within {within:?}")),
            Ok(Err(_)) => Permission::Refused("the client is gone, and nobody else can be asked".to_owned()),
            Ok(Ok(answer)) => self.taken(request, answer),
        })
    }

    fn taken(&self, request: &Request, answer: ApprovalResult) -> Permission {
        match answer.decision {
            ApprovalDecision::Accept => Permission::Granted,
            ApprovalDecision::AcceptForSession => {
                let mut allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
                allowed.insert(request.tool.clone());
                Permission::Granted
            }
            ApprovalDecision::Decline => Permission::Refused(answer.reason.map_or_else(
                || "the user refused".to_owned(),
                |reason| format!("the user refused and said: {reason}"),
            )),
        }
    }
}

impl Permit for ByClient {
    fn rule(&self, request: &Request) -> Rule {
        match self.otherwise.rule(request) {
            Rule::None if self.is_allowed(&request.tool) => Rule::Allow,
            rule => rule,
        }
    }

    fn decide<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Permission> {
        Box::pin(async move {
            if request.why.is_none() && self.rule(request) == Rule::Allow {
                return Permission::Granted;
            }
            match self.ask(request).await {
                Some(permission) => permission,
                None => self.otherwise.decide(request).await,
            }
        })
    }
}
