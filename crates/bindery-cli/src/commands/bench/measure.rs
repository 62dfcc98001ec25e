//! Timing: two things in turn, so that a machine that drifts drifts for both.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use wait4::Wait4 as _;

/// Durations of repeated runs.
pub(super) struct Spread(Vec<Duration>);

impl Spread {
    /// From measured durations.
    pub(super) fn new(durations: Vec<Duration>) -> Self {
        Self(durations)
    }

    /// The median, in seconds.
    pub(super) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort();
        sorted
            .get(sorted.len() / 2)
            .map_or(f64::NAN, Duration::as_secs_f64)
    }

    /// The median for people.
    pub(super) fn shown(&self) -> String {
        let median = self.median();
        if median < 1e-3 {
            format!("{:.1} µs", median * 1e6)
        } else {
            format!("{:.2} ms", median * 1e3)
        }
    }
}

/// Runs both in turn, once to warm up and then `runs` times.
pub(super) fn in_turn(
    runs: usize,
    mut ours: impl FnMut() -> anyhow::Result<Duration>,
    mut theirs: impl FnMut() -> anyhow::Result<Duration>,
) -> anyhow::Result<(Spread, Spread)> {
    ours()?;
    theirs()?;
    let (mut a, mut b) = (Vec::with_capacity(runs), Vec::with_capacity(runs));
    for _ in 0..runs {
        a.push(ours()?);
        b.push(theirs()?);
    }
    Ok((Spread(a), Spread(b)))
}

/// The wall time of `work`.
pub(super) fn timed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<Duration> {
    let start = Instant::now();
    std::hint::black_box(work()?);
    Ok(start.elapsed())
}

/// The user and system time of a whole process, as the operating system accounts for it. Its output is
/// thrown away.
pub(super) fn process(command: &mut Command) -> anyhow::Result<Duration> {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let used = child.wait4().context("the process could not be waited for")?;
    if !used.status.success() {
        bail!("{command:?} ended with {}", used.status);
    }
    Ok(used.rusage.utime + used.rusage.stime)
}
