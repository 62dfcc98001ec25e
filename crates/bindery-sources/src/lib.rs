//! Disk and processes in: instruction files of every agent, environment, git, prompt sections.

pub mod agents;
mod child;
pub mod clients;
pub mod codex;
pub mod composition;
mod definition;
pub mod dialect;
pub mod documents;
pub mod environment;
pub mod front_matter;
pub mod gate;
pub mod git_status;
pub mod hooks;
pub mod instruction_contexts;
pub mod instructions;
pub mod lock;
pub mod mcp;
pub mod memory;
pub mod notice;
pub mod path_text;
pub mod places;
pub mod reading;
pub mod repository;
pub mod search;
pub mod settings;
pub mod skills;
mod strict_file;
pub mod styles;
pub mod tree;
pub mod variants;
mod visible;
mod workspace;

pub use notice::{Level, Notice, Position, Refused};
pub use workspace::{Registered, Workspace, register};
