//! Session logs and blobs at rest: memory, SQLite, JSON Lines.
//!
//! A store holds records and knows nothing of what they mean; `bindery_core::log` folds them. Open a
//! session with [`Journal::open`] to append and follow its state at once, or with [`Store::read`] to look
//! at it. What is damaged is reported with its place, never left out in silence.

mod blob;
mod error;
mod exchange;
mod journal;
pub mod json_lines;
mod memory;
mod session;
mod sqlite;
mod store;
mod verify;

pub use blob::{BlobError, Blobs, MemoryBlobs, ObjectBlobs};
pub use error::StoreError;
pub use exchange::{Damage, ExportReport, ImportReport, export, import};
pub use journal::{Committed, Journal};
pub use memory::MemoryStore;
pub use session::{BadSessionId, SessionId, SessionInfo};
pub use sqlite::{Lost, RecoverReport, SqliteOptions, SqliteStore, recover};
pub use store::{Contention, Head, Listing, LogReader, LogWriter, Store, Stored, events, fork, load};
