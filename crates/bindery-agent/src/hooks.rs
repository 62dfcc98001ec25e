//! Hooks, gates and what refreshes itself: running them, and their places in the loop.
//!
//! What hooks mean stands in `bindery-hooks`; this runs them and carries out what they come to.

mod calls;
mod control;
mod limits;
mod process;
mod retrieve;
mod runner;
mod turns;

pub(crate) use calls::Call;
pub use control::Control;
pub(crate) use control::Seams;
pub use process::Surroundings;
pub use retrieve::{Retrieved, retrieve};
pub use runner::{Asked, CONTEXT_LIMIT, Handler, HookRunner, Registered, Run};
pub use turns::DRAFT;

#[cfg(test)]
mod tests;
