//! What is shown while a turn runs: text for people, lines of JSON for machines.

use std::io::Write;
use std::time::Duration;

use anstyle::AnsiColor;
use bindery::TokenCount;
use bindery::log::{Event, Payload, TurnOutcome, Usage};
use bindery_agent::{Cancel, TurnReport, Watch};
use bindery_wire::{Failure, ReplyEvent};
use serde_json::json;

use super::opening::Opened;
use super::price;
use crate::layout::thousands;
use crate::sessions;
use crate::terminal::{Palette, Terminal, printable};

impl Opened {
    /// Says which session this is, and that a model is made up, before anything else is said.
    pub(super) fn announce(&self, json: bool, terminal: &mut Terminal) -> anyhow::Result<()> {
        let (model, simulated) = (&self.agent.params.model, self.agent.model.is_simulated());
        let provider = self.agent.model.provider();
        if json {
            let line = json!({
                "schema": "bindery.run/1",
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
}

impl Lines {
    /// Lines on standard output. When nobody reads them any more, the turn is cancelled.
    pub(super) fn new(gone: Cancel) -> Self {
        Self { gone }
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
    palette: Palette,
    /// Whether the last thing said has not ended its line.
    open_line: bool,
}

impl Text {
    /// Text for people. When nobody reads it any more, the turn is cancelled.
    pub(super) fn new(gone: Cancel, palette: Palette) -> Self {
        Self {
            gone,
            palette,
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
                Payload::AssistantMessage(answer) => {
                    self.end_line();
                    for part in &answer.message.parts {
                        if let bindery::Part::ToolCall { name, input, .. } = part {
                            let input: String = input.text.chars().take(120).collect();
                            self.aside(&format!("· {name} {input}"));
                        }
                    }
                }
                Payload::ToolReturned(returned) if returned.is_error => {
                    let line = returned
                        .content
                        .text
                        .lines()
                        .next()
                        .unwrap_or_default()
                        .to_owned();
                    self.aside(&format!("  failed: {line}"));
                }
                Payload::UserMessage(said) if said.message.is_meta => {
                    for fragment in said.message.fragments() {
                        self.aside(&format!("· context from {}", fragment.source));
                    }
                }
                _ => {}
            }
        }
    }

    fn replying(&mut self, event: &ReplyEvent) {
        if let ReplyEvent::TextDelta { text, .. } = event {
            self.say(text);
        }
    }

    fn waiting(&mut self, failure: &Failure, wait: Duration) {
        self.aside(&format!("{failure}; trying again in {wait:.1?}"));
    }
}

/// Lines that no terminal obeys.
fn shown(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(printable).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
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
pub(super) fn summary(
    opened: &Opened,
    usage: &Usage,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let requests = opened.agent.state().attempts();
    let written = usage.cache_write_5m.saturating_add(usage.cache_write_1h);
    let simulated = opened.agent.model.is_simulated();
    let price = price::of_session(opened.agent.journal().log())?;
    if json {
        let line = json!({
            "type": "summary",
            "session": opened.id.as_str(),
            "requests": requests,
            "tokens": {
                "read": usage.input(),
                "cached": usage.cache_read,
                "written": written,
                "uncached": usage.uncached,
                "answered": usage.output,
            },
            "simulated": simulated,
            "price": price.as_ref().ok(),
            "currency": "USD",
        });
        writeln!(terminal.out, "{line}")?;
        return Ok(());
    }
    let count = |tokens: u64| thousands(TokenCount::exact(tokens));
    let (read, cached, uncached) = (
        count(usage.input()),
        count(usage.cache_read),
        count(usage.uncached),
    );
    let (written, answered) = (count(written), count(usage.output));
    let price = match (price, simulated) {
        (Ok(price), false) => format!("price {price} by list"),
        (Ok(price), true) => format!("would cost {price} by list"),
        (Err(model), _) => format!("price unknown: none is listed for {}", printable(&model)),
    };
    let origin = if simulated { "simulated tokens" } else { "tokens" };
    writeln!(
        terminal.err,
        "session {}, {requests} requests: {origin} read {read} (cached {cached}, written {written}, uncached \
         {uncached}), answered {answered}; {price}",
        opened.id,
    )?;
    Ok(())
}
