//! Connections to servers of the Model Context Protocol, as a client.
//!
//! A [`Server`] is kept alive by a task of its own: it connects, lists tools, listens for changes, and connects
//! again with growing pauses when the connection is lost. Whoever holds it reads where it stands and calls
//! tools; nothing here decides what a model sees of it. The official SDK (`rmcp`) stays behind this crate: no
//! type of it is in the interface.

mod call;
mod client;
mod http;
mod keep;
mod launch;
mod listing;
mod server;
mod stdio;

pub use call::{CallError, Called};
pub use launch::{Launch, Transport};
pub use listing::{Listed, Listing};
pub use server::{Server, Standing, State};

/// The most bytes of one message of a server: what is larger ends the connection.
pub const MOST_MESSAGE: usize = 64 << 20;
/// The most tools that are read of one server; what a list holds beyond them is counted.
pub const MOST_TOOLS: usize = 10_000;
