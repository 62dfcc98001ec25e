//! What a log folds to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Header, HeaderReason, Inbox, Json, Opening, Projection, Seq, Standing, Surface, UsageTotals};
use crate::Message;
use crate::ledger::Ledger;

/// The state of a session. There is no way to it but [`SessionState::apply`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionState {
    pub(super) last: Option<Seq>,
    pub(super) surface: Surface,
    pub(super) standing: Standing,
    pub(super) touched: Vec<Arc<str>>,
    pub(super) known_touched: BTreeSet<Arc<str>>,
    pub(super) header: Option<LatestHeader>,
    pub(super) turns: u64,
    pub(super) turn: Option<OpenTurn>,
    pub(super) attempts: u64,
    pub(super) inbox: Inbox,
    pub(super) pending: Vec<PendingCall>,
    pub(super) projection: Projection,
    pub(super) settings: BTreeMap<Arc<str>, Json>,
    pub(super) gates: BTreeMap<Arc<str>, bool>,
    pub(super) usage: UsageTotals,
    pub(super) ignored: u64,
    pub(super) ledger: Ledger,
}

/// The header that the next request begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatestHeader {
    /// The event that wrote it.
    pub seq: Seq,
    /// The header.
    pub header: Arc<Header>,
}

/// A turn that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTurn {
    /// The event that began it.
    pub seq: Seq,
    /// Its number.
    pub number: u64,
    /// How many steps it had, the open one included.
    pub steps: u64,
    /// The step that has begun and not ended.
    pub step: Option<OpenStep>,
}

/// A step that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenStep {
    /// The event that began it.
    pub seq: Seq,
    /// Its number in the turn.
    pub number: u64,
    /// How many attempts it had.
    pub attempts: u64,
    /// The attempt that has begun and not ended.
    pub attempt: Option<Seq>,
}

/// A call of the model that has no result yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCall {
    /// The call's id.
    pub id: Arc<str>,
    /// The tool.
    pub tool: Arc<str>,
    /// The assistant message that asked.
    pub asked: Seq,
    /// Whether the tool began to run: then its effects may have happened.
    pub started: bool,
}

impl SessionState {
    /// The last event; `None` for an empty log.
    pub fn last(&self) -> Option<Seq> {
        self.last
    }

    /// The place of the next event.
    pub fn next_seq(&self) -> Seq {
        self.last.map_or(Seq::FIRST, Seq::next)
    }

    /// The messages that a request derives.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// The messages of the surface.
    pub fn messages(&self) -> &[Message] {
        self.surface.messages()
    }

    /// What contexts with messages of their own (instructions, a document, …) say on the surface.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// Everything that tools touched, in order, without repetition.
    pub fn touched(&self) -> &[Arc<str>] {
        &self.touched
    }

    /// The header that the next request begins with.
    pub fn header(&self) -> Option<&LatestHeader> {
        self.header.as_ref()
    }

    /// Why `candidate` has to be written; `None` if the latest header gives the same bytes.
    pub fn header_reason(&self, candidate: &Header, opening: Opening) -> Option<HeaderReason> {
        candidate.reason_to_write(self.header.as_ref().map(|latest| &*latest.header), opening)
    }

    /// How many turns began.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// The open turn. After a crash it is the one to be ended as interrupted.
    pub fn open_turn(&self) -> Option<&OpenTurn> {
        self.turn.as_ref()
    }

    /// The open step.
    pub fn open_step(&self) -> Option<&OpenStep> {
        self.turn.as_ref().and_then(|turn| turn.step.as_ref())
    }

    /// How many requests were about to be sent.
    pub fn attempts(&self) -> u64 {
        self.attempts
    }

    /// What waits to be said.
    pub fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// The calls without a result, in the order of the calls. Every one needs a result before the next
    /// request.
    pub fn pending_calls(&self) -> &[PendingCall] {
        &self.pending
    }

    /// What of the runtime context the surface says.
    pub fn projection(&self) -> Projection {
        self.projection
    }

    /// The settings of the session, by name.
    pub fn settings(&self) -> &BTreeMap<Arc<str>, Json> {
        &self.settings
    }

    /// Whether a state that gates require holds.
    pub fn holds(&self, gate_state: &str) -> bool {
        self.gates.get(gate_state).copied().unwrap_or_default()
    }

    /// What requests used.
    pub fn usage(&self) -> &UsageTotals {
        &self.usage
    }

    /// How many ignorable events of others were passed over.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// What must not be lost, whatever is summarised.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Adds a message to the surface and notes what context it carries.
    pub(super) fn enter(&mut self, seq: Seq, message: Message) {
        self.standing.note(&message);
        self.surface.push(seq, message);
    }

    pub(super) fn rebuild_standing(&mut self) {
        self.standing = Standing::of(self.surface.messages());
    }
}
