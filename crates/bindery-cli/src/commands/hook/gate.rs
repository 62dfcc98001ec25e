//! `bindery hook gate`: the hook command that gives Claude Code and Codex this project's gates and its
//! runtime-context file.
//!
//! It reads the event on standard input, answers in the client's protocol, and keeps what holds in a file per
//! session in the state directory.

mod answer;
mod states;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use bindery::hooks::{Action, Change, Event, Gates, When, refusal};
use bindery::sources::gate::Gate;
use bindery::sources::hooks::Clients;
use bindery::sources::lock::ContextLock;
use bindery_agent::hooks::retrieve;
use bindery_agent::plugins::runtime_text;
use clap::Args;
use serde_json::{Map, Value};

use super::ground::Ground;
use crate::status::{Status, UsageError};
use crate::terminal::Terminal;
use answer::Answer;
use states::{Kept, States};

/// Be a hook.
#[derive(Debug, Args)]
pub(super) struct GateArgs {
    /// The directory whose settings hold; without it, the one that the event names
    #[arg(short = 'C', long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Say that a state holds in the newest session of this directory, instead of answering an event
    #[arg(long, value_name = "STATE")]
    set: Option<String>,
    /// Say that it does not hold
    #[arg(long, value_name = "STATE", conflicts_with = "set")]
    clear: Option<String>,
}

/// The most bytes of an event that are read.
const MOST_INPUT: u64 = 64 * 1024 * 1024;
/// Refusals of a stop in a row, after which the turn may end all the same: the bound that Claude Code 2.1 was
/// seen to have. Codex 0.171 has none of its own.
const MOST_STOPS: u32 = 8;

pub(super) fn run(args: &GateArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    if let Some(state) = args.set.as_ref().or(args.clear.as_ref()) {
        let dir = args.dir.clone().unwrap_or_else(|| ".".into());
        return states::set(&dir, state, args.set.is_some(), terminal);
    }
    let told = told()?;
    let text = |field: &str| told.get(field).and_then(Value::as_str).unwrap_or_default();
    let name = text("hook_event_name");
    let event: Event = name
        .parse()
        .map_err(|error: bindery::hooks::UnknownEvent| UsageError::of(&error))?;
    let dir = args.dir.clone().unwrap_or_else(|| PathBuf::from(text("cwd")));
    let ground = match Ground::read(
        &dir,
        Some(Clients {
            claude: false,
            codex: false,
        }),
    ) {
        Ok(ground) => ground,
        // A gate that cannot be read would otherwise not hold. What the user says is never thrown away.
        Err(error) if event == Event::PreToolUse => {
            let why = format!("the gates of this project cannot be read, so no tool runs: {error:#}");
            return Answer::denied(event, &why).print(terminal);
        }
        Err(error) => return Answer::message(&format!("bindery: {error:#}")).print(terminal),
    };
    let states = States::of(&ground.question.places, text("session_id"), &ground.dir)?;
    let mut session = Session {
        gate: Arc::new(Gate::new(ground.settings.guard(), ContextLock::default())),
        gates: ground.declared.gates.clone(),
        project: ground.question.places.project.clone(),
        home: ground.question.places.home.clone(),
        told,
        remarks: Vec::new(),
    };
    let mut answer = states.update(|kept| session.answer(event, kept))?;
    answer.remarks(&session.remarks);
    answer.print(terminal)
}

fn told() -> anyhow::Result<Map<String, Value>> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(MOST_INPUT)
        .read_to_end(&mut bytes)
        .context("reading the event")?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let message = format!(
            "standard input is no event of a hook: {error}; Claude Code and Codex write one JSON object"
        );
        UsageError(message).into()
    })
}

/// One event of one session.
struct Session {
    gates: Gates,
    gate: Arc<Gate>,
    project: PathBuf,
    home: Option<PathBuf>,
    told: Map<String, Value>,
    /// What the user should know.
    remarks: Vec<String>,
}

impl Session {
    fn answer(&mut self, event: Event, kept: &mut Kept) -> Answer {
        match event {
            Event::SessionStart => self.started(kept),
            Event::UserPromptSubmit => self.submitted(kept),
            Event::PreToolUse => self.before(kept),
            Event::PostToolUse => {
                self.after(kept);
                Answer::nothing(event)
            }
            Event::Stop => self.stopping(kept),
            _ => Answer::nothing(event),
        }
    }

    /// After a compaction what was shown is gone: it has to be shown again.
    fn started(&mut self, kept: &mut Kept) -> Answer {
        if matches!(self.text("source"), "compact" | "clear") {
            let shown: Vec<String> = self.retrieved_states();
            kept.holds.retain(|state| !shown.contains(state));
            kept.runtime.clear();
        }
        let context = self.retrieved(When::Start, None, kept);
        Answer::with_context(Event::SessionStart, &context)
    }

    fn retrieved_states(&self) -> Vec<String> {
        let is_shown = |set: &bindery::hooks::Setter| matches!(set, bindery::hooks::Setter::Retrieve { .. });
        let states = self.gates.states.iter().filter(|state| is_shown(&state.set));
        states.map(|state| state.name.clone()).collect()
    }

    fn submitted(&mut self, kept: &mut Kept) -> Answer {
        kept.stops = 0;
        let ended = self.gates.at_turn(|state| kept.holds.contains(state));
        kept.change(&ended);
        let mut parts = self.retrieved(When::Start, None, kept);
        let runtime = runtime_text(&self.project, &self.gate);
        self.remarks.extend(runtime.remarks.iter().cloned());
        if runtime.text != kept.runtime {
            parts.push(if runtime.text.is_empty() {
                "The runtime context that was given earlier no longer holds; there is none now.".to_owned()
            } else {
                let files = runtime.files.join(", ");
                format!(
                    "Runtime context from {files}; it supersedes what it said earlier.\n\n{}",
                    runtime.text
                )
            });
            kept.runtime = runtime.text;
        }
        Answer::with_context(Event::UserPromptSubmit, &parts)
    }

    fn before(&mut self, kept: &mut Kept) -> Answer {
        let input = self.input();
        let (name, cwd) = (self.text("tool_name").to_owned(), self.text("cwd").to_owned());
        let root = self.project.to_string_lossy().into_owned();
        let action = Action::Tool {
            name: &name,
            input: &input,
            cwd: if cwd.is_empty() { &root } else { &cwd },
            root: &root,
        };
        let gates = self.gates.clone();
        let refusing = gates.refusing(action, |state| kept.holds.contains(state));
        if refusing.is_empty() {
            return Answer::nothing(Event::PreToolUse);
        }
        let missing: Vec<&str> = refusing
            .iter()
            .flat_map(|(_, missing)| missing.iter().copied())
            .collect();
        let mut why = refusal(&gates, &refusing);
        let shown = self.retrieved(When::Refused, Some(&missing), kept);
        if !shown.is_empty() {
            why.push_str("\nIt was loaded just now and is shown to you; read it, then call again.");
        }
        for remark in &self.remarks {
            why.push('\n');
            why.push_str(remark);
        }
        let mut answer = Answer::denied(Event::PreToolUse, &why);
        answer.add_context(&shown);
        answer
    }

    fn after(&mut self, kept: &mut Kept) {
        let input = self.input();
        let (name, cwd) = (self.text("tool_name").to_owned(), self.text("cwd").to_owned());
        let root = self.project.to_string_lossy().into_owned();
        let action = Action::Tool {
            name: &name,
            input: &input,
            cwd: if cwd.is_empty() { &root } else { &cwd },
            root: &root,
        };
        let failed = self.told.get("tool_response").is_some_and(answer::has_failed);
        let changes = self
            .gates
            .after(action, failed, |state| kept.holds.contains(state));
        kept.change(&changes);
    }

    fn stopping(&mut self, kept: &mut Kept) -> Answer {
        let refusing = self
            .gates
            .refusing(Action::Stop, |state| kept.holds.contains(state));
        if refusing.is_empty() {
            kept.stops = 0;
            return Answer::nothing(Event::Stop);
        }
        let why = refusal(&self.gates, &refusing);
        if kept.stops >= MOST_STOPS {
            kept.stops = 0;
            return Answer::message(&format!(
                "the turn ends although a gate holds it: it refused {MOST_STOPS} times in a row. {why}"
            ));
        }
        kept.stops += 1;
        Answer::blocked(Event::Stop, &why)
    }

    /// What is shown now, and the states that hold by it.
    fn retrieved(&mut self, when: When, missing: Option<&[&str]>, kept: &mut Kept) -> Vec<String> {
        let gates = self.gates.clone();
        let mut out = Vec::new();
        for one in gates.retrievals(when, missing, |state| kept.holds.contains(state)) {
            let (state, home) = (&one.state.name, self.home.as_deref());
            match retrieve(&self.project, home, one.state.owner, one.files, &self.gate) {
                Err(why) => self.remarks.push(format!("`{state}` does not hold: {why}")),
                Ok(shown) => {
                    self.remarks.extend(shown.remarks);
                    out.push(format!(
                        "`{state}` holds now; this was loaded for it.\n\n{}",
                        shown.text
                    ));
                    kept.change(&[Change {
                        state: state.clone(),
                        holds: true,
                        because: "it was shown".to_owned(),
                    }]);
                }
            }
        }
        out
    }

    fn input(&self) -> Map<String, Value> {
        let input = self.told.get("tool_input").and_then(Value::as_object);
        input.cloned().unwrap_or_default()
    }

    fn text(&self, field: &str) -> &str {
        self.told.get(field).and_then(Value::as_str).unwrap_or_default()
    }
}

/// A directory as the file of states names it.
fn named(dir: &Path) -> String {
    dir.to_string_lossy().into_owned()
}
