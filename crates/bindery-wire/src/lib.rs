//! Provider request formats, byte for byte, with a span map from body bytes to fragments. No HTTP.
//!
//! An adapter takes what the core assembled and writes the body that is posted. It consumes the
//! boundary (its literal never leaves), maps authority to the roles the API has and says where two
//! collapse into one, and records for every text of the body which fragment it came from. Wire
//! types never leave this crate.

mod anthropic;
mod breakpoints;
mod error;
mod openai;
mod provider;
mod request;
mod span;

pub use breakpoints::CacheMarks;
pub use error::WireError;
pub use provider::{Provider, UnknownProvider};
pub use request::{Encoded, Note, Params, Request};
pub use span::{Encoding, Span, SpanMap, SpanPart};

#[cfg(test)]
mod tests;
