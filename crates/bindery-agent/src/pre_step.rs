//! Before a step: what wants to enter, and who may have a say in it.

use std::sync::Arc;

use bindery_core::log::{SessionState, SnapshotEntered, UserMessage};
use bindery_core::{BoxFuture, Message, ProviderError, Role, RuntimeContext};

/// Something that wants to enter the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A message from the inbox, or one that a listener adds: it asks for a step.
    Said(UserMessage),
    /// A message of the runtime context: an instruction file, a document. By itself it asks for nothing.
    Context(UserMessage),
    /// A snapshot of the runtime context. By itself it asks for nothing.
    Snapshot(SnapshotEntered),
}

/// What stands before listeners: entries in the order in which they would enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The turn's number in the session.
    pub turn: u64,
    /// The number that the step would have in the turn.
    pub step: u64,
    /// Whether the conversation waits for the model anyway: tool results have come.
    pub continues: bool,
    /// What would enter.
    pub entries: Vec<Entry>,
}

/// What becomes of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// These enter, in this order.
    Enter(Vec<Entry>),
    /// Nothing enters; the turn ends as blocked. What was claimed is gone.
    Reject {
        /// Why, for people.
        reason: String,
    },
}

/// Has a say before every step: accept, edit, reorder, reject.
pub trait PreStepListener: Send + Sync {
    /// Decides, asking the rest of the chain with `next` or not. Whoever does not ask takes over what the
    /// rest would have done: the entries, snapshot included, enter only if they are in the decision.
    fn decide<'a>(
        &'a self,
        proposal: Proposal,
        next: Next<'a>,
    ) -> BoxFuture<'a, Result<Decision, ProviderError>>;
}

/// The rest of the chain. Its end accepts what it is given.
pub struct Next<'a> {
    rest: &'a [Arc<dyn PreStepListener>],
}

impl<'a> Next<'a> {
    pub(crate) fn all(listeners: &'a [Arc<dyn PreStepListener>]) -> Self {
        Self { rest: listeners }
    }

    /// Asks the rest of the chain.
    pub fn run(self, proposal: Proposal) -> BoxFuture<'a, Result<Decision, ProviderError>> {
        match self.rest.split_first() {
            None => Box::pin(std::future::ready(Ok(Decision::Enter(proposal.entries)))),
            Some((listener, rest)) => listener.decide(proposal, Next { rest }),
        }
    }
}

/// The entries of a step: what has to be said of the contexts with messages of their own, the snapshot if
/// it has to be said again, then what was claimed.
pub(crate) fn entries(
    state: &SessionState,
    context: &RuntimeContext,
    claimed: Vec<UserMessage>,
) -> Vec<Entry> {
    let proposed = state.standing().propose(context);
    let mut out: Vec<Entry> = proposed.into_iter().map(Entry::Context).collect();
    let snapshot = state.projection().propose(context.snapshot.as_ref());
    out.extend(snapshot.map(Entry::Snapshot));
    out.extend(claimed.into_iter().map(Entry::Said));
    out
}

/// Whether a step has anything to answer.
pub(crate) fn asks(entries: &[Entry], continues: bool) -> bool {
    continues || entries.iter().any(|entry| matches!(entry, Entry::Said(_)))
}

/// What this request alone says, after everything else.
pub(crate) fn reminders(context: &RuntimeContext) -> Vec<Message> {
    let parts = context
        .reminders
        .iter()
        .map(|fragment| bindery_core::Part::Text(vec![fragment.clone()]));
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() {
        return Vec::new();
    }
    vec![Message {
        role: Role::User,
        parts,
        is_meta: true,
    }]
}
