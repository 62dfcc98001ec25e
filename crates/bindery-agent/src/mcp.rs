//! Servers of the Model Context Protocol in a session: which of their tools the model is shown, and calling
//! them.
//!
//! The list that a session began with is kept as it is, byte for byte: while a server is away, when it comes
//! back, when the session goes on another day. What a server says otherwise in the meantime is told, written
//! down, and not acted upon, unless the user wants lists rebuilt; that costs the prefix, and the cost is told.

mod call;
mod drift;
mod instructions;
mod judge;
mod names;
mod session;
mod start;
mod tools;

pub use call::McpCall;
pub use judge::{Exposed, Held, Judged, judge};
pub use names::exposed_name;
pub use start::{Started, environment_of, launch};
pub use tools::{McpStanding, McpTools};

/// What the source of a server's texts is called: `mcp:NAME`.
pub fn source_name(server: &str) -> String {
    format!("mcp:{server}")
}
