//! What is shown while a turn runs: text for people, lines of JSON for machines.

use std::io::Write;
use std::time::Duration;

use anstyle::AnsiColor;
use bindery::Kind;
use bindery::log::{Event, Intake, Payload, ScannedResult, TurnOutcome};
use bindery::sources::Notice;
use bindery_agent::{Cancel, TurnReport, Watch};
use bindery_wire::{Failure, ReplyEvent};
use serde_json::json;

use super::opening::Opened;
use super::progress::Progress;
use super::told::Told;
use crate::terminal::{Palette, Terminal, printable};
use crate::usage::Used;
use crate::{notices, sessions};

impl Opened {
    /// Says which session this is, and that a model is made up, before anything else is said.
    pub(super) fn announce(&self, json: bool, terminal: &mut Terminal) -> anyhow::Result<()> {
        let (model, simulated) = (&self.agent.params.model, self.agent.model.is_simulated());
        let provider = self.agent.model.provider();
        if json {
            let line = json!({
                "schema": "bindery.run/2",
                "type": "session",
                "session": self.id.as_str(),
                "provider": provider.name(),
                "model": model,
                "simulated": simulated,
            });
            writeln!(terminal.out, "{line}")?;
            return Ok(());
        }
        let label = if simulated {
            format!("simulated model, no provider is asked (cache rules of {provider})")
        } else {
            format!("{provider} {model}")
        };
        writeln!(terminal.err, "session {}: {label}", self.id)?;
        Ok(())
    }
}

/// A line of JSON for every event and every piece of a reply.
pub(super) struct Lines {
    gone: Cancel,
    told: Told,
}

impl Lines {
    /// Lines on standard output. When nobody reads them any more, the turn is cancelled.
    pub(super) fn new(gone: Cancel, told: Told) -> Self {
        Self { gone, told }
    }

    fn check<E>(&self, written: &Result<(), E>) {
        if written.is_err() {
            self.gone.cancel();
        }
    }
}

impl Watch for Lines {
    fn committed(&mut self, events: &[Event]) {
        let mut out = std::io::stdout().lock();
        let written = events
            .iter()
            .try_for_each(|event| sessions::write_json(&mut out, event));
        self.check(&written.and_then(|()| Ok(out.flush()?)));
    }

    fn replying(&mut self, event: &ReplyEvent) {
        let mut out = std::io::stdout().lock();
        let line = json!({"type": "reply", "event": event});
        let written = writeln!(out, "{line}").and_then(|()| out.flush());
        self.check(&written);
    }

    fn told(&mut self, notices: &[Notice]) {
        let mut out = std::io::stdout().lock();
        let new = self.told.new_of(notices);
        let mut lines = new
            .iter()
            .map(|notice| json!({"type": "notice", "notice": notice}));
        let written = lines.try_for_each(|line| writeln!(out, "{line}"));
        self.check(&written.and_then(|()| out.flush()));
    }

    fn waiting(&mut self, failure: &Failure, wait: Duration) {
        let mut out = std::io::stdout().lock();
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let line = json!({"type": "waiting", "failure": failure, "wait_ms": wait_ms});
        let written = writeln!(out, "{line}").and_then(|()| out.flush());
        self.check(&written);
    }
}

/// The model's words on standard output as they come, everything else on standard error.
pub(super) struct Text {
    gone: Cancel,
    told: Told,
    palette: Palette,
    progress: Progress,
    /// Whether the last thing said has not ended its line.
    open_line: bool,
}

impl Text {
    /// Text for people. When nobody reads it any more, the turn is cancelled.
    pub(super) fn new(gone: Cancel, told: Told, palette: Palette, progress: Progress) -> Self {
        Self {
            gone,
            told,
            palette,
            progress,
            open_line: false,
        }
    }

    fn say(&mut self, text: &str) {
        let shown = shown(text);
        self.open_line = !shown.ends_with('\n');
        let mut out = std::io::stdout().lock();
        if write!(out, "{shown}").and_then(|()| out.flush()).is_err() {
            self.gone.cancel();
        }
    }

    fn end_line(&mut self) {
        if self.open_line {
            self.say("\n");
        }
    }

    /// A line beside the conversation.
    fn aside(&mut self, text: &str) {
        self.end_line();
        let line = self
            .palette
            .paint(AnsiColor::BrightBlack.on_default(), &printable(text));
        // Nobody there to tell is no reason to stop.
        let _unseen = writeln!(std::io::stderr(), "{line}");
    }
}

impl Watch for Text {
    fn committed(&mut self, events: &[Event]) {
        for event in events {
            match &event.payload {
                Payload::AttemptStarted(started) => self.progress.began(started.model.to_string()),
                Payload::ToolCalled(called) => self.progress.began(format!("`{}`", called.tool)),
                Payload::AttemptEnded(_) | Payload::StepEnded(_) => self.progress.idle(),
                Payload::AssistantMessage(answer) => {
                    self.end_line();
                    for part in &answer.message.parts {
                        if let bindery::Part::ToolCall { name, input, .. } = part {
                            let input: String = input.text.chars().take(120).collect();
                            self.aside(&format!("· {name} {input}"));
                        }
                    }
                }
                Payload::ToolReturned(returned) => {
                    if returned.is_error {
                        let line = returned.content.text.lines().next().unwrap_or_default();
                        self.aside(&format!("  failed: {line}"));
                    }
                    if let Some(kept_out) = returned.scan.as_ref().and_then(kept_out) {
                        self.aside(kept_out);
                    }
                }
                Payload::InboxEnqueued(item) if item.intake == Intake::Steer => {
                    self.aside("· heard; it is said with the next step");
                }
                Payload::UserMessage(said) if said.message.is_meta => {
                    for fragment in said.message.fragments() {
                        let what = match fragment.kind {
                            Kind::InstructionsWithdrawn => "withdrawn",
                            _ => "context from",
                        };
                        self.aside(&format!("· {what} {}", fragment.source));
                    }
                }
                Payload::UserMessage(said) if is_steer(said.inbox.as_deref()) => {
                    self.aside("· said to the model");
                }
                _ => {}
            }
        }
    }

    fn replying(&mut self, event: &ReplyEvent) {
        self.progress.moved();
        if let ReplyEvent::TextDelta { text, .. } = event {
            self.say(text);
        }
    }

    fn told(&mut self, notices: &[Notice]) {
        let new = self.told.new_of(notices);
        if !new.is_empty() {
            self.end_line();
        }
        // Nobody there to tell is no reason to stop.
        let _unseen = notices::write(&new, self.palette, &mut std::io::stderr());
    }

    fn waiting(&mut self, failure: &Failure, wait: Duration) {
        self.aside(&format!("{failure}; trying again in {wait:.1?}"));
    }
}

fn is_steer(inbox: Option<&str>) -> bool {
    inbox.is_some_and(|id| id.starts_with("steer-"))
}

/// What became of a result that did not enter whole.
fn kept_out(scan: &ScannedResult) -> Option<&'static str> {
    match &*scan.verdict {
        "labelled" => Some("  the result entered under a label: see the notice"),
        "lines-kept-out" => Some("  some lines of the result were kept out: see the notice"),
        "kept-out" | "unapproved" => Some("  the result was kept out: see the notice"),
        _ => None,
    }
}

/// Lines that no terminal obeys.
fn shown(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(printable).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// A line for people that belongs to nothing else.
pub(super) fn beside(line: &str) {
    // Nobody there to tell is no reason to stop.
    let _unseen = writeln!(std::io::stderr(), "{}", printable(line));
}

/// How a turn ended, where that is not as usual.
pub(super) fn ending(report: &TurnReport) {
    let reason = report.reason.as_deref().map(printable);
    let said = match (report.outcome, reason) {
        (TurnOutcome::Completed, None) => return,
        (TurnOutcome::Completed, Some(reason)) => format!("note: {reason}"),
        (TurnOutcome::Aborted, _) => "aborted; the session is kept".to_owned(),
        (outcome, reason) => format!("turn {outcome:?}: {}", reason.unwrap_or_default()),
    };
    // Nobody there to tell is no reason to stop; the exit code tells as well.
    let _unseen = writeln!(std::io::stderr(), "{said}");
}

/// What the session used, and what it cost.
pub(super) fn summary(opened: &Opened, json: bool, terminal: &mut Terminal) -> anyhow::Result<()> {
    let used = Used::of(opened.agent.journal().log())?;
    if json {
        let mut line = used.json();
        line["type"] = "summary".into();
        line["session"] = opened.id.as_str().into();
        writeln!(terminal.out, "{line}")?;
        return Ok(());
    }
    let requests = opened.agent.state().attempts();
    let plural = if requests == 1 { "" } else { "s" };
    writeln!(
        terminal.err,
        "session {}, {requests} request{plural}: {}",
        opened.id,
        used.classes()
    )?;
    if let Some(children) = used.of_children() {
        writeln!(terminal.err, "{children}")?;
    }
    if let Some(largest) = used.largest() {
        writeln!(terminal.err, "{largest}")?;
    }
    Ok(())
}
