//! The pure core of a context engine: fragments, registry, scopes, assembly, rendering and views. No IO.

mod tokens;
mod vocabulary;

pub use tokens::{CountTokens, TokenCount};
pub use vocabulary::{Authority, Cadence, Group, Lane, Source, Trust};
