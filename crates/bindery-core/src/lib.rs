//! The pure core of a context engine: fragments, registry, scopes, assembly, rendering and views. No IO.

mod vocabulary;

pub use vocabulary::{Authority, Cadence, Group, Lane, Source, Trust};
