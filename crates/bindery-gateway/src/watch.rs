//! One exchange, watched from both sides. When nobody holds it any more it is over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};

use crate::copy::{Budget, Copy};
use crate::gateway::Clock;
use crate::observer::Outcome;
use crate::operation::Operation;
use crate::recorder::{Inbox, Note};
use crate::refusal::Refusal;

/// What an exchange counts for beside its bodies, in bytes. It takes less (headers, places in queues); so much
/// keeps those that wait, by the usual budget, below a thousand.
const BESIDE: usize = 65_536;

/// Whose body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The client's request.
    Request,
    /// The upstream's response.
    Response,
}

/// What is known when a request's head is there.
#[derive(Debug)]
pub(crate) struct Asked {
    /// The number of the exchange, from 1, in the order of arrival.
    pub(crate) number: u64,
    /// When it came, in milliseconds since 1970.
    pub(crate) at_ms: u64,
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    /// What is asked for; `None` for what is only passed through.
    pub(crate) operation: Option<Operation>,
    /// Where it goes.
    pub(crate) route: Arc<str>,
    /// Whether the answer is made up here.
    pub(crate) simulated: bool,
}

/// A request that the upstream has wholly.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) asked: Arc<Asked>,
    pub(crate) body: Copy,
}

/// An exchange that is over.
#[derive(Debug)]
pub(crate) struct Over {
    pub(crate) asked: Arc<Asked>,
    /// Whether the request came to its end.
    pub(crate) sent: bool,
    /// The head of the response, and when it began.
    pub(crate) head: Option<Head>,
    pub(crate) reply: Copy,
    pub(crate) outcome: Outcome,
    /// When it was over, in milliseconds since 1970.
    pub(crate) at_ms: u64,
}

/// The head of a response.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) at_ms: u64,
}

/// Watches one exchange.
pub(crate) struct Watch {
    asked: Arc<Asked>,
    inbox: Inbox,
    clock: Clock,
    stopping: Arc<AtomicBool>,
    state: Mutex<State>,
}

struct State {
    request: Option<Copy>,
    reply: Option<Copy>,
    head: Option<Head>,
    answered: bool,
    failed: Option<String>,
    refused: Option<String>,
    /// There was no room for it from the start: it is counted, and nothing else is kept of it, so that what waits for
    /// the recorder is bounded however much comes.
    unseen: bool,
}

impl Watch {
    pub(crate) fn new(
        asked: Asked,
        inbox: Inbox,
        clock: Clock,
        budget: &Arc<Budget>,
        stopping: Arc<AtomicBool>,
    ) -> Arc<Self> {
        let request = Copy::new(budget, BESIDE);
        let unseen = request.bytes().is_err();
        Arc::new(Self {
            asked: Arc::new(asked),
            inbox,
            clock,
            stopping,
            state: Mutex::new(State {
                request: Some(request),
                reply: Some(Copy::new(budget, 0)),
                head: None,
                answered: false,
                failed: None,
                refused: None,
                unseen,
            }),
        })
    }

    /// Every change is one assignment, so that the state is whole whatever a panic interrupted.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes pass.
    pub(crate) fn pass(&self, side: Side, data: &Bytes) {
        if self.asked.operation.is_none() {
            return;
        }
        let mut state = self.state();
        let copy = match side {
            Side::Request => &mut state.request,
            Side::Response => &mut state.reply,
        };
        if let Some(copy) = copy {
            copy.push(data);
        }
    }

    /// A body came to its end.
    pub(crate) fn end(&self, side: Side) {
        let mut state = self.state();
        match side {
            Side::Request => {
                let seen = !state.unseen;
                if let Some(body) = state.request.take().filter(|_| seen) {
                    let asked = self.asked.clone();
                    self.inbox.put(Note::Sent(Sent { asked, body }));
                }
            }
            Side::Response => state.answered = true,
        }
    }

    /// A body broke.
    pub(crate) fn broke(&self, side: Side, error: &(dyn std::error::Error + 'static)) {
        // A request's body breaks when the client goes away.
        if side == Side::Response {
            self.failed(format!("the upstream's answer broke off: {}", chain(error)));
        }
    }

    /// The response begins.
    pub(crate) fn began(&self, status: StatusCode, headers: HeaderMap) {
        let at_ms = (self.clock)();
        self.state().head = Some(Head {
            status,
            headers,
            at_ms,
        });
    }

    /// The request was not passed on.
    pub(crate) fn refused(&self, refusal: &Refusal) {
        self.began(refusal.status(), HeaderMap::new());
        self.state().refused = Some(refusal.message().to_owned());
    }

    /// There will be no response of the upstream, or no more of it.
    pub(crate) fn failed(&self, message: String) {
        self.state().failed.get_or_insert(message);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut state = self.state();
        if state.unseen {
            self.inbox.miss();
            return;
        }
        let outcome = match (state.refused.take(), state.failed.take()) {
            (Some(message), _) => Outcome::Refused(message),
            (None, Some(message)) => Outcome::Failed(message),
            (None, None) if state.answered => Outcome::Answered,
            (None, None) if self.stopping.load(Ordering::Relaxed) => Outcome::Stopped,
            (None, None) => Outcome::ClientGone,
        };
        let sent = state.request.take().is_none();
        let (head, reply) = (state.head.take(), state.reply.take());
        drop(state);
        let Some(reply) = reply else { return };
        self.inbox.put(Note::Over(Over {
            asked: self.asked.clone(),
            sent,
            head,
            reply,
            outcome,
            at_ms: (self.clock)(),
        }));
    }
}

/// An error with its causes, outermost first.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut causes = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(inner) = cause {
        causes.push(inner.to_string());
        cause = inner.source();
    }
    causes.dedup();
    causes.join(": ")
}
