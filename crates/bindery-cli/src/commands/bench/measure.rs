//! Measuring: two things in turn, so that a machine that drifts drifts for both.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::time::{ClockId, clock_gettime};
use wait4::Wait4 as _;

/// What a process used, as the operating system accounts for it.
#[derive(Clone, Copy)]
pub(super) struct Usage {
    /// User and system time.
    pub(super) cpu: Duration,
    /// The most memory that was resident, in bytes. Linux counts the process that started it up to the
    /// moment it became another program, so no figure is below what `bindery bench` has itself.
    pub(super) memory: u64,
}

/// What repeated runs took.
pub(super) struct Spread {
    values: Vec<f64>,
    unit: Unit,
}

#[derive(Clone, Copy)]
enum Unit {
    Seconds,
    Bytes,
}

impl Spread {
    /// From measured durations.
    pub(super) fn times(durations: impl IntoIterator<Item = Duration>) -> Self {
        Self {
            values: durations.into_iter().map(|time| time.as_secs_f64()).collect(),
            unit: Unit::Seconds,
        }
    }

    /// From sizes in bytes.
    pub(super) fn sizes(sizes: impl IntoIterator<Item = u64>) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "sizes of processes are far below 2^52")]
        let values = sizes.into_iter().map(|size| size as f64).collect();
        Self {
            values,
            unit: Unit::Bytes,
        }
    }

    /// The median, in seconds or bytes.
    pub(super) fn median(&self) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// The median for people.
    pub(super) fn shown(&self) -> String {
        let median = self.median();
        match self.unit {
            Unit::Seconds if median < 1e-3 => format!("{:.1} µs", median * 1e6),
            Unit::Seconds => format!("{:.2} ms", median * 1e3),
            Unit::Bytes => format!("{:.1} MB", median / 1e6),
        }
    }
}

/// Runs both in turn, once to warm up and then `runs` times.
pub(super) fn in_turn<T>(
    runs: usize,
    mut ours: impl FnMut() -> anyhow::Result<T>,
    mut theirs: impl FnMut() -> anyhow::Result<T>,
) -> anyhow::Result<(Vec<T>, Vec<T>)> {
    ours()?;
    theirs()?;
    let (mut a, mut b) = (Vec::with_capacity(runs), Vec::with_capacity(runs));
    for _ in 0..runs {
        a.push(ours()?);
        b.push(theirs()?);
    }
    Ok((a, b))
}

/// The time that this thread spent on `work`, whatever else the machine did meanwhile.
pub(super) fn worked<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<Duration> {
    let now = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        let (seconds, nanos) = (u64::try_from(now.tv_sec), u32::try_from(now.tv_nsec));
        anyhow::Ok(Duration::new(seconds?, nanos?))
    };
    let start = now()?;
    std::hint::black_box(work()?);
    Ok(now()?.saturating_sub(start))
}

/// The wall time of `work`.
pub(super) fn timed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<Duration> {
    let start = Instant::now();
    std::hint::black_box(work()?);
    Ok(start.elapsed())
}

/// What a whole process uses. Its output is thrown away.
pub(super) fn process(command: &mut Command) -> anyhow::Result<Usage> {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let used = child.wait4().context("the process could not be waited for")?;
    if !used.status.success() {
        bail!("{command:?} ended with {}", used.status);
    }
    Ok(Usage {
        cpu: used.rusage.utime + used.rusage.stime,
        memory: used.rusage.maxrss,
    })
}
