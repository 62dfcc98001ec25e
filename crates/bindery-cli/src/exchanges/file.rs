//! Requests in files: bodies, traces, transcripts, exported sessions.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use bindery_cache::{Diagnosis, TranscriptExchange, TranscriptKind, TranscriptReader};
use bindery_store::{Damage, MemoryStore, Store, import};
use serde_json::value::RawValue;

use super::{Sent, Take, of_transcript, session, warn};
use crate::status::UsageError;
use crate::terminal::Terminal;

/// The longest line that is read: longer than any request that a provider takes.
const LONGEST_LINE: u64 = 256 << 20;

/// How many lines that cannot be read are told one by one.
const MOST_TOLD: u64 = 20;

/// How many lines are looked at for the kind of a transcript.
const SNIFFED: usize = 16;

/// What the file of a session begins with.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Gives the requests of a file, in its order; `-` is standard input.
pub(super) fn each(path: &Path, terminal: &mut Terminal, take: &mut Take<'_>) -> anyhow::Result<()> {
    let shown = path.display().to_string();
    let mut input = open(path)?;
    let start = input.fill_buf().with_context(|| shown.clone())?;
    if start.starts_with(SQLITE) {
        let message =
            format!("{shown} is the file of a session: give the session's id, see `bindery log list`");
        return Err(UsageError(message).into());
    }
    if start.contains(&0) {
        return Err(UsageError(format!("{shown} is no text: it holds zero bytes")).into());
    }
    if path.as_os_str() != "-" && exported(path) {
        let store = MemoryStore::default();
        let report = import(path, &store, None, Damage::KeepReadable)?;
        for (line, what) in report.problems {
            warn(terminal, &format!("{shown}:{line}"), &what)?;
        }
        for info in store.list()?.sessions {
            session::each(&info.id, &*store.read(&info.id)?, terminal, take)?;
        }
        return Ok(());
    }
    // One body may span many lines; lines of a trace are each a body.
    let mut lines = Lines {
        input,
        number: 0,
        shown,
        lossy: Vec::new(),
    };
    let Some(first) = lines.next_line()? else {
        return Ok(());
    };
    if TranscriptKind::of_line(&first).is_none() && starts_a_value(&first) {
        return bodies(first, lines, terminal, take);
    }
    sniffed(first, lines, terminal, take)
}

/// Reads lines of the kind that the first of them tell; not every line does, and the first may be torn.
fn sniffed(
    first: String,
    mut lines: Lines,
    terminal: &mut Terminal,
    take: &mut Take<'_>,
) -> anyhow::Result<()> {
    let mut head = vec![(lines.number, first)];
    let told = |head: &[(u64, String)]| head.last().and_then(|(_, line)| TranscriptKind::of_line(line));
    while told(&head).is_none() && head.len() < SNIFFED {
        match lines.next_line()? {
            Some(line) => head.push((lines.number, line)),
            None => break,
        }
    }
    let kind = told(&head).unwrap_or(TranscriptKind::Trace);
    transcript(kind, head, lines, terminal, take)
}

fn open(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
}

/// Whether a file is an exported session.
fn exported(path: &Path) -> bool {
    first_line(path).is_ok_and(|line| line.contains("\"bindery_log\""))
}

/// The beginning of a file up to its first line break.
fn first_line(path: &Path) -> std::io::Result<String> {
    let mut line = Vec::new();
    BufReader::new(File::open(path)?.take(LONGEST_LINE)).read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// The lines of a file, with their numbers.
struct Lines {
    input: Box<dyn BufRead>,
    number: u64,
    shown: String,
    /// Lines that are no UTF-8, as long as nobody told.
    lossy: Vec<u64>,
}

/// What is told of a line that is no UTF-8.
const LOSSY: &str = "some bytes are no UTF-8; they are read as U+FFFD";

impl Lines {
    /// The next line that holds anything. Bytes that are not UTF-8 become U+FFFD, and the line is noted.
    fn next_line(&mut self) -> anyhow::Result<Option<String>> {
        loop {
            let mut line = Vec::new();
            let read = self
                .input
                .by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line);
            let read = read.with_context(|| self.shown.clone())?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if !line.trim_ascii().is_empty() {
                return Ok(Some(String::from_utf8(line).unwrap_or_else(|error| {
                    self.lossy.push(self.number);
                    String::from_utf8_lossy(error.as_bytes()).into_owned()
                })));
            }
        }
    }
}

/// Whether a line opens a value that goes on in the next.
fn starts_a_value(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches('\u{feff}');
    line.starts_with(['{', '['])
        && serde_json::from_str::<serde::de::IgnoredAny>(line).is_err_and(|e| e.is_eof())
        || line.starts_with('[')
}

/// A body over several lines, or a list of bodies.
fn bodies(
    first: String,
    mut lines: Lines,
    terminal: &mut Terminal,
    take: &mut Take<'_>,
) -> anyhow::Result<()> {
    let shown = lines.shown.clone();
    let mut rest = Vec::new();
    lines
        .input
        .read_to_end(&mut rest)
        .with_context(|| shown.clone())?;
    if !lines.lossy.is_empty() || std::str::from_utf8(&rest).is_err() {
        warn(terminal, &shown, LOSSY)?;
    }
    let text = first + &String::from_utf8_lossy(&rest);
    let text = text.trim_start_matches('\u{feff}').trim();
    let many: Result<Vec<Box<RawValue>>, _> = serde_json::from_str(text);
    let found = match many {
        Ok(found) => found,
        Err(_) => match serde_json::from_str::<Box<RawValue>>(text) {
            Ok(one) => vec![one],
            // Several lines, each on its own, the first of them torn.
            Err(_)
                if text
                    .lines()
                    .skip(1)
                    .any(|line| TranscriptKind::of_line(line).is_some()) =>
            {
                let mut lines = Lines {
                    input: Box::new(std::io::Cursor::new(text.to_owned().into_bytes())),
                    number: 0,
                    shown,
                    lossy: Vec::new(),
                };
                let first = lines.next_line()?.unwrap_or_default();
                return sniffed(first, lines, terminal, take);
            }
            Err(error) => {
                let place = format!("{shown}:{}", error.line());
                return warn(terminal, &place, &format!("no JSON: {error}"));
            }
        },
    };
    let mut reader = TranscriptReader::new(TranscriptKind::Trace);
    for (number, value) in (1..).zip(found) {
        for exchange in reader.line(number, value.get()) {
            let place = format!("{shown}[{}]", number - 1);
            let one = number == 1 && !text.starts_with('[');
            take(
                sent(number, if one { shown.clone() } else { place }, exchange),
                terminal,
            )?;
        }
        for problem in reader.problems() {
            warn(terminal, &shown, &problem.what)?;
        }
    }
    Ok(())
}

/// Lines that each are an event of a transcript or a request.
fn transcript(
    kind: TranscriptKind,
    head: Vec<(u64, String)>,
    mut lines: Lines,
    terminal: &mut Terminal,
    take: &mut Take<'_>,
) -> anyhow::Result<()> {
    let shown = lines.shown.clone();
    let mut reader = TranscriptReader::new(kind);
    let mut head = head.into_iter();
    let (mut number, mut told) = (0, 0_u64);
    loop {
        let line = match head.next() {
            Some(line) => Some(line),
            None => lines.next_line()?.map(|line| (lines.number, line)),
        };
        for line in lines.lossy.drain(..) {
            warn(terminal, &format!("{shown}:{line}"), LOSSY)?;
        }
        let (exchanges, over) = match &line {
            Some((at, line)) => (reader.line(*at, line.trim_start_matches('\u{feff}')), false),
            None => (reader.finish(), true),
        };
        for exchange in exchanges {
            number += 1;
            let place = format!("{shown}:{}", exchange.line);
            take(sent(number, place, exchange), terminal)?;
        }
        for problem in reader.problems() {
            told += 1;
            if told <= MOST_TOLD {
                warn(terminal, &format!("{shown}:{}", problem.line), &problem.what)?;
            }
        }
        if over {
            if told > MOST_TOLD {
                let more = format!("{} more lines that cannot be read", told - MOST_TOLD);
                warn(terminal, &shown, &more)?;
            }
            return Ok(());
        }
    }
}

/// The exchanges and problems of a transcript, for those who keep it.
pub(crate) fn transcript_lines(
    path: &Path,
    kind: TranscriptKind,
    mut seen: impl FnMut(Result<TranscriptExchange, (u64, String)>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut lines = Lines {
        input: open(path)?,
        number: 0,
        shown: path.display().to_string(),
        lossy: Vec::new(),
    };
    let mut reader = TranscriptReader::new(kind);
    while let Some(line) = lines.next_line()? {
        for line in lines.lossy.drain(..) {
            seen(Err((line, LOSSY.to_owned())))?;
        }
        for exchange in reader.line(lines.number, line.trim_start_matches('\u{feff}')) {
            seen(Ok(exchange))?;
        }
        for problem in reader.problems() {
            seen(Err((problem.line, problem.what)))?;
        }
    }
    for exchange in reader.finish() {
        seen(Ok(exchange))?;
    }
    Ok(())
}

fn sent(number: u64, place: String, exchange: TranscriptExchange) -> Sent {
    let (reply, usage) = of_transcript(&exchange);
    let diagnosis = exchange.diagnosis.as_deref().or(exchange.response.as_deref());
    let session = match (&exchange.session, &exchange.agent) {
        (Some(session), Some(agent)) => Some(Arc::from(format!("{session}/{agent}"))),
        (session, agent) => session.clone().or_else(|| agent.clone()),
    };
    Sent {
        number,
        place,
        at_ms: exchange.at_ms,
        began_ms: exchange.began_ms,
        format: Some(exchange.format),
        body: exchange.body.into_bytes().into(),
        route: exchange.route.unwrap_or_default(),
        session,
        usage,
        response_id: exchange
            .response_id
            .or_else(|| reply.as_ref()?.id.as_deref().map(Into::into)),
        diagnosis: diagnosis.and_then(Diagnosis::read),
        unknown: exchange.unknown.iter().map(|what| Arc::from(*what)).collect(),
        failed: None,
        between: Vec::new(),
    }
}
