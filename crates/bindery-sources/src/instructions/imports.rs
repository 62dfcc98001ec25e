//! Imports: finding the tokens, and deciding where they lead.

mod resolve;
mod scan;

#[cfg(test)]
mod tests;

pub use resolve::is_secret;
pub(super) use resolve::{Base, Refusal, check_kind, inside, target_of};
pub use scan::{Token, scan};
