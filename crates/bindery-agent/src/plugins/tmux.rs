//! The tmux session around the user: which windows there are and what runs in them. Asked before the
//! first step of a turn only; whoever changes windows while the agent works does not cost a snapshot.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use bindery_core::{Context, ProviderError, Registration, Scope, Source, Trust};
use bindery_sources::Notice;
use bindery_sources::gate::Gate;

use crate::admission::outside;
use crate::agent::{Moment, Refresh};

/// The most panes that are told.
const MOST_PANES: usize = 40;
/// A line of a pane is told up to this many characters.
const LONGEST_LINE: usize = 160;
/// What tmux is asked for: window, pane, whether it is active, the program, the directory.
const FORMAT: &str = "#{window_index}.#{pane_index}#{?pane_active,*,} #{window_name}: #{pane_current_command} in #{pane_current_path}";

/// Tells of tmux, where there is one.
pub struct Tmux {
    program: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    gate: Arc<Gate>,
    scope: Scope,
    told: String,
    kept: Option<Registration>,
}

impl Tmux {
    /// The tmux that `environment` names (`TMUX`); `None` outside of any. What it says passes `gate`.
    pub fn find(environment: BTreeMap<OsString, OsString>, gate: Arc<Gate>, scope: Scope) -> Option<Self> {
        let inside = environment
            .get(&OsString::from("TMUX"))
            .is_some_and(|socket| !socket.is_empty());
        let program = PathBuf::from("tmux");
        inside.then_some(Self {
            program,
            environment,
            gate,
            scope,
            told: String::new(),
            kept: None,
        })
    }

    fn ask(&self) -> String {
        let asked = Command::new(&self.program)
            .args(["list-panes", "-s", "-F", FORMAT])
            .env_clear()
            .envs(&self.environment)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let Ok(output) = asked else { return String::new() };
        told(&String::from_utf8_lossy(&output.stdout))
    }
}

/// Bounded lines without control characters.
pub(super) fn told(listed: &str) -> String {
    let clean = |line: &str| -> String {
        let plain = line.chars().map(|c| if c.is_control() { ' ' } else { c });
        plain.take(LONGEST_LINE).collect()
    };
    let mut lines: Vec<String> = listed.lines().take(MOST_PANES).map(clean).collect();
    let left = listed.lines().count().saturating_sub(MOST_PANES);
    if left > 0 {
        lines.push(format!("({left} more panes)"));
    }
    lines.join("\n")
}

impl Refresh for Tmux {
    fn refresh(&mut self, at: Moment<'_>) -> Result<Vec<Notice>, ProviderError> {
        if at.step > 1 {
            return Ok(Vec::new());
        }
        let told = self.ask();
        if told == self.told && self.kept.is_some() {
            return Ok(Vec::new());
        }
        self.kept = None;
        if !told.is_empty() {
            // Titles and directories are whatever a program wrote there.
            let source = Source::Plugin { name: "tmux".into() };
            let text = outside(&self.gate, "context:tmux", "tmux", &told);
            let context = Context::new("tmux", text).order(30).literal();
            self.kept = Some(self.scope.context(context.from_source(source, Trust::External))?);
        }
        self.told = told;
        Ok(Vec::new())
    }
}
