//! `bindery import`: what agents keep on disk, as session logs.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use bindery::log::{
    BodyWriter, Draft, ExchangeEnded, ExchangeOutcome, ExchangeStarted, Json, SessionStarted, UsageOrigin,
};
use bindery_cache::{TranscriptExchange, TranscriptKind};
use bindery_store::{Journal, SessionId, SqliteStore};
use clap::{Args, ValueEnum};
use serde_json::json;
use serde_json::value::RawValue;

use crate::exchanges::{of_transcript, transcript_lines, warn};
use crate::layout::folded;
use crate::sessions;
use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};

/// How many events are written at a time.
const BATCH: usize = 64;
/// How many lines that cannot be read are told one by one.
const MOST_TOLD: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Transcripts of Claude Code, as they lie under ~/.claude/projects
    ClaudeCode,
    /// Rollouts of Codex, as they lie under ~/.codex/sessions
    Codex,
    /// Requests, one a line
    Jsonl,
}

/// Read transcripts into session logs.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all was read, 1 something was passed over, 2 wrong usage, 3 a failure outside."
)]
pub(crate) struct ImportArgs {
    /// Who wrote them
    #[arg(value_enum)]
    kind: Kind,
    /// A file, or a directory whose `.jsonl` files are read, those in directories below it too
    path: PathBuf,
    /// The new session; for a single file. Without it, the session's id in the file
    #[arg(long, value_name = "ID")]
    to: Option<String>,
    /// One line of JSON for each file
    #[arg(long)]
    json: bool,
}

/// What a file gave.
#[derive(Default)]
struct Report {
    sessions: BTreeMap<SessionId, u64>,
    /// Sessions that are there already.
    known: Vec<SessionId>,
    problems: Vec<(u64, String)>,
    unknown: Vec<&'static str>,
}

pub(crate) fn run(args: &ImportArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let files = files(&args.path)?;
    if args.to.is_some() && files.len() != 1 {
        let message = format!("--to names one session, and there are {} files", files.len());
        return Err(UsageError(message).into());
    }
    let to = args.to.as_deref().map(sessions::parse).transpose()?;
    let store = sessions::store()?;
    let mut status = Status::Success;
    for file in &files {
        let report = match one_file(args.kind, file, to.as_ref(), &store) {
            Ok(report) => report,
            // One file that cannot be read does not keep the others from being read.
            Err(error) if files.len() > 1 && !error.is::<UsageError>() => {
                warn(terminal, &file.display().to_string(), &format!("{error:#}"))?;
                status = Status::Finding;
                continue;
            }
            Err(error) => return Err(error),
        };
        if !tell(file, &report, args.json, terminal)? {
            status = Status::Finding;
        }
    }
    if files.is_empty() {
        return Err(UsageError(format!("{} holds no .jsonl file", args.path.display())).into());
    }
    Ok(status)
}

/// The files of a path, in the order of their names.
fn files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        if !path.exists() {
            return Err(UsageError(format!("{} does not exist", path.display())).into());
        }
        return Ok(vec![path.to_owned()]);
    }
    let mut out = Vec::new();
    // Links are not followed: a loop would never end.
    let walk = ignore::WalkBuilder::new(path)
        .standard_filters(false)
        .sort_by_file_name(Ord::cmp)
        .build();
    for entry in walk {
        let entry = entry.with_context(|| format!("looking through {}", path.display()))?;
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if is_file && entry.path().extension().is_some_and(|ending| ending == "jsonl") {
            out.push(entry.into_path());
        }
    }
    Ok(out)
}

fn one_file(kind: Kind, file: &Path, to: Option<&SessionId>, store: &SqliteStore) -> anyhow::Result<Report> {
    let transcript = match kind {
        Kind::ClaudeCode => TranscriptKind::ClaudeCode,
        Kind::Codex => TranscriptKind::Codex,
        Kind::Jsonl => TranscriptKind::Trace,
    };
    let mut report = Report::default();
    let mut writers: BTreeMap<SessionId, Option<Writer>> = BTreeMap::new();
    let fallback = id_of(&file.file_stem().unwrap_or_default().to_string_lossy())?;
    transcript_lines(file, transcript, |read| {
        let exchange = match read {
            Ok(exchange) => exchange,
            Err(problem) => {
                report.problems.push(problem);
                return Ok(());
            }
        };
        let id = match (to, exchange.session.as_deref()) {
            (Some(id), _) => id.clone(),
            (None, Some(name)) => id_of(name)?,
            (None, None) => fallback.clone(),
        };
        let writer = match writers.entry(id.clone()) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(new) => {
                let writer = Writer::open(store, &id, &exchange)?;
                if writer.is_none() {
                    report.known.push(id.clone());
                }
                new.insert(writer)
            }
        };
        for what in exchange.unknown {
            if !report.unknown.contains(what) {
                report.unknown.push(what);
            }
        }
        if let Some(writer) = writer {
            writer.exchange(exchange)?;
            *report.sessions.entry(id).or_default() += 1;
        }
        Ok(())
    })?;
    for writer in writers.into_values().flatten() {
        writer.close()?;
    }
    Ok(report)
}

/// A session id from a name of another program: what it may not hold becomes `-`.
fn id_of(name: &str) -> anyhow::Result<SessionId> {
    let plain: String = name
        .to_lowercase()
        .chars()
        .map(|c| {
            if c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c) {
                c
            } else {
                '-'
            }
        })
        .take(100)
        .collect();
    let plain = plain.trim_start_matches(['-', '_', '.']);
    plain.parse().or_else(|_| {
        // A name without a letter.
        let hash = bindery::ContentHash::of(name.as_bytes()).short();
        Ok(format!("import-{hash}").parse()?)
    })
}

/// Writes exchanges into one session.
struct Writer {
    journal: Journal,
    bodies: BodyWriter,
    drafts: Vec<Draft>,
    last_ms: u64,
}

impl Writer {
    /// A new session; `None` where there is one of this id.
    fn open(store: &SqliteStore, id: &SessionId, first: &TranscriptExchange) -> anyhow::Result<Option<Self>> {
        if store.path(id).exists() {
            return Ok(None);
        }
        let at_ms = first.at_ms.unwrap_or(0);
        let owner = format!("`bindery import`, process {}", std::process::id());
        let mut journal = Journal::create(store, id, at_ms, &owner)?;
        let started = SessionStarted {
            program: first.client.clone().unwrap_or_else(|| "unknown".into()),
            directory: None,
            forked_from: None,
            sent_by: None,
        };
        journal.commit(vec![Draft::new(at_ms, started)])?;
        Ok(Some(Self {
            journal,
            bodies: BodyWriter::default(),
            drafts: Vec::new(),
            last_ms: at_ms,
        }))
    }

    fn exchange(&mut self, exchange: TranscriptExchange) -> anyhow::Result<()> {
        let at_ms = exchange.at_ms.unwrap_or(self.last_ms + 1_000);
        self.last_ms = at_ms;
        let seq = (0..self.drafts.len()).fold(self.journal.state().next_seq(), |seq, _| seq.next());
        let body = self.bodies.record(exchange.body.as_bytes());
        let (reply, usage) = of_transcript(&exchange);
        let reported = exchange.reported.as_deref();
        let json = |text: &str| Json::try_from(RawValue::from_string(text.to_owned()).ok()?).ok();
        let ended = ExchangeEnded {
            exchange: seq,
            outcome: ExchangeOutcome::Answered,
            status: None,
            began_ms: exchange.began_ms,
            elapsed_ms: None,
            response_id: exchange
                .response_id
                .or_else(|| reply.as_ref()?.id.as_deref().map(Arc::from)),
            request_id: exchange.request_id,
            usage,
            origin: usage.map(|_| UsageOrigin::Provider),
            reported: reported.and_then(json),
            diagnosis: exchange.diagnosis.as_deref().and_then(json),
            response: None,
        };
        let model = serde_json::from_str::<Model>(&exchange.body)
            .ok()
            .and_then(|body| body.model);
        let started = ExchangeStarted {
            client: exchange.client,
            agent: exchange.agent,
            format: exchange.format.name().into(),
            route: exchange.route.unwrap_or_default(),
            path: "".into(),
            model: model.map(Into::into),
            headers: BTreeMap::new(),
            body,
            unknown: exchange.unknown.iter().map(|what| Arc::from(*what)).collect(),
        };
        self.drafts.push(Draft::new(at_ms, started));
        self.drafts.push(Draft::new(at_ms, ended));
        if self.drafts.len() >= BATCH {
            self.journal.commit(std::mem::take(&mut self.drafts))?;
        }
        Ok(())
    }

    fn close(mut self) -> anyhow::Result<()> {
        self.journal.commit(std::mem::take(&mut self.drafts))?;
        Ok(())
    }
}

/// What is needed of a body.
#[derive(serde::Deserialize)]
struct Model {
    model: Option<String>,
}

/// Tells what a file gave; whether all of it was read.
fn tell(file: &Path, report: &Report, json: bool, terminal: &mut Terminal) -> anyhow::Result<bool> {
    let shown = file.display().to_string();
    for (line, what) in report.problems.iter().take(MOST_TOLD) {
        warn(terminal, &format!("{shown}:{line}"), what)?;
    }
    if report.problems.len() > MOST_TOLD {
        let more = format!(
            "{} more lines that cannot be read",
            report.problems.len() - MOST_TOLD
        );
        warn(terminal, &shown, &more)?;
    }
    for id in &report.known {
        warn(
            terminal,
            &shown,
            &format!("session {id} is there already; `--to ID` reads it into another"),
        )?;
    }
    let whole = report.problems.is_empty() && report.known.is_empty();
    if json {
        let line = json!({
            "file": shown,
            "sessions": report.sessions.iter().map(|(id, exchanges)| json!({"session": id, "requests": exchanges})).collect::<Vec<_>>(),
            "known": report.known,
            "unknown": report.unknown,
            "problems": report.problems.iter().map(|(line, what)| json!({"line": line, "what": what})).collect::<Vec<_>>(),
        });
        writeln!(terminal.out, "{line}")?;
        return Ok(whole);
    }
    for (id, exchanges) in &report.sessions {
        let requests = if *exchanges == 1 { "request" } else { "requests" };
        writeln!(
            terminal.out,
            "session {id}: {exchanges} {requests}, from {}",
            printable(&shown)
        )?;
    }
    if report.sessions.is_empty() && report.known.is_empty() {
        writeln!(
            terminal.err,
            "note      {} holds no request that was answered",
            printable(&shown)
        )?;
    }
    if !report.sessions.is_empty() && !report.unknown.is_empty() {
        let line = format!(
            "note      not in the transcript, so unknown: {}",
            report.unknown.join("; ")
        );
        writeln!(terminal.err, "{}", folded(&line, terminal.width))?;
    }
    Ok(whole)
}
