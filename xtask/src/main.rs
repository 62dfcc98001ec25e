//! Chores of this workspace: `cargo xtask test` is the one command that checks everything.

mod layers;
mod parity;
mod servers;
mod test;
mod tidy;
mod workspace;

use std::io::{self, Write};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test     install what the tests need, then run format, lints, tests, docs and tidy
  parity   run the real clients on generated trees, keep the truth, compare `bindery explain`
           [--client claude|codex|hermes]… [--only TEXT] [--new] [--keep]
  clients  run the real clients through the gateway: what passes, what is recorded, how it is typed
  control  run the real clients with `bindery hook gate` as their hook: context, gate, stop
  mcp      run MCP servers from the npm registry in sessions: listed, killed, back, no byte changed
  tidy     check what lints cannot: file sizes, module docs, layers, names, paths
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["test"] => test::run(),
        ["parity", rest @ ..] => parity::run(rest),
        ["clients"] => parity::through::run(),
        ["control"] => parity::control::run(),
        ["mcp"] => servers::run(),
        ["tidy"] => tidy::run(),
        _ => Err(anyhow::anyhow!("{USAGE}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// A line of talk. If stderr is gone there is nobody to tell.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
