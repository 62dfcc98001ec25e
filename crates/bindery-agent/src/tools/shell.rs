//! `shell`: a command, with a limit of time and of output. The process and what it started end, as far as
//! they still belong to it, with the call.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use bindery_core::{BoxFuture, Tool};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use super::{MOST_BYTES, Workdir, count, text};
use crate::tool::{Effect, Input, Outcome, Runner};

/// How commands are run.
#[derive(Debug, Clone)]
pub struct Shell {
    /// The program; it is given `-c COMMAND`.
    pub program: PathBuf,
    /// The complete environment of commands.
    pub environment: BTreeMap<OsString, OsString>,
    /// How long a command may take where it does not say.
    pub timeout: Duration,
    /// How long it may take at most.
    pub most_timeout: Duration,
}

impl Shell {
    /// `/bin/sh` with this environment; two minutes, at most ten.
    pub fn new(environment: BTreeMap<OsString, OsString>) -> Self {
        Self {
            program: "/bin/sh".into(),
            environment,
            timeout: Duration::from_mins(2),
            most_timeout: Duration::from_mins(10),
        }
    }
}

/// Runs commands.
pub(super) struct ShellTool {
    workdir: Workdir,
    shell: Shell,
}

impl ShellTool {
    pub(super) fn new(workdir: Workdir, shell: Shell) -> Self {
        Self { workdir, shell }
    }
}

impl Runner for ShellTool {
    fn tool(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "What `sh -c` is given"},
                "timeout_seconds": {"type": "integer", "minimum": 1, "description": "After how long it is stopped"},
            },
            "required": ["command"],
            "additionalProperties": false,
        });
        let description = "Runs a shell command in the working directory. It gets no input and is stopped when \
                           its time is over.";
        Tool::new("shell", description, &schema)
    }

    fn effect(&self) -> Effect {
        Effect::Acts
    }

    fn describe(&self, input: &Input) -> String {
        format!("shell {}", text(input, "command").unwrap_or_default())
    }

    fn run(self: Arc<Self>, input: Input) -> BoxFuture<'static, Outcome> {
        Box::pin(async move {
            match text(&input, "command") {
                Ok(command) => self.execute(command, count(&input, "timeout_seconds")).await,
                Err(missing) => missing,
            }
        })
    }
}

impl ShellTool {
    async fn execute(&self, command: &str, seconds: Option<usize>) -> Outcome {
        let asked = seconds.map(|seconds| Duration::from_secs(seconds as u64));
        let limit = asked.unwrap_or(self.shell.timeout).min(self.shell.most_timeout);
        let mut process = Command::new(&self.shell.program);
        process
            .arg("-c")
            .arg(command)
            .current_dir(self.workdir.root())
            .env_clear()
            .envs(&self.shell.environment)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        process.process_group(0);
        let child = match process.spawn() {
            Ok(child) => child,
            Err(error) => {
                let program = self.shell.program.display();
                return Outcome::failed(format!("{program} could not be started: {error}"));
            }
        };
        let mut group = Group(child);
        let (out, err) = (group.0.stdout.take(), group.0.stderr.take());
        let both = async { tokio::join!(keep(out), keep(err)) };
        let mut outcome = match tokio::time::timeout(limit, both).await {
            Err(_) => Outcome::failed(format!(
                "Stopped after {limit:?}: the time was over. Its output is lost."
            )),
            Ok((out, err)) => match group.0.wait().await {
                Ok(status) if status.success() => Outcome::done(said(&out, &err)),
                Ok(status) => Outcome::failed(format!("{}\n[{status}]", said(&out, &err))),
                Err(error) => Outcome::failed(format!("{}\n[{error}]", said(&out, &err))),
            },
        };
        outcome.touched.push(self.workdir.root().to_owned());
        outcome
    }
}

/// What a stream said: its beginning and its end, and how much lies between.
#[derive(Default)]
struct Kept {
    head: Vec<u8>,
    tail: std::collections::VecDeque<u8>,
    left_out: u64,
}

/// How much of the beginning and of the end of a stream is kept, in bytes.
const HALF: usize = MOST_BYTES / 4;

async fn keep(stream: Option<impl AsyncRead + Unpin>) -> Kept {
    let mut kept = Kept::default();
    let Some(mut stream) = stream else { return kept };
    let mut buffer = vec![0; 8192];
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        for byte in buffer.iter().take(read) {
            if kept.head.len() < HALF {
                kept.head.push(*byte);
                continue;
            }
            kept.tail.push_back(*byte);
            if kept.tail.len() > HALF {
                kept.tail.pop_front();
                kept.left_out += 1;
            }
        }
    }
    kept
}

impl Kept {
    fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let (head, tail) = (
            String::from_utf8_lossy(&self.head),
            String::from_utf8_lossy(&tail),
        );
        match self.left_out {
            0 => format!("{head}{tail}"),
            left => format!("{head}\n[{left} bytes left out]\n{tail}"),
        }
    }
}

fn said(out: &Kept, err: &Kept) -> String {
    let (out, err) = (out.text(), err.text());
    match (out.trim_end(), err.trim_end()) {
        ("", "") => "[no output]".to_owned(),
        (out, "") => out.to_owned(),
        ("", err) => format!("[stderr]\n{err}"),
        (out, err) => format!("{out}\n[stderr]\n{err}"),
    }
}

/// A process and what it started: as long as it was not waited for, they end together.
struct Group(Child);

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
