//! What stood in a conversation before compactions: the log keeps it.

use std::io::Write;

use bindery::Role;
use bindery::log::{Payload, ReplaceReason, Seq, SessionState, SurfaceReplaced};
use bindery_store::{LogReader, events};
use serde_json::json;

use crate::status::Status;
use crate::terminal::{Terminal, printable};

/// Shows the messages that gave way, compaction by compaction.
pub(super) fn show(log: &dyn LogReader, json: bool, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let mut state = SessionState::default();
    let mut compactions = 0;
    for event in events(log, Seq::FIRST) {
        let event = event?;
        if let Payload::SurfaceReplaced(replaced) = &event.payload
            && replaced.reason == ReplaceReason::Compaction
        {
            compactions += 1;
            one(&state, event.seq, replaced, json, terminal)?;
        }
        state.apply(&event)?;
    }
    if compactions == 0 && !json {
        writeln!(terminal.err, "nothing of this session was summarised")?;
    }
    Ok(Status::Success)
}

fn one(
    state: &SessionState,
    seq: Seq,
    replaced: &SurfaceReplaced,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let gave_way = state
        .surface()
        .entries()
        .filter(|(origins, _)| origins.iter().any(|origin| replaced.shadowed.contains(origin)));
    for (origins, message) in gave_way {
        if json {
            let line = json!({"compaction": seq, "events": origins, "message": message});
            writeln!(terminal.out, "{line}")?;
            continue;
        }
        let who = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let events: Vec<String> = origins.iter().map(ToString::to_string).collect();
        writeln!(
            terminal.out,
            "── {who}, event {}, until event {seq}",
            events.join(", ")
        )?;
        for fragment in message.fragments() {
            for line in fragment.text.lines() {
                writeln!(terminal.out, "{}", printable(line))?;
            }
        }
    }
    Ok(())
}
