//! Taking in what servers say: what is shown from now on, what is told, what is written down.

use std::sync::Arc;

use bindery_core::log::{Payload, ServerChange, ServerChanged, SessionState};
use bindery_core::{ProviderError, Trust};
use bindery_guard::policy::Approval;
use bindery_mcp::{Listing, Standing};
use bindery_sources::gate::Passage;
use bindery_sources::mcp::{McpServer, OnChange};
use bindery_sources::{Level, Notice, Position};

use super::drift::{self, Drift};
use super::tools::{Inner, McpTools, Shown, away};
use super::{Judged, judge, source_name};
use crate::agent::{Assembled, Moment, Refresh};

/// The most bytes of a server's instructions.
const MOST_INSTRUCTIONS: usize = 16 << 10;

impl Inner {
    /// Takes in what every server says now.
    pub(super) fn take_in(&self) {
        for kept in &self.servers {
            let standing = self.link(kept).standing();
            self.take_in_one(&kept.of, &standing);
        }
    }

    fn take_in_one(&self, server: &McpServer, standing: &Standing) {
        let is_away = away(&standing.state);
        let (lists, was_away) = {
            let state = self.lock();
            let shown = state.shown.get(&server.name);
            shown.map_or((0, false), |shown| (shown.lists, shown.was_away))
        };
        if let Some(why) = is_away {
            if !was_away {
                self.lost(server, why);
            }
            return;
        }
        let Some(listing) = standing
            .listing
            .as_ref()
            .filter(|_| standing.lists != lists || was_away)
        else {
            return;
        };
        let judged = judge(server, listing, &self.gate);
        let instructions = self.instructions(server, listing);
        if let Some(seen) = &self.seen
            && let Err(error) = seen.write(&server.name, &judged.texts)
        {
            let message = format!("what it said could not be kept for approval: {error}");
            self.tell(server, Level::Warning, "mcp-unkept", message, "");
        }
        self.compare(server, standing, &judged, instructions);
    }

    fn lost(&self, server: &McpServer, why: &str) {
        let tools = {
            let mut state = self.lock();
            let shown = state.shown.entry(server.name.clone()).or_default();
            shown.was_away = true;
            let (tools, hash) = (shown.tools.len(), drift::hash(&shown.tools));
            let drift = shown.drift.signed();
            state
                .events
                .push(event(server, ServerChange::Lost, tools, hash, drift, Some(why)));
            tools
        };
        let (message, mend) = if tools == 0 {
            (format!("it is not there: {why}"), "")
        } else {
            let message = format!(
                "it is away: {why}. Its {tools} tools stay in the list as they are, and calls of them fail until it is back"
            );
            (message, "it is connected to again by itself")
        };
        self.tell(server, Level::Warning, "mcp-away", message, mend);
    }

    /// Compares what a server says with what is shown of it, and decides.
    fn compare(
        &self,
        server: &McpServer,
        standing: &Standing,
        judged: &Judged,
        instructions: Option<String>,
    ) {
        let mut told = Vec::new();
        {
            let mut state = self.lock();
            let (closed, rebuilds) = (state.is_closed, self.on_change == OnChange::Rebuild);
            let shown = state.shown.entry(server.name.clone()).or_default();
            let (first, returned) = (
                shown.lists == 0,
                shown.was_away || standing.connections > shown.connections,
            );
            let drift = Drift::of(&shown.tools, judged);
            let kept_before = std::mem::take(&mut shown.drift);
            name_anew(shown, judged);
            let change = if drift.is_none() || !(shown.is_pinned || closed) || rebuilds {
                let is_other = !drift.is_none() && (shown.is_pinned || closed);
                shown.tools.clone_from(&judged.exposed);
                if shown.instructions.is_none() || is_other || !shown.is_pinned {
                    shown.instructions = instructions;
                }
                match (is_other, first, returned) {
                    (true, ..) => ServerChange::Rebuilt,
                    (_, true, _) => ServerChange::Connected,
                    (_, _, true) => ServerChange::Returned,
                    _ => ServerChange::Listed,
                }
            } else {
                shown.drift = drift.clone();
                if drift != kept_before {
                    told.push(drifted(&drift));
                }
                match (first, returned) {
                    (true, _) => ServerChange::Connected,
                    (_, true) => ServerChange::Returned,
                    _ => ServerChange::Listed,
                }
            };
            let was_away = std::mem::replace(&mut shown.was_away, false);
            (shown.lists, shown.connections) = (standing.lists, standing.connections);
            let (tools, hash) = (shown.tools.len(), drift::hash(&shown.tools));
            if was_away && shown.drift.is_none() && change != ServerChange::Rebuilt {
                let same = format!("it is back, and its {tools} tools are the same to the byte");
                told.push((Level::Note, "mcp-back", same, ""));
            }
            let drift = if change == ServerChange::Rebuilt {
                drift.signed()
            } else {
                shown.drift.signed()
            };
            state.events.push(event(server, change, tools, hash, drift, None));
            if change == ServerChange::Rebuilt {
                state.rebuilt.push(server.name.clone());
            }
        }
        for (level, code, message, mend) in told {
            self.tell(server, level, code, message, mend);
        }
        for remark in &judged.remarks {
            self.tell(server, Level::Warning, "mcp-tools", remark.clone(), "");
        }
        for held in &judged.held {
            let raw: String = held.raw.chars().take(80).collect();
            let message = format!("its tool `{}` is held back: {}", plain(&raw), held.why);
            self.tell(server, Level::Warning, "mcp-tool-held", message, &held.mend);
        }
    }

    /// A server's instructions as they may enter.
    fn instructions(&self, server: &McpServer, listing: &Listing) -> Option<String> {
        let text = listing.instructions.as_deref()?;
        let end = text.floor_char_boundary(MOST_INSTRUCTIONS);
        let mut kept = text.get(..end).unwrap_or_default().to_owned();
        if end < text.len() {
            let left = text.len() - end;
            kept = format!("{kept}\n[{left} more bytes of these instructions are left out]");
            let message = format!("{left} of {} bytes of its instructions are left out", text.len());
            self.tell(server, Level::Warning, "mcp-instructions-cut", message, "");
        }
        let shown = source_name(&server.name);
        let passage = Passage {
            fragment: &format!("context:{shown}"),
            shown: &shown,
            trust: Trust::External,
            approval: Approval::Missing,
            approve: "run with `-c guard.external=allow`, or without this server",
            place: &|line| Position::line(shown.as_str(), line),
        };
        Some(self.gate.pass(&kept, &passage).into_owned())
    }

    fn tell(&self, server: &McpServer, level: Level, code: &'static str, message: String, mend: &str) {
        let notice = Notice {
            level,
            code: code.into(),
            at: Position::whole(source_name(&server.name)),
            message,
            excerpt: None,
            mend: mend.to_owned(),
        };
        self.lock().notices.push(notice);
    }
}

/// A session that goes on knows the names that the model was told; the server's own come with its list.
fn name_anew(shown: &mut Shown, judged: &Judged) {
    for (name, exposed) in &mut shown.tools {
        if let Some(other) = judged.exposed.get(name)
            && other.tool == exposed.tool
        {
            *exposed = other.clone();
        }
    }
}

fn drifted(drift: &Drift) -> (Level, &'static str, String, &'static str) {
    let message = format!(
        "it says otherwise now than the session was shown ({}); the list stays as it was, and calls of what changed are refused",
        drift.told()
    );
    let mend = "begin a new session to take it in, or set on_change = \"rebuild\" under [mcp] in your own config.toml: \
                the whole prefix is then written anew";
    (Level::Warning, "mcp-drift", message, mend)
}

fn event(
    server: &McpServer,
    change: ServerChange,
    tools: usize,
    hash: bindery_core::ContentHash,
    drift: Vec<Arc<str>>,
    reason: Option<&str>,
) -> Payload {
    ServerChanged {
        server: server.name.as_str().into(),
        change,
        tools: tools as u64,
        hash,
        drift,
        reason: reason.map(str::to_owned),
    }
    .into()
}

fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

impl Refresh for McpTools {
    fn refresh(&mut self, _: Moment<'_>) -> Result<Vec<Notice>, ProviderError> {
        Ok(Vec::new())
    }

    fn assembled(&mut self, session: &SessionState) -> Assembled {
        let mut state = self.0.lock();
        let rebuilt = std::mem::take(&mut state.rebuilt);
        let cost = session.usage().last.map_or(0, |usage| usage.input());
        let told = rebuilt.into_iter().filter(|_| cost > 0).map(|server| Notice {
            level: Level::Warning,
            code: "mcp-rebuilt".into(),
            at: Position::whole(source_name(&server)),
            message: format!(
                "its list takes the place of what the session was shown: about {cost} tokens are written anew with the next request"
            ),
            excerpt: None,
            mend: "set on_change = \"pin\" under [mcp] to keep lists for the session".to_owned(),
        });
        let told: Vec<Notice> = told.collect();
        let mut notices = std::mem::take(&mut state.notices);
        notices.extend(told);
        Assembled {
            notices,
            events: std::mem::take(&mut state.events),
        }
    }
}
