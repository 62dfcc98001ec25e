//! Requests explained, and what they come to together.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use bindery::{TokenCount, Usage};
use bindery_cache::{Cost, Format, MeterRow, Money, Why};

use crate::exchanges::{Sent, Subject};
use crate::layout::{fit, folded, thousands};
use crate::status::UsageError;
use crate::terminal::{Terminal, printable};

/// One request with its explanation.
pub(super) struct Explained {
    pub(super) number: u64,
    pub(super) place: String,
    pub(super) at_ms: Option<u64>,
    pub(super) session: Option<Arc<str>>,
    pub(super) model: String,
    pub(super) format: Format,
    /// All its input tokens, as counted here.
    pub(super) total: u64,
    /// The number of the request it is compared with.
    pub(super) compared_with: Option<u64>,
    pub(super) unknown: Vec<Arc<str>>,
    /// What happened to servers of tools since the request before it.
    pub(super) between: Vec<String>,
    /// Where its tokens are, if that was asked for.
    pub(super) meter: Vec<MeterRow>,
    pub(super) why: Why,
}

/// All of a subject.
#[derive(Default)]
pub(super) struct Account {
    pub(super) requests: Vec<Explained>,
    /// Requests that failed, by number, and how: no cache has seen them.
    pub(super) failed: Vec<(u64, String)>,
    /// Whether times had to be made up.
    pub(super) untimed: bool,
}

impl Explained {
    /// What was used: reported, else predicted.
    pub(super) fn used(&self) -> Usage {
        self.why.reported.unwrap_or(self.why.predicted)
    }

    /// A count in the way that its exactness allows.
    pub(super) fn count(&self, tokens: u64) -> String {
        let exact = self.why.exact || self.why.reported.is_some();
        let count = if exact {
            TokenCount::exact(tokens)
        } else {
            TokenCount::estimate(tokens)
        };
        thousands(count)
    }
}

impl Account {
    pub(super) fn add(&mut self, sent: Sent, model: String, format: Format, total: u64, why: Why) {
        let compared_with = why
            .predecessor
            .and_then(|before| self.requests.get(before.number))
            .map(|before| before.number);
        self.requests.push(Explained {
            number: sent.number,
            place: sent.place,
            at_ms: sent.at_ms,
            session: sent.session,
            model,
            format,
            total,
            compared_with,
            unknown: sent.unknown,
            between: sent.between,
            meter: Vec::new(),
            why,
        });
    }

    /// Adds to the last request where its tokens are.
    pub(super) fn metered(&mut self, meter: Vec<MeterRow>) {
        if let Some(last) = self.requests.last_mut() {
            last.meter = meter;
        }
    }

    pub(super) fn request(&self, number: u64, subject: &Subject) -> anyhow::Result<&Explained> {
        let found = self.requests.iter().find(|request| request.number == number);
        found.ok_or_else(|| {
            let failed = self.failed.iter().find(|(of, _)| *of == number);
            let message = match failed {
                Some((_, how)) => format!("request {number} failed ({how}): no cache has seen it"),
                None => format!(
                    "{} has no request {number}; the last is {}",
                    subject.shown(),
                    self.requests.last().map_or(0, |last| last.number)
                ),
            };
            UsageError(message).into()
        })
    }

    /// The request that lost most money; where there is no price, most tokens.
    pub(super) fn worst(&self) -> Option<&Explained> {
        let lost = |request: &&Explained| (request.why.lost.extra, request.why.lost.tokens);
        // Of equal ones the first.
        self.requests.iter().rev().max_by_key(lost)
    }

    pub(super) fn used(&self) -> Usage {
        self.requests.iter().map(Explained::used).sum()
    }

    pub(super) fn cost(&self) -> Cost {
        self.requests.iter().filter_map(|request| request.why.cost).sum()
    }

    pub(super) fn lost(&self) -> (u64, Money) {
        let requests = self.requests.iter();
        let tokens = requests.clone().map(|request| request.why.lost.tokens).sum();
        (
            tokens,
            requests.filter_map(|request| request.why.lost.extra).sum(),
        )
    }

    /// The line above everything.
    pub(super) fn heading(&self, subject: &str, width: usize) -> String {
        let models: BTreeSet<&str> = self.requests.iter().map(|request| &*request.model).collect();
        let models: Vec<&str> = models.into_iter().collect();
        let number = self.requests.len();
        let requests = if number == 1 { "request" } else { "requests" };
        let end = format!(" · {} · {number} {requests}", printable(&models.join(", ")));
        let room = width.saturating_sub(end.chars().count()).max(12);
        format!("{}{end}", fit(&printable(subject), room))
    }

    /// What has to be known of all of it, on stderr.
    pub(super) fn tell_notes(&self, terminal: &mut Terminal) -> anyhow::Result<()> {
        let mut notes = Vec::new();
        if self.untimed {
            notes.push("no times are recorded: requests are taken to be a second apart".to_owned());
        }
        let mut unknown: Vec<&str> = Vec::new();
        for what in self.requests.iter().flat_map(|request| &request.unknown) {
            if !unknown.contains(&&**what) {
                unknown.push(what);
            }
        }
        if !unknown.is_empty() {
            notes.push(format!(
                "not in the transcript, so unknown: {}",
                unknown.join("; ")
            ));
        }
        if let Some((number, how)) = self.failed.first() {
            let more = match self.failed.len() {
                1 => String::new(),
                many => format!(" and {} more", many - 1),
            };
            notes.push(format!("request {number}{more} failed ({how}) and is left out"));
        }
        for note in notes {
            writeln!(
                terminal.err,
                "{}",
                folded(&format!("note      {}", printable(&note)), terminal.width)
            )?;
        }
        Ok(())
    }
}
