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
use tokio::process::{Child, Command};

use super::spool::Spool;
use super::{Workdir, count, text};
use crate::capacity::Intake;
use crate::process_group;
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
    intake: Option<Intake>,
}

impl ShellTool {
    pub(super) fn new(workdir: Workdir, shell: Shell, intake: Option<Intake>) -> Self {
        Self {
            workdir,
            shell,
            intake,
        }
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
        let keeps = self.intake.is_some();
        let both = async { tokio::join!(Spool::of(out, keeps), Spool::of(err, keeps)) };
        let mut outcome = match tokio::time::timeout(limit, both).await {
            Err(_) => Outcome::failed(format!(
                "Stopped after {limit:?}: the time was over. Its output is lost."
            )),
            Ok((out, err)) => {
                let said = self.said(out, err).await;
                match group.0.wait().await {
                    Ok(status) if status.success() => Outcome::done(said),
                    Ok(status) => Outcome::failed(format!("{said}\n[{status}]")),
                    Err(error) => Outcome::failed(format!("{said}\n[{error}]")),
                }
            }
        };
        outcome.touched.push(self.workdir.root().to_owned());
        outcome
    }

    async fn said(&self, out: Spool, err: Spool) -> String {
        let intake = self.intake.clone();
        let both =
            tokio::task::spawn_blocking(move || (out.text(intake.as_ref()), err.text(intake.as_ref())));
        let Ok((out, err)) = both.await else {
            return "[its output cannot be read]".to_owned();
        };
        match (out.trim_end(), err.trim_end()) {
            ("", "") => "[no output]".to_owned(),
            (out, "") => out.to_owned(),
            ("", err) => format!("[stderr]\n{err}"),
            (out, err) => format!("{out}\n[stderr]\n{err}"),
        }
    }
}

/// A process and what it started: as long as it was not waited for, they end together.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        process_group::kill(&self.0);
    }
}
