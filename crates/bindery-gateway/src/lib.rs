//! A recording proxy between agents and providers, and a simulated provider to try it with.
//!
//! [`Gateway::bind`] listens, [`Gateway::run`] serves until it is told to stop. What passes is not changed, in
//! either direction; a copy goes to a thread of its own ([`Recording`]) that decodes it, tells agents and their
//! sessions apart, writes exchanges to the log and explains what the cache did. That thread never holds up a
//! request: where it cannot follow, exchanges go unrecorded, and that is reported.
//!
//! What comes later has its place: whoever shows requests is an [`Observer`] (a dashboard), logs are kept by any
//! [`bindery_store::Store`] (a fleet's database), where requests go is an [`Upstream`], and what would rewrite
//! them stands in `relay.rs` between the client's body and the upstream.

pub mod agents;
mod body;
mod copy;
mod door;
mod gateway;
mod headers;
mod observer;
mod operation;
mod recorder;
mod refusal;
mod relay;
pub mod sim;
mod upstream;
mod watch;
mod workers;

pub use body::{Body, BodyError};
pub use gateway::{Clock, Gateway, GatewayError, GatewayOptions};
pub use observer::{Kept, Observer, Outcome, Problem, Summary};
pub use operation::Operation;
pub use recorder::{Recording, RecordingError};
pub use relay::Routes;
pub use upstream::{BoxFuture, HttpUpstream, Upstream, UpstreamError};
