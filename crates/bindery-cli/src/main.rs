//! The `bindery` command: arguments, configuration, printing, exit codes.

fn main() {}
