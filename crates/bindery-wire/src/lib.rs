//! Provider formats in both directions, byte for byte, with a span map from body bytes to fragments. No HTTP.
//!
//! An adapter takes what the core assembled and writes the body that is posted. It consumes the
//! boundary (its literal never leaves), maps authority to the roles the API has and says where two
//! collapse into one, and records for every text of the body which fragment it came from. Wire
//! types never leave this crate.
//!
//! The way back: [`ReplyDecoder`] takes the bytes of a streamed reply in any chunking and gives
//! neutral events and, at the end, a [`Reply`]; [`decode_body`] reads one that was not streamed;
//! [`Failure`] types what went wrong.

mod anthropic;
mod breakpoints;
mod count;
mod error;
mod failure;
mod growing;
mod media;
mod openai;
mod provider;
mod reasoning;
mod reply;
mod request;
mod shape;
mod span;
mod sse;

pub use breakpoints::CacheMarks;
pub use error::WireError;
pub use failure::{Failure, FailureKind, Retry};
pub use growing::Growing;
pub use media::{MediaLimits, MediaRefusal};
pub use provider::{Provider, UnknownProvider};
pub use reasoning::ReasoningForm;
pub use reply::{
    Collector, Interrupted, Reply, ReplyDecoder, ReplyEvent, ReplyPart, StopReason, decode_body,
};
pub use request::{Encoded, Note, Params, Request};
pub use shape::{ShapeProblem, ShapeRule, shape_problems};
pub use span::{Encoding, Span, SpanMap, SpanPart};

#[cfg(test)]
mod tests;
