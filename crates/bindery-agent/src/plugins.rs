//! What a session adds to its requests step by step: instruction files, the time, tmux, other sessions.
//!
//! Each plugin owns when it looks again, how much it says, in which order, and says where it came from.
//! Environment and git status are contexts of `bindery-sources` already and need no plugin.

mod instructions;
mod memory;
mod recall;
mod runtime_file;
mod time;
mod tmux;

pub use instructions::InstructionFiles;
pub use memory::{MemoryDesk, MemoryFiles};
pub use recall::{Recalled, recall};
pub use runtime_file::{FILES as RUNTIME_FILES, MOST_CHARS, RuntimeFile, RuntimeText, runtime_text};
pub use time::Time;
pub use tmux::Tmux;

#[cfg(test)]
mod tests;
