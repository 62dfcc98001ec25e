//! The facade library: one import for everything a harness embeds.
//!
//! Start at [`Scope`] to register what may contribute to a request, at [`Session`] to assemble, and at
//! [`NextRequest`] to get the body for a provider with a span for every text in it.

pub mod attach;
pub mod check;
pub mod fixture;
pub mod here;
mod next_request;

pub use bindery_core::*;
pub use bindery_guard as guard;
pub use bindery_hooks as hooks;
pub use bindery_sources as sources;
pub use bindery_tokens::{Calibrated, Calibration, Counter, Makers, Tokenizers, Windows};
pub use bindery_wire::{
    CacheMarks, Encoded, Encoding, Note, Params, Provider, Request, Span, SpanMap, SpanPart, UnknownProvider,
    WireError,
};
pub use next_request::{Layer, NextRequest, Reuse, Row};

/// The README's example, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
