//! The session log: what happened, as events, and the one way from events to state.
//!
//! A session is what its log folds to. [`Payload`] lists everything that can happen, [`Record`] is
//! how an event is stored and hashed, [`SessionState`] is what a loop reads, and [`Replay`] gives back
//! the value of every request that ever went out. Nothing here reads a disk or a clock.

mod apply;
mod catalogue;
mod chain;
mod event;
mod examples;
mod header;
mod inbox;
mod json;
mod older;
mod payload;
mod projection;
mod record;
mod recording;
mod replay;
mod standing;
mod state;
mod surface;
mod usage;

pub use apply::{FoldError, FoldProblem, fold};
pub use catalogue::{EventType, Payload};
pub use chain::{GENESIS, chain};
pub use event::{Draft, Event, Seq};
pub use examples::examples;
pub use header::{Header, Opening};
pub use inbox::{Boundary, Inbox, InboxItem};
pub use json::{Json, NotOneLine};
pub use payload::*;
pub use projection::Projection;
pub use record::{DecodeError, Record};
pub use recording::{BodyWriter, RecordedExchange, Recording, RecordingError};
pub use replay::{LoggedRequest, Replay, request};
pub use standing::{Standing, StandingText};
pub use state::{LatestHeader, OpenStep, OpenTurn, PendingCall, SessionState};
pub use surface::{Extent, ReplaceProblem, Surface};
pub use usage::UsageTotals;

#[cfg(test)]
mod tests;
