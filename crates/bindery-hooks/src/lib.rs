//! Hooks: commands of the user's that an agent runs at events. Pure.
//!
//! ```text
//! settings files ─ Hooks ─ matching event ─ (somebody runs them) ─ Ran ─ read ─ Answer ─ merge ─ Outcome
//! ```
//!
//! Claude Code and Codex have one protocol with small differences: JSON on stdin, an exit code, and text
//! or JSON on stdout. This crate knows what they mean, and states it as tables that are executed:
//! [`permission`] for rules against hooks, [`read`] for one answer, [`merge`] for several. Whoever runs
//! the commands gives their exit codes and output as values.
//!
//! A failed hook is not a verdict: what a failure comes to is declared per hook ([`OnError`]), and an
//! answer that does not follow the protocol is a failure, never context for the model.

mod answer;
mod coverage;
mod declared;
mod event;
mod gate;
mod input;
mod limit;
mod matcher;
mod merge;
mod permission;
mod settings;
mod stdout;
mod stops;
mod table;
mod tool_name;

pub use answer::{Answer, Contract, Ending, Failure, OnError, Ran, Verdict, read};
pub use coverage::{Coverage, Covered, coverage};
pub use declared::hooks as declared_hooks;
pub use event::{Event, UnknownEvent};
pub use gate::{
    Action, BadGate, Change, Expiry, Gate, Gates, Retrieval, Setter, State, When, held_by, lexical, paths,
    refusal,
};
pub use input::{Facts, input};
pub use limit::{Fitted, Over, fit};
pub use matcher::{BadMatcher, Matcher};
pub use merge::{Named, Outcome, merge};
pub use permission::{Permission, Rule, permission, table};
pub use settings::{Delivery, Hook, Hooks, Owner, Remark, parse};
pub use stops::{StopGuard, Stopping};
pub use table::{READ_AT, Reading, markdown, readings};
pub use tool_name::{Dialect, canonical};
