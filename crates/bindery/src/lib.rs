//! The facade library: one import for everything a harness embeds.
