//! What a turn loop knows of a model.

use bindery_wire::{Encoded, Failure, Provider, Request};

use crate::{BoxFuture, Exchange};

/// A request on its way: the bytes that are posted, and what they were made of.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// What is sent, byte for byte.
    pub encoded: &'a Encoded,
    /// What it was encoded from. A provider never sees it; a simulated model reads it instead of
    /// parsing wire formats, which are none of its business.
    pub request: Request<'a>,
}

/// Something that answers requests.
pub trait Model: Send + Sync {
    /// The format it speaks.
    fn provider(&self) -> Provider;

    /// Whether the replies are made up here, usage included. Whoever shows them says so.
    fn is_simulated(&self) -> bool {
        false
    }

    /// Sends a request once. The exchange begins when the provider accepts it; an error before that is
    /// the failure itself.
    fn send<'a>(&'a self, outgoing: Outgoing<'a>) -> BoxFuture<'a, Result<Exchange, Failure>>;
}
