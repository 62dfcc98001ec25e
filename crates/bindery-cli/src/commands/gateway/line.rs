//! A line for each request, as it ends.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use anstyle::AnsiColor;
use bindery::Usage;
use bindery_cache::Why;
use bindery_gateway::{Kept, Observer, Outcome, Problem, Summary};
use serde_json::{Value, json};

use crate::commands::why::summary;
use crate::terminal::{Palette, Terminal, printable};

/// How much of a session's name is shown.
const SESSION: usize = 8;

/// Writes lines to stdout, and problems to stderr. Who stops reading stops nothing.
pub(super) struct Lines {
    json: bool,
    palette: Palette,
    err_palette: Palette,
    totals: Totals,
}

/// What passed, added up.
#[derive(Debug, Clone, Default)]
pub(super) struct Totals(Arc<Mutex<Sum>>);

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    requests: u64,
    usage: Usage,
    lost: u64,
}

impl Totals {
    fn sum(&self) -> std::sync::MutexGuard<'_, Sum> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn shown(&self) -> String {
        let Sum {
            requests,
            usage,
            lost,
        } = *self.sum();
        let plural = if requests == 1 { "" } else { "s" };
        let lost = match lost {
            0 => String::new(),
            lost => format!("; {lost} not recorded"),
        };
        format!("{requests} request{plural}: {}{lost}", tokens(&usage))
    }
}

impl Lines {
    pub(super) fn new(json: bool, terminal: &Terminal) -> Self {
        Self {
            json,
            palette: terminal.palette,
            err_palette: terminal.err_palette,
            totals: Totals::default(),
        }
    }

    pub(super) fn totals(&self) -> Totals {
        self.totals.clone()
    }
}

impl Observer for Lines {
    fn seen(&mut self, summary: &Summary) {
        {
            let mut sum = self.totals.sum();
            sum.requests += 1;
            sum.usage += summary.usage.unwrap_or_default();
            sum.lost += u64::from(matches!(summary.kept, Kept::Lost(_)));
        }
        let line = if self.json {
            in_json(summary).to_string()
        } else {
            self.for_people(summary)
        };
        // Whoever closed stdout does not want lines; the requests go on.
        let _unread = writeln!(io::stdout(), "{line}");
    }

    fn problem(&mut self, problem: &Problem) {
        if let Problem::Missed { exchanges } = problem {
            let mut sum = self.totals.sum();
            sum.requests += exchanges;
            sum.lost += exchanges;
        }
        let yellow = AnsiColor::Yellow.on_default().bold();
        let label = self.err_palette.paint(yellow, "warning");
        let _unread = writeln!(io::stderr(), "{label}: {}", printable(&problem.to_string()));
    }
}

impl Lines {
    fn for_people(&self, summary: &Summary) -> String {
        let mut parts = vec![who(summary)];
        let failed = summary.status.is_some_and(|status| status >= 400);
        match (&summary.usage, summary.counted) {
            (Some(usage), _) => parts.push(tokens(usage)),
            (None, Some(counted)) => parts.push(format!("counted {}", short(counted))),
            (None, None) => {
                let status = summary
                    .status
                    .map(|status| format!(" {status}"))
                    .unwrap_or_default();
                parts.push(format!("{} {}{status}", summary.method, summary.path));
            }
        }
        match &summary.outcome {
            Outcome::Answered => {}
            Outcome::ClientGone => parts.push("the client went away".to_owned()),
            Outcome::Stopped => parts.push("the gateway was stopped".to_owned()),
            Outcome::Failed(message) => parts.push(message.clone()),
            Outcome::Refused(message) => parts.push(format!("not let in: {message}")),
        }
        if let Some(why) = &summary.why {
            parts.push(reason(why));
        }
        parts.extend(summary.notes.iter().cloned());
        match &summary.kept {
            Kept::PassedThrough => parts.push("passed through, body not recorded".to_owned()),
            Kept::Lost(why) => parts.push(format!("not recorded: {why}")),
            Kept::Logged(_) | Kept::NotAsked => {}
        }
        let line = printable(&parts.join(" · "));
        let broken = failed || matches!(summary.outcome, Outcome::Failed(_));
        let missed = summary.why.as_ref().is_some_and(|why| why.lost.tokens > 0);
        match (broken, missed) {
            (true, _) => self.palette.paint(AnsiColor::Red.on_default(), &line),
            (_, true) => self.palette.paint(AnsiColor::Yellow.on_default(), &line),
            _ => line,
        }
    }
}

fn who(summary: &Summary) -> String {
    let client = summary.client.as_deref().unwrap_or("unknown");
    let name = client.split('/').next().unwrap_or(client);
    let mut out = format!("#{} {name}", summary.number);
    if let Some(session) = &summary.session {
        out.push(' ');
        out.extend(session.chars().take(SESSION));
    }
    if let Some(number) = summary.conversation {
        out.push_str(" ~");
        out.push_str(&number.to_string());
    }
    if let Some(model) = &summary.model {
        out.push(' ');
        out.push_str(model);
    }
    out
}

/// `read 18.2k · wrote 0.4k · plain 0.1k · hit 97 %`.
fn tokens(usage: &Usage) -> String {
    let input = usage.input();
    let hit = usage.read.saturating_mul(100).checked_div(input).unwrap_or(0);
    format!(
        "read {} · wrote {} · plain {} · hit {hit} %",
        short(usage.read),
        short(usage.written()),
        short(usage.uncached)
    )
}

/// A count in thousands, to a tenth.
fn short(tokens: u64) -> String {
    let tenths = tokens.saturating_add(50) / 100;
    match tokens {
        0..=49 => tokens.to_string(),
        _ => format!("{}.{}k", tenths / 10, tenths % 10),
    }
}

/// Why, in a few words.
fn reason(why: &Why) -> String {
    match why.lost.tokens {
        0 => summary(why),
        lost => format!("{}, {} lost", summary(why), short(lost)),
    }
}

fn in_json(summary: &Summary) -> Value {
    let (outcome, message) = match &summary.outcome {
        Outcome::Answered => ("answered", None),
        Outcome::ClientGone => ("client_gone", None),
        Outcome::Stopped => ("stopped", None),
        Outcome::Failed(message) => ("failed", Some(message)),
        Outcome::Refused(message) => ("refused", Some(message)),
    };
    let (kept, log) = match &summary.kept {
        Kept::Logged(id) => ("logged", Some(id.as_str())),
        Kept::NotAsked => ("not_asked", None),
        Kept::PassedThrough => ("passed_through", None),
        Kept::Lost(why) => ("lost", Some(why.as_str())),
    };
    json!({
        "number": summary.number, "at_ms": summary.at_ms, "elapsed_ms": summary.elapsed_ms,
        "client": summary.client.as_deref(), "session": summary.session.as_deref(),
        "conversation": summary.conversation, "method": summary.method,
        "path": summary.path, "model": summary.model.as_deref(), "status": summary.status, "outcome": outcome,
        "message": message, "usage": summary.usage, "origin": summary.origin, "counted": summary.counted,
        "why": summary.why, "kept": kept, "log": log, "notes": summary.notes,
    })
}
