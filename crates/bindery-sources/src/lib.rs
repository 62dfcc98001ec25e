//! Disk and processes in: instruction files of every agent, environment, git, prompt sections.
