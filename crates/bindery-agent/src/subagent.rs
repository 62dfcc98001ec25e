//! Sub-agents: a part of the task, done in a context of its own, by a session of its own.
//!
//! A child is assembled from a scope below its parent's: what is registered there holds for it, and what it
//! registers shadows it. It takes over norms, not moods: instruction files and what is the case now, no reminders,
//! no memory unless its definition says so, and the conversation only if it is a fork. What it may do is at most
//! what its parent may: its tools are some of the parent's, the same person is asked, the same gates and hooks
//! look on.

mod child;
mod contract;
mod drive;
mod index;
mod lens;
mod manifest;
mod parent;
mod prompt;
mod role;
mod roster;
mod tool;
mod tools;

pub use child::{Housed, Nursery, Wanted};
pub use contract::violations;
pub use index::AgentIndex;
pub use lens::Lens;
pub use manifest::{Excluded, Inherited, Manifest};
pub use parent::Parent;
pub use role::SubRole;
pub use roster::Roster;
pub use tool::{NAME, Subagents};
