//! A session that is open in the server, and who opens it.

use std::any::Any;

use bindery_core::Registration;
use bindery_wire::Provider;

use super::protocol::{
    Thread, ThreadForkParams, ThreadListed, ThreadResumeParams, ThreadSettings, ThreadStartParams,
};
use super::refusal::Refusal;
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::mail::Mail;

/// What a client wants to open.
#[derive(Debug, Clone, Copy)]
pub enum Ask<'a> {
    /// A new session.
    Start(&'a ThreadStartParams),
    /// A stored one.
    Resume(&'a ThreadResumeParams),
    /// A copy of a stored one.
    Fork(&'a ThreadForkParams),
}

/// A session that was opened.
pub struct Opened {
    /// Its id.
    pub id: String,
    /// What drives it.
    pub agent: Agent,
    /// Whether its id can be resumed later.
    pub durable: bool,
    /// The session that it is a copy of.
    pub forked_from: Option<String>,
    /// What has to live as long as it does.
    pub kept: Box<dyn Any>,
}

/// Opens and lists sessions: where they lie and what they are assembled from is not the server's affair.
pub trait Host {
    /// Opens a session.
    fn open(&self, ask: Ask<'_>) -> Result<Opened, Refusal>;

    /// The newest stored sessions, at most so many.
    fn list(&self, limit: usize) -> Result<Vec<ThreadListed>, Refusal>;
}

/// What drives a session, or the way to it while a turn runs.
pub(super) enum Slot {
    Idle(Box<Agent>),
    Busy {
        turn: String,
        mail: Mail,
        cancel: Cancel,
    },
}

/// A session that is open here.
pub(super) struct Open {
    pub(super) id: String,
    pub(super) durable: bool,
    pub(super) forked_from: Option<String>,
    pub(super) slot: Slot,
    /// The settings that it began with: what a cleared one goes back to.
    pub(super) began: ThreadSettings,
    pub(super) settings: ThreadSettings,
    /// Whether the settings have to be carried out before the next turn.
    pub(super) changed: bool,
    /// Items to add once the turn that runs is over.
    pub(super) waiting: Vec<super::protocol::InjectedItem>,
    /// Instructions for the next turn alone.
    pub(super) for_one_turn: Option<String>,
    /// The instructions of the mode, as registered.
    pub(super) policy: Option<Registration>,
    /// Items that survive a compaction.
    pub(super) baseline: Vec<Registration>,
    pub(super) turns: u64,
    /// In whose format requests are.
    pub(super) provider: Provider,
    pub(super) _kept: Box<dyn Any>,
}

impl Open {
    /// As clients see it.
    pub(super) fn shown(&self) -> Thread {
        let (turns, active_turn) = match &self.slot {
            Slot::Idle(agent) => (agent.state().turns(), None),
            Slot::Busy { turn, .. } => (self.turns, Some(turn.clone())),
        };
        Thread {
            id: self.id.clone(),
            durable: self.durable,
            forked_from: self.forked_from.clone(),
            turns,
            active_turn,
        }
    }
}
