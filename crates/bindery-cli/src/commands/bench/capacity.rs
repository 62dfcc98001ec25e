//! `bindery bench capacity`: what large results and long sessions cost before they fit a window.

use std::fs::File;
use std::io::{BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::Context as _;
use bindery_agent::Intake;
use bindery_store::ObjectBlobs;
use clap::Args;

use super::measure::{Spread, process, worked};
use crate::commands::experiment::Filled;
use crate::status::Status;
use crate::terminal::Terminal;

#[derive(Debug, Args)]
pub(crate) struct BenchCapacityArgs {
    /// The size of the log that is taken in, in megabytes
    #[arg(long, default_value_t = 100, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    megabytes: u64,
    /// How often each is run
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    runs: u32,
    /// Take in this file and end: what the memory is measured of
    #[arg(long, hide = true, value_name = "FILE")]
    only: Option<PathBuf>,
}

pub(super) fn run(args: &BenchCapacityArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let folder = tempfile::tempdir()?;
    if let Some(file) = &args.only {
        take_in(file, folder.path())?;
        return Ok(Status::Success);
    }
    let (small, large) = (folder.path().join("small"), folder.path().join("large"));
    write_log(&small, 1 << 10)?;
    write_log(&large, args.megabytes << 20)?;
    let (cpu, memory) = intake(&large, args.runs)?;
    let (_, base) = intake(&small, 1)?;
    #[expect(clippy::cast_precision_loss, reason = "megabytes of a log are far below 2^52")]
    let speed = args.megabytes as f64 * 1.048_576 / cpu.median();
    writeln!(
        terminal.out,
        "intake of {} MB: {} of CPU time in a process of its own, {speed:.0} MB/s; memory {}, for 1 KB {}",
        args.megabytes,
        cpu.shown(),
        memory.shown(),
        base.shown()
    )?;
    for tokens in [45_000, 90_000, 180_000, 360_000] {
        let mut times = Vec::new();
        for _ in 0..args.runs {
            let mut session = Filled::of(tokens)?;
            times.push(worked(|| session.make_room())?);
        }
        let shown = Spread::times(times).shown();
        writeln!(
            terminal.out,
            "compaction of {tokens:>6} tokens: {shown} of CPU time"
        )?;
    }
    writeln!(terminal.out, "\nmedians of {} runs", args.runs)?;
    Ok(Status::Success)
}

/// CPU time and memory of a process that takes a file in.
fn intake(file: &Path, runs: u32) -> anyhow::Result<(Spread, Spread)> {
    let program = std::env::current_exe().context("finding this program")?;
    let mut used = Vec::new();
    for _ in 0..runs {
        let mut command = Command::new(&program);
        used.push(process(command.args(["bench", "capacity", "--only"]).arg(file))?);
    }
    let cpu = Spread::times(used.iter().map(|one| one.cpu));
    let memory = Spread::sizes(used.iter().map(|one| one.memory));
    Ok((cpu, memory))
}

fn take_in(file: &Path, folder: &Path) -> anyhow::Result<()> {
    let intake = Intake::new(Arc::new(ObjectBlobs::in_dir(folder)));
    let mut from = File::open(file).with_context(|| file.display().to_string())?;
    std::hint::black_box(intake.digest(&mut from)?);
    // Nothing is left to read.
    anyhow::ensure!(from.read(&mut [0])? == 0, "the file was not read to its end");
    Ok(())
}

/// A build log, a notable line in every thousand.
fn write_log(path: &Path, bytes: u64) -> anyhow::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let (mut written, mut line) = (0, 0_u64);
    while written < bytes {
        line += 1;
        let text = if line.is_multiple_of(1_000) {
            format!(
                "[{line:>7}] warning: unit {line} failed to inline, see error E{}\n",
                line % 70
            )
        } else {
            format!(
                "[{line:>7}] compiling unit {line} of the tree into object o{}\n",
                line % 977
            )
        };
        written += text.len() as u64;
        file.write_all(text.as_bytes())?;
    }
    file.flush()?;
    Ok(())
}
