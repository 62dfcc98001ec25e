//! Models to send requests to: providers over HTTP, and a simulated one that needs no key.
//!
//! [`Model`] is what a turn loop knows. An [`Exchange`] is one attempt: events as they arrive, then a
//! reply or what there is of it. Nothing is sent twice here: whether and when to try again is the
//! caller's decision, for which a failure says what it needs ([`bindery_wire::Failure::retry`]).
//! Dropping an exchange cancels it.

mod endpoint;
mod exchange;
mod http;
mod model;
mod secret;
pub mod sim;
#[cfg(test)]
mod testing;

pub use endpoint::{Endpoint, EndpointError, Timeouts};
pub use exchange::{BoxFuture, EventSource, Exchange};
pub use http::HttpModel;
pub use model::{Model, Outgoing};
pub use secret::Secret;
