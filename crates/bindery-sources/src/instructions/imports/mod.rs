//! Imports: finding the tokens, and deciding where they lead.

mod resolve;
mod scan;

#[cfg(test)]
mod tests;

pub(super) use resolve::{Base, Refusal, check_kind, inside, is_git_metadata, target_of};
pub use resolve::is_secret;
pub use scan::{Token, scan};
