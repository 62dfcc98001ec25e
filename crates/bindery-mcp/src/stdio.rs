//! A server that is a process: a group of its own, its words filtered, its complaints kept.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::process::{Child, ChildStdin, Command};

use crate::MOST_MESSAGE;

/// How much of what it complains of is kept: the end says most.
const MOST_COMPLAINT: usize = 2_000;
/// How much of a line that is no message is shown.
const MOST_SHOWN: usize = 120;
/// How much of its words waits to be read.
const WAITING: usize = 64 << 10;

/// A process that was started.
pub(crate) struct Process {
    pub(crate) input: ChildStdin,
    pub(crate) output: DuplexStream,
    pub(crate) heard: Heard,
    pub(crate) group: Group,
}

/// What it said beside its messages. Clones are one.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Words>>);

#[derive(Default)]
struct Words {
    complaint: Vec<u8>,
    garbage: usize,
    first_garbage: String,
    too_large: bool,
}

impl Heard {
    fn with<T>(&self, change: impl FnOnce(&mut Words) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What may explain a failure, on one line; empty where there is nothing.
    pub(crate) fn explanation(&self) -> String {
        self.with(|words| {
            let mut parts = vec![String::new()];
            if words.too_large {
                parts.push(format!(
                    "it sent a message of more than {} MiB",
                    MOST_MESSAGE >> 20
                ));
            }
            if words.garbage > 0 {
                let (lines, first) = (words.garbage, &words.first_garbage);
                parts.push(format!(
                    "{lines} lines on its standard output were no messages, the first: {first}"
                ));
            }
            let complaint = String::from_utf8_lossy(&words.complaint);
            let last = complaint.lines().rev().find(|line| !line.trim().is_empty());
            parts.extend(last.map(|last| format!("it said: {}", shown(last))));
            // The empty part stands for what failed; a reader sees it before these.
            parts.join("; ")
        })
    }
}

fn shown(line: &str) -> String {
    let plain = line.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(MOST_SHOWN).collect()
}

/// Starts a server.
pub(crate) fn start(
    command: &str,
    args: &[String],
    environment: &BTreeMap<OsString, OsString>,
    directory: &Path,
) -> Result<Process, String> {
    let mut process = Command::new(command);
    process
        .args(args)
        .current_dir(directory)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    // Ctrl-C at the terminal is for the turn, not for its servers.
    #[cfg(unix)]
    process.process_group(0);
    let mut child = process
        .spawn()
        .map_err(|error| format!("`{command}` could not be started: {error}"))?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let group = Group(child);
    let (Some(input), Some(stdout), Some(stderr)) = pipes else {
        return Err(format!("`{command}` has no pipes"));
    };
    let heard = Heard::default();
    let (into, output) = tokio::io::duplex(WAITING);
    tokio::spawn(messages(BufReader::new(stdout), into, heard.clone()));
    tokio::spawn(complaints(stderr, heard.clone()));
    Ok(Process {
        input,
        output,
        heard,
        group,
    })
}

/// Passes on the lines that can be messages. Programs print greetings, too: those are counted. A message
/// beyond the bound ends the connection, so that whoever waits for it is told.
async fn messages(mut from: impl AsyncBufReadExt + Unpin, mut into: DuplexStream, heard: Heard) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let most = MOST_MESSAGE as u64 + 1;
        match (&mut from).take(most).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) if line.len() > MOST_MESSAGE => return heard.with(|words| words.too_large = true),
            Ok(_) => {}
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        if !text.starts_with(b"{") && !text.starts_with(b"[") {
            heard.with(|words| {
                if words.garbage == 0 {
                    words.first_garbage = shown(&String::from_utf8_lossy(text));
                }
                words.garbage += 1;
            });
            continue;
        }
        if into.write_all(&line).await.is_err() {
            return;
        }
    }
}

async fn complaints(mut from: impl AsyncRead + Unpin, heard: Heard) {
    let mut buffer = vec![0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        heard.with(|words| {
            words.complaint.extend(buffer.iter().take(read));
            let over = words.complaint.len().saturating_sub(MOST_COMPLAINT);
            words.complaint.drain(..over);
        });
    }
}

/// A process and what it started: they end together.
pub(crate) struct Group(Child);

impl Group {
    /// The process's id, while it runs.
    pub(crate) fn id(&self) -> Option<u32> {
        self.0.id()
    }

    /// Waits for its end.
    pub(crate) async fn ended(&mut self) -> String {
        match self.0.wait().await {
            Ok(status) => format!("it ended with {status}"),
            Err(error) => error.to_string(),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(pid) = self
            .0
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(rustix::process::Pid::from_raw)
        {
            // A group that is gone already needs no signal.
            let _gone = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}
