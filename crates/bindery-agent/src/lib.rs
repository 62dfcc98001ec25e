//! The turn loop: inbox, steps, attempts with retry, tools, and the proof of every request.
//!
//! [`Agent`] drives a session. Whatever happens is an event in its log first; what the loop reads, it
//! reads from the state that the log folds to. [`replay`] rebuilds every request from the log alone.

mod admission;
mod agent;
pub mod app_server;
mod attempt;
mod backoff;
mod calls;
mod cancel;
mod capacity;
mod clock;
mod compact;
pub mod hooks;
mod mail;
pub mod mcp;
pub mod meter;
mod params;
pub mod plugins;
mod pre_step;
mod process_group;
pub mod replay;
mod settle;
mod step;
pub mod subagent;
mod tool;
pub mod tools;
mod turn;
mod watch;
mod wording;

pub use agent::{Agent, Assembled, Moment, Refresh};
pub use backoff::Backoff;
pub use cancel::Cancel;
pub use capacity::{Capacity, Intake, SharedCounter};
pub use clock::{Clock, SystemClock};
pub use compact::{Before, CompactHook, Compacted, Said, Summariser};
pub use mail::Mail;
pub use params::{Bodies, RebuildError};
pub use pre_step::{Decision, Entry, Next, PreStepListener, Proposal};
pub use tool::{Catalogue, Effect, Input, Outcome, Permission, Permit, ReadOnly, Request, Runner, Toolbox};
pub use turn::TurnReport;
pub use watch::{Nobody, Watch};
