//! The command as a user meets it: real repositories, the real binary, an environment of its own.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a test may panic: that is how it fails"
)]

mod agents;
mod app_server;
mod assemble;
mod attach;
mod bad_input;
mod cache;
mod capacity;
mod check;
mod check_request;
mod compaction;
mod continued;
mod explain;
mod gateway;
mod guide;
mod hooks;
mod hostile;
mod lock;
mod mcp;
mod notes;
mod output;
mod place;
mod requests;
mod run;
mod sarif;
mod scenarios;
mod trust;
