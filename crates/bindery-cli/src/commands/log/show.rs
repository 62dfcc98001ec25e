//! Events for people: one line each.

use std::io::Write;

use bindery::Message;
use bindery::log::{AttemptOutcome, Event, ExchangeOutcome, Payload, Seq};
use bindery_store::{LogReader, events};

use crate::happened;
use crate::layout::fit;
use crate::sessions;
use crate::status::Status;
use crate::terminal::{Terminal, printable};
use crate::usage::Used;

/// Shows events from a place on. What is damaged ends the list with an error that names the place.
pub(super) fn events_from(
    log: &dyn LogReader,
    from: Seq,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    for event in events(log, from) {
        let event = event?;
        if json {
            sessions::write_json(&mut terminal.out, &event)?;
        } else {
            let line = line(&event);
            // Whoever reads from a pipe gets all of it.
            let width = if terminal.interactive {
                terminal.width
            } else {
                usize::MAX
            };
            writeln!(terminal.out, "{}", fit_line(&line, width))?;
        }
    }
    Ok(())
}

/// What the session used, below its events.
pub(super) fn usage(log: &dyn LogReader, json: bool, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let used = Used::of(log)?;
    if json {
        writeln!(terminal.out, "{}", used.json())?;
    } else {
        used.table(terminal)?;
    }
    Ok(Status::Success)
}

fn fit_line(line: &str, width: usize) -> String {
    let mut end: String = line.chars().take(width.saturating_mul(2)).collect();
    if end.len() < line.len() {
        end.push('…');
    }
    fit_end_of(&end, width)
}

/// The beginning of a line says most.
fn fit_end_of(line: &str, width: usize) -> String {
    let count = line.chars().count();
    if count <= width {
        return line.to_owned();
    }
    let cut: String = line.chars().take(width.saturating_sub(1)).collect();
    fit(&format!("{cut}…"), width)
}

fn line(event: &Event) -> String {
    let at = sessions::moment(event.at_ms);
    format!(
        "{:>5}  {at}  {:<17} {}",
        event.seq.get(),
        event.payload.kind(),
        printable(&detail(&event.payload))
    )
}

/// What matters of an event.
fn detail(payload: &Payload) -> String {
    match payload {
        Payload::SessionStarted(started) => started.directory.as_deref().unwrap_or_default().to_owned(),
        Payload::SettingChanged(changed) => {
            let value = changed
                .value
                .as_ref()
                .map_or("taken back", |value| value.as_str());
            format!("{} {value}", changed.name)
        }
        Payload::InboxEnqueued(item) => said(&item.message),
        Payload::InboxClaimed(claimed) => claimed.ids.join(", "),
        Payload::TurnStarted(started) => format!("turn {}", started.turn),
        Payload::TurnEnded(ended) => {
            let reason = ended.reason.as_deref().unwrap_or_default();
            format!("turn {} {:?} {reason}", ended.turn, ended.outcome)
        }
        Payload::StepStarted(started) => format!("step {}", started.step),
        Payload::StepEnded(ended) => format!("step {} {:?}", ended.step, ended.outcome),
        Payload::UserMessage(message) => said(&message.message),
        Payload::SnapshotEntered(entered) => format!("{:?}", entered.change),
        Payload::HeaderSet(set) => format!("{:?}: {} {}", set.reason, set.header.provider, set.header.model),
        Payload::AttemptStarted(started) => {
            format!(
                "attempt {}: {} bytes {}",
                started.attempt,
                started.body_bytes,
                started.body_hash.short()
            )
        }
        Payload::AttemptEnded(ended) => match &ended.outcome {
            AttemptOutcome::Failed { code, message, .. } => format!("{code}: {message}"),
            outcome => format!("{outcome:?}"),
        },
        Payload::UsageReported(reported) => {
            let usage = &reported.usage;
            let (read, cached, out) = (usage.input(), usage.read, usage.generated());
            format!(
                "{:?}: read {read}, of it cached {cached}; answered {out}",
                reported.origin
            )
        }
        Payload::AssistantMessage(answer) => format!("{:?}: {}", answer.stop, said(&answer.message)),
        Payload::ToolCalled(called) => format!("{} {}", called.tool, called.call),
        Payload::ToolReturned(returned) => {
            let failed = if returned.is_error { "failed: " } else { "" };
            format!("{} {failed}{}", returned.call, returned.content.text.as_str())
        }
        Payload::ExchangeStarted(sent) => {
            let model = sent.model.as_deref().unwrap_or("?");
            format!(
                "{} {model}: {} bytes {}",
                sent.format,
                sent.body.bytes,
                sent.body.hash.short()
            )
        }
        Payload::ExchangeEnded(ended) => match (&ended.outcome, &ended.usage) {
            (ExchangeOutcome::Failed { code, message }, _) => format!("{code}: {message}"),
            (outcome, Some(usage)) => format!(
                "{outcome:?}: read {}, wrote {}, plain {}; answered {}",
                usage.read,
                usage.written(),
                usage.uncached,
                usage.generated()
            ),
            (outcome, None) => format!("{outcome:?}"),
        },
        Payload::ErrorRecorded(error) => format!("{}: {}", error.stage, error.message),
        Payload::ServerChanged(changed) => happened::to_server(changed),
        Payload::SubagentEnded(ended) => happened::to_subagent(ended),
        Payload::GateDecided(gate) => format!("{} {:?} {}", gate.gate, gate.decision, gate.action),
        _ => String::new(),
    }
}

fn said(message: &Message) -> String {
    let texts: Vec<&str> = message
        .fragments()
        .map(|fragment| fragment.text.as_str())
        .collect();
    texts.join(" ").chars().take(400).collect()
}
