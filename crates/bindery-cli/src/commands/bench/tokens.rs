//! `bindery bench tokens`: exact counting beside Python's `tiktoken`, on the same text, counts compared.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use bindery::{CountTokens as _, Tokenizers, fixture};
use clap::Args;

use super::measure::{Spread, timed};
use super::{Comparison, print};
use crate::status::{Status, UsageError};
use crate::terminal::Terminal;

/// The script that counts with the rival.
const SCRIPT: &str = include_str!("tiktoken.py");

/// A model whose tokens are of the encoding that the script counts.
const MODEL: &str = "gpt-5";

#[derive(Debug, Args)]
pub(crate) struct BenchTokensArgs {
    /// The vocabulary file of `o200k_base`, as tiktoken downloads it (the crate `tiktoken-rs` has it
    /// under `assets/`)
    #[arg(long, value_name = "FILE")]
    vocabulary: PathBuf,
    /// A text to count, instead of 1 MB of made-up Markdown
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
    /// A Python that has `tiktoken`
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// How often each is run
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
}

pub(super) fn run(args: &BenchTokensArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let text = match &args.text {
        Some(path) => {
            std::fs::read_to_string(path).with_context(|| format!("{} could not be read", path.display()))?
        }
        None => fixture::markdown(1 << 20),
    };
    let tokenizers = Tokenizers::built_in()?;
    let counter = tokenizers.counter(MODEL);
    let (their_count, theirs) = tiktoken(args, &text)?;
    let our_count = counter.count(&text).value;
    let mut ours = Vec::with_capacity(args.runs as usize);
    for _ in 0..args.runs {
        ours.push(timed(|| Ok(counter.count(&text)))?);
    }
    let ours = Spread::times(ours);
    let what = format!("count {} kB ({our_count} tokens)", text.len() / 1000);
    print(
        &[Comparison {
            what,
            ours,
            rival: "tiktoken (Python)",
            theirs,
        }],
        &mut terminal.out,
    )?;
    if our_count != their_count {
        bail!("the counts differ: ours {our_count}, tiktoken's {their_count}");
    }
    Ok(Status::Success)
}

/// The rival's count and times.
fn tiktoken(args: &BenchTokensArgs, text: &str) -> anyhow::Result<(u64, Spread)> {
    require(&args.vocabulary)?;
    let mut child = Command::new(&args.python)
        .args(["-c", SCRIPT])
        .arg(&args.vocabulary)
        .arg(args.runs.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{}` could not be started", args.python.display()))?;
    // The script reads all of its input before it prints.
    child
        .stdin
        .take()
        .context("the script has an input")?
        .write_all(text.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!(
            "tiktoken did not run: `pip install tiktoken` for `{}`",
            args.python.display()
        );
    }
    let printed = String::from_utf8(output.stdout)?;
    let mut lines = printed.lines();
    let count = lines.next().context("the script prints a count")?.parse()?;
    let times = lines.map(|line| Ok(Duration::try_from_secs_f64(line.parse()?)?));
    Ok((count, Spread::times(times.collect::<anyhow::Result<Vec<_>>>()?)))
}

fn require(vocabulary: &Path) -> anyhow::Result<()> {
    if vocabulary.is_file() {
        return Ok(());
    }
    Err(UsageError(format!("{} is no file", vocabulary.display())).into())
}
