//! Chores of this workspace: the test run, generated files, tidiness.

fn main() {}
