//! Disk and processes in: instruction files of every agent, environment, git, prompt sections.

pub mod dialect;
pub mod front_matter;
pub mod git_dir;
pub mod instructions;
pub mod reading;
