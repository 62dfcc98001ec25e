//! A child process with a deadline and a bound on what it may say.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Most bytes kept of what a child complains about.
const MOST_ERROR_BYTES: usize = 4096;

/// Between the end of a child's output and the end of the child there are microseconds.
const END_POLL: Duration = Duration::from_millis(1);

/// The bounds of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) deadline: Duration,
    pub(crate) bytes: usize,
}

/// What a child said.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) bytes: Vec<u8>,
    /// Whether there was more than the limit allows. The child was stopped then.
    pub(crate) truncated: bool,
    pub(crate) errors: Vec<u8>,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// By itself, or stopped for saying too much (then with code 0).
    Done { output: Output, code: i32 },
    /// It was stopped at its deadline.
    TimeUp,
    /// It could not be started.
    NotStarted(std::io::Error),
}

enum Said {
    Output(Vec<u8>, bool),
    Errors(Vec<u8>),
}

/// Runs a program without a shell. Returns at the deadline at the latest, whatever the child does: it is
/// killed by its handle, and never waited for on this thread.
pub(crate) fn run(
    program: &Path,
    arguments: &[OsString],
    folder: &Path,
    environment: &BTreeMap<OsString, OsString>,
    limits: Limits,
) -> Ended {
    run_with(program, arguments, folder, environment, limits, None)
}

/// The same, for a program that is told something on its standard input.
pub(crate) fn run_with(
    program: &Path,
    arguments: &[OsString],
    folder: &Path,
    environment: &BTreeMap<OsString, OsString>,
    limits: Limits,
    input: Option<Vec<u8>>,
) -> Ended {
    let started = Instant::now();
    let spawned = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs(environment)
        .stdin(if input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return Ended::NotStarted(error),
    };
    let (sender, said) = channel();
    if let Err(error) = tell(&mut child, input) {
        abandon(child);
        return Ended::NotStarted(error);
    }
    if let Err(error) = listen(&mut child, &sender, limits.bytes) {
        abandon(child);
        return Ended::NotStarted(error);
    }
    drop(sender);
    let left = || limits.deadline.saturating_sub(started.elapsed());
    let Some(output) = collect(&said, left) else {
        abandon(child);
        return Ended::TimeUp;
    };
    if output.truncated {
        abandon(child);
        return Ended::Done { output, code: 0 };
    }
    if let Some(code) = code(&mut child, left) {
        return Ended::Done { output, code };
    }
    abandon(child);
    Ended::TimeUp
}

/// Writes the input on a thread of its own: a child that does not read it must not block us.
fn tell(child: &mut Child, input: Option<Vec<u8>>) -> std::io::Result<()> {
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        // A child that ends before it has read everything has its reasons, and says them.
        thread::Builder::new().spawn(move || drop(stdin.write_all(&input)))?;
    }
    Ok(())
}

/// Reads both pipes on threads of their own: a full pipe can block neither the child nor us.
fn listen(child: &mut Child, sender: &Sender<Said>, most: usize) -> std::io::Result<()> {
    if let Some(stdout) = child.stdout.take() {
        let sender = sender.clone();
        thread::Builder::new().spawn(move || {
            let (bytes, truncated) = bounded(stdout, most);
            // The receiver is gone only if nobody wants the answer any more.
            let _ = sender.send(Said::Output(bytes, truncated));
        })?;
    }
    if let Some(mut stderr) = child.stderr.take() {
        let sender = sender.clone();
        thread::Builder::new().spawn(move || {
            let (bytes, _) = bounded(&mut stderr, MOST_ERROR_BYTES);
            // Drained to its end, so that a child that complains at length still ends.
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            let _ = sender.send(Said::Errors(bytes));
        })?;
    }
    Ok(())
}

fn bounded(pipe: impl Read, most: usize) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    // What was read before an error is as good as what was read before the end.
    let _ = pipe.take(limit).read_to_end(&mut bytes);
    let truncated = bytes.len() > most;
    bytes.truncate(most);
    (bytes, truncated)
}

/// Both answers, or the output alone where it was cut; `None` at the deadline.
fn collect(said: &Receiver<Said>, left: impl Fn() -> Duration) -> Option<Output> {
    let mut output = Output::default();
    loop {
        match said.recv_timeout(left()) {
            Ok(Said::Output(bytes, truncated)) => {
                output.bytes = bytes;
                output.truncated = truncated;
                if truncated {
                    return Some(output);
                }
            }
            Ok(Said::Errors(bytes)) => output.errors = bytes,
            Err(RecvTimeoutError::Disconnected) => return Some(output),
            Err(RecvTimeoutError::Timeout) => return None,
        }
    }
}

/// The exit code of a child that has closed its pipes; `None` at the deadline. A signal counts as -1.
fn code(child: &mut Child, left: impl Fn() -> Duration) -> Option<i32> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code().unwrap_or(-1)),
            Ok(None) if left().is_zero() => return None,
            Ok(None) => thread::park_timeout(END_POLL.min(left())),
            Err(_) => return Some(-1),
        }
    }
}

/// Kills a child and lets a thread reap it: even a killed process can take its time in the kernel.
fn abandon(mut child: Child) {
    // It may have ended by itself in this very moment, which is as good.
    let _ = child.kill();
    let _ = thread::Builder::new().spawn(move || child.wait());
}
