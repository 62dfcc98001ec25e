//! The app server: sessions driven by a client in any language, over JSON-RPC 2.0, one object a line.
//!
//! ```text
//! lines ─ Server::handle ─ thread/… and turn/… ─ Agent ─ log
//!                └──────── notifications: every item, every delta, usage
//! ```
//!
//! One server holds the sessions it opened, each with the single writer's lease of its log. Turns run side by
//! side on one thread; what they write goes out in the order in which it was committed. A client that does not
//! read makes the server wait, and nothing is dropped.

mod approval;
pub mod methods;
mod outlet;
pub mod protocol;
mod refusal;
mod requests;
mod schema;
mod server;
mod settings;
mod thread;

pub use outlet::Outlet;
pub use refusal::Refusal;
pub use schema::{json_schema, typescript};
pub use server::{Server, Transport};
pub use thread::{Ask, Host, Opened};
