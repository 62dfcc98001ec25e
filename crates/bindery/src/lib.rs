//! The facade library: one import for everything a harness embeds.

pub use bindery_guard as guard;
