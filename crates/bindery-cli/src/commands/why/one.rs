//! One request explained, for people.

use std::io::Write;

use anstyle::AnsiColor;
use bindery::Usage;
use bindery_cache::why::{Change, ChangeKind, Relation};
use bindery_cache::{Diagnosis, SettingChange, Verdict};

use super::account::Explained;
use super::table::grouped;
use super::{is_mendable, is_miss, table};
use crate::layout::{fit, fit_start, folded};
use crate::sessions;
use crate::terminal::{Terminal, printable};

/// How much of a setting's value is shown.
const VALUE: usize = 60;

pub(super) fn write(request: &Explained, terminal: &mut Terminal) -> anyhow::Result<()> {
    let why = &request.why;
    let style = match (is_mendable(&why.verdict), is_miss(&why.verdict)) {
        (true, _) => AnsiColor::Red.on_default().bold(),
        (false, true) => AnsiColor::Yellow.on_default().bold(),
        _ => AnsiColor::Green.on_default().bold(),
    };
    let verdict = terminal
        .palette
        .paint(style, &printable(&fit(&table::summary(why), terminal.width - 14)));
    writeln!(terminal.out, "request {}  {verdict}", request.number)?;
    let mut lines: Vec<(&str, String)> = Vec::new();
    lines.push(("where", request.place.clone()));
    if let Some(at_ms) = request.at_ms {
        lines.push(("sent", format!("{} UTC", sessions::moment(at_ms))));
    }
    if let (Some(number), Some(before)) = (request.compared_with, why.predecessor) {
        lines.push((
            "compared",
            format!("with request {number}, {}", relation(before.relation)),
        ));
    }
    lines.extend(request.between.iter().map(|what| ("between", what.clone())));
    lines.extend(reason(request));
    if let Some(change) = &why.change {
        lines.push(("changed", place(change)));
    }
    for (label, text) in lines.drain(..) {
        line(label, &text, terminal)?;
    }
    if let Some(change) = &why.change {
        diff(change, terminal)?;
    }
    lines.extend(numbers(request));
    if let Some(advice) = &why.advice {
        lines.push(("avoid", format!("{} ({})", advice.text, advice.code)));
    }
    if let Some(answer) = &why.provider {
        let agrees = match answer.agrees {
            Some(true) => "; that agrees",
            Some(false) => "; that disagrees with the above",
            None => "",
        };
        lines.push(("provider", format!("{}{agrees}", said(&answer.diagnosis))));
    }
    lines.extend(why.notes.iter().map(|note| ("note", note.clone())));
    for (label, text) in lines {
        line(label, &text, terminal)?;
    }
    Ok(())
}

fn line(label: &str, text: &str, terminal: &mut Terminal) -> anyhow::Result<()> {
    let text = printable(text);
    writeln!(
        terminal.out,
        "{}",
        folded(&format!("{label:<10}{text}"), terminal.width)
    )?;
    Ok(())
}

/// What the verdict itself knows.
fn reason(request: &Explained) -> Vec<(&'static str, String)> {
    match &request.why.verdict {
        Verdict::Expired { idle_ms, ttl } => {
            let lived = ttl.map_or_else(
                || "the provider promises nothing".to_owned(),
                |ttl| format!("it lives {}", ttl.name()),
            );
            vec![("unused", format!("for {}; {lived}", pause(*idle_ms)))]
        }
        Verdict::SettingsChanged { changes } => changes
            .iter()
            .map(|change| ("setting", setting(change)))
            .collect(),
        Verdict::KeyOrRouteChanged { what, old, new } => {
            let value = |value: &str| {
                if value.is_empty() {
                    "none".to_owned()
                } else {
                    fit(value, VALUE)
                }
            };
            vec![("setting", format!("{what}: {} → {}", value(old), value(new)))]
        }
        Verdict::Refused { refusal } => vec![("refused", refusal.to_string())],
        _ => Vec::new(),
    }
}

fn setting(change: &SettingChange) -> String {
    let value = |value: Option<&str>| value.map_or_else(|| "not set".to_owned(), |value| fit(value, VALUE));
    format!(
        "{}: {} → {}",
        change.name,
        value(change.old.as_deref()),
        value(change.new.as_deref())
    )
}

fn place(change: &Change) -> String {
    let region = match change.region {
        bindery_cache::Region::Tools => "tools",
        bindery_cache::Region::System => "system prompt",
        bindery_cache::Region::Messages => "messages",
    };
    let mut out = format!(
        "{} {}, in the {region}, byte {} of the body",
        change.fragment,
        kind(change.kind),
        grouped(change.offset as u64)
    );
    if let Some(server) = &change.server {
        out += "; of the MCP server ";
        out += server;
    }
    if change.also.len() > 1 {
        let shown: Vec<&str> = change.also.iter().take(8).map(String::as_str).collect();
        let more = change.also.len().saturating_sub(shown.len());
        out += "; with it ";
        out += &shown.join(" ");
        if more > 0 {
            out += " and ";
            out += &more.to_string();
            out += " more";
        }
    }
    out
}

fn diff(change: &Change, terminal: &mut Terminal) -> anyhow::Result<()> {
    for text in change.diff.lines() {
        let text = fit_start(&printable(text), terminal.width - 10);
        let color = if text.starts_with('-') {
            AnsiColor::Red
        } else {
            AnsiColor::Green
        };
        let text = terminal.palette.paint(color.on_default(), &text);
        writeln!(terminal.out, "{:<10}{text}", "")?;
    }
    Ok(())
}

/// Reported beside predicted, what was lost, what it cost.
fn numbers(request: &Explained) -> Vec<(&'static str, String)> {
    let why = &request.why;
    let mut out = Vec::new();
    let classes = |usage: &Usage| {
        let plain = if usage.generated() > 0 {
            format!(" · answered {}", grouped(usage.generated()))
        } else {
            String::new()
        };
        format!(
            "read {} · written {} · plain {}{plain}",
            grouped(usage.read),
            grouped(usage.written()),
            grouped(usage.uncached)
        )
    };
    if let Some(reported) = &why.reported {
        out.push(("reported", classes(reported)));
    }
    let estimate = if why.exact { "" } else { " (by estimated tokens)" };
    out.push(("predicted", format!("{}{estimate}", classes(&why.predicted))));
    if let Some(mismatch) = why.mismatch {
        let (sign, size) = (
            if mismatch < 0 { "fewer" } else { "more" },
            mismatch.unsigned_abs(),
        );
        out.push((
            "mismatch",
            format!("{} tokens {sign} were read than the rules predict", grouped(size)),
        ));
    }
    let lost = &why.lost;
    if lost.tokens > 0 {
        let mut parts = Vec::new();
        if lost.rewritten > 0 {
            parts.push(format!("{} written again", request.count(lost.rewritten)));
        }
        if lost.in_full > 0 {
            parts.push(format!("{} paid in full", request.count(lost.in_full)));
        }
        let extra = lost.extra.map_or_else(
            || "; no price is known for this model".to_owned(),
            |extra| format!("; {extra} more than reading them"),
        );
        let how = if parts.is_empty() {
            String::new()
        } else {
            format!(": {}", parts.join(", "))
        };
        out.push((
            "lost",
            format!(
                "{} of {} tokens{how}{extra}",
                request.count(lost.tokens),
                request.count(why.expected.max(lost.tokens))
            ),
        ));
    }
    if let Some(cost) = &why.cost {
        out.push((
            "cost",
            format!(
                "{}: read {} · written {} · plain {} · answered {}",
                cost.total(),
                cost.read,
                cost.written,
                cost.uncached,
                cost.output
            ),
        ));
    }
    out
}

fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::SameConversation => "the same conversation",
        Relation::SameAgent => "the same agent",
        Relation::SharedPrefix => "which begins alike",
    }
}

/// What happened to a fragment, in a word.
pub(super) fn kind(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Changed => "changed",
        ChangeKind::Reordered => "reordered",
        ChangeKind::Moved => "moved",
        ChangeKind::Extended => "extended",
        ChangeKind::Stripped => "stripped",
    }
}

fn said(diagnosis: &Diagnosis) -> String {
    match diagnosis {
        Diagnosis::NoDivergence => "says that the two requests do not part".to_owned(),
        Diagnosis::Pending => "had no answer yet".to_owned(),
        Diagnosis::Miss { reason, tokens } => {
            let tokens = tokens.map_or_else(String::new, |tokens| {
                format!(", {} tokens missed", grouped(tokens))
            });
            format!("says `{reason}`{tokens}")
        }
        Diagnosis::NotFound => "does not know the response to compare with".to_owned(),
        Diagnosis::Unavailable => "cannot tell".to_owned(),
    }
}

/// A time span in the largest unit that says something.
pub(super) fn pause(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
