//! For tests only: a server on loopback that speaks the protocols of four providers, and misbehaves on
//! request.
//!
//! It knows nothing of the rest of the project, so that what it speaks is a second, independent
//! reading of the protocols. Replies are queued; each request takes the next and is recorded as it
//! came, byte for byte.

mod protocol;
mod reply;
mod server;

pub use protocol::{Protocol, Say};
pub use reply::{Piece, Reply};
pub use server::{Received, Server};
