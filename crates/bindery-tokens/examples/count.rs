//! Counts a file's tokens as a model would, and says how and how fast: `count FILE MODEL [ROUNDS]`.

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::time::{Duration, Instant};

use bindery_tokens::{CountTokens, Tokenizers};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(file), Some(model)) = (args.next(), args.next()) else {
        return Err("usage: count FILE MODEL [ROUNDS]".into());
    };
    let rounds: u32 = args.next().map_or(Ok(1), |rounds| rounds.parse())?;
    let text = std::fs::read_to_string(&file)?;
    let tokenizers = Tokenizers::built_in()?;
    let counter = tokenizers.counter(&model);
    let mut best = Duration::MAX;
    let mut count = counter.count("");
    for _ in 0..rounds.max(1) {
        let start = Instant::now();
        count = counter.count(&text);
        best = best.min(start.elapsed());
    }
    let error = counter.error().english_and_code * 100.0;
    println!(
        "{count} tokens by {}, within {error:.0} % for English and code",
        counter.name()
    );
    let speed = text.len() as u128 * 1_000 / best.as_nanos().max(1);
    println!(
        "{} bytes in {:.3} ms, {speed} MB/s",
        text.len(),
        best.as_secs_f64() * 1e3
    );
    Ok(())
}
