//! Who looks on while a turn runs.

use std::time::Duration;

use bindery_core::log::Event;
use bindery_sources::Notice;
use bindery_wire::{Failure, ReplyEvent};

/// Looks on. Nothing that it does changes the turn.
pub trait Watch: Send {
    /// These events are durable.
    fn committed(&mut self, events: &[Event]) {
        let _ = events;
    }

    /// The model says something; none of it is durable yet.
    fn replying(&mut self, event: &ReplyEvent) {
        let _ = event;
    }

    /// What reading and scanning had to say, as it comes up. The same may be told again.
    fn told(&mut self, notices: &[Notice]) {
        let _ = notices;
    }

    /// An attempt failed; the next one follows after this wait.
    fn waiting(&mut self, failure: &Failure, wait: Duration) {
        let _ = (failure, wait);
    }
}

/// Nobody looks on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Watch for Nobody {}
