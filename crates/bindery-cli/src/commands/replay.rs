//! `bindery replay`: the requests of a session, rebuilt from its log alone.

use std::io::Write;

use bindery::log::AttemptOutcome;
use bindery_agent::replay::{self, Differs, Verified, Which};
use bindery_store::{LogReader, SessionId, Store};
use clap::Args;
use serde_json::json;

use crate::sessions;
use crate::status::{Status, UsageError};
use crate::terminal::Terminal;

/// Rebuild the requests of a session.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The session
    #[arg(value_name = "SESSION")]
    session: String,
    /// Rebuild every request and compare it with the hash stored when it was sent
    #[arg(long, required_unless_present = "at", conflicts_with = "at")]
    verify: bool,
    /// Print request N (from 1, or `last`) as it was sent, byte for byte; also one that failed
    #[arg(long, value_name = "N", value_parser = which)]
    at: Option<Which>,
    /// The result of `--verify` as JSON
    #[arg(long, requires = "verify")]
    json: bool,
}

pub(crate) fn run(args: &ReplayArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let id = sessions::parse(&args.session)?;
    let log = sessions::store()?.read(&id)?;
    if let Some(which) = args.at {
        return print(&id, &*log, which, terminal);
    }
    let verified = replay::verify(&*log)?;
    if args.json {
        writeln!(terminal.out, "{}", page(&args.session, &verified))?;
    } else {
        tell(&verified, terminal)?;
    }
    Ok(if verified.differences.is_empty() {
        Status::Success
    } else {
        Status::Finding
    })
}

fn which(text: &str) -> Result<Which, &'static str> {
    match text.parse() {
        _ if text == "last" => Ok(Which::Last),
        Ok(0) | Err(_) => Err("requests are numbered from 1; the last one is `last`"),
        Ok(number) => Ok(Which::Number(number)),
    }
}

fn print(
    id: &SessionId,
    log: &dyn LogReader,
    which: Which,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let Some(rebuilt) = replay::request(log, which)? else {
        let missing = match which {
            Which::Number(number) => format!("session `{id}` has no request {number}"),
            Which::Last => format!("session `{id}` has no request"),
        };
        return Err(UsageError(missing).into());
    };
    let rebuilt = rebuilt?;
    terminal.out.write_all(&rebuilt.body)?;
    if terminal.interactive {
        writeln!(terminal.out)?;
    }
    let number = rebuilt.number;
    let unanswered = match replay::outcome(log, rebuilt.seq)? {
        Some(AttemptOutcome::Answered) => return Ok(Status::Success),
        Some(AttemptOutcome::Failed { code, message, .. }) => format!("failed: {code}: {message}"),
        Some(AttemptOutcome::Aborted) => "was cancelled".to_owned(),
        Some(AttemptOutcome::Interrupted) => "was interrupted: its process was gone".to_owned(),
        None => "has no end in the log".to_owned(),
    };
    writeln!(terminal.err, "request {number} {unanswered}")?;
    Ok(Status::Success)
}

fn tell(verified: &Verified, terminal: &mut Terminal) -> anyhow::Result<()> {
    let Verified {
        requests,
        bytes,
        differences,
    } = verified;
    let Some(first) = differences.first() else {
        writeln!(terminal.out, "all {requests} requests match ({bytes} bytes)")?;
        return Ok(());
    };
    let (differ, number, seq) = (differences.len(), first.number, first.seq);
    writeln!(
        terminal.out,
        "{differ} of {requests} requests differ; the first is request {number} (event {seq})"
    )?;
    let (hash, sent) = (first.sent.0.short(), first.sent.1);
    writeln!(terminal.out, "  sent     {hash}  {sent} bytes")?;
    match &first.rebuilt {
        Ok((hash, bytes)) => writeln!(terminal.out, "  rebuilt  {}  {bytes} bytes", hash.short())?,
        Err(why) => writeln!(terminal.out, "  rebuilt  nothing: {why}")?,
    }
    if let Some(version) = &first.other_version {
        writeln!(
            terminal.out,
            "  it was sent by version {version}, which alone promises the same bytes"
        )?;
    }
    Ok(())
}

fn page(session: &str, verified: &Verified) -> serde_json::Value {
    let differs = |one: &Differs| {
        let (rebuilt, problem) = match &one.rebuilt {
            Ok((hash, bytes)) => (Some(json!({"hash": hash, "bytes": bytes})), None),
            Err(why) => (None, Some(why)),
        };
        json!({
            "request": one.number,
            "seq": one.seq,
            "sent": {"hash": one.sent.0, "bytes": one.sent.1},
            "rebuilt": rebuilt,
            "problem": problem,
            "sent_by_version": one.other_version,
        })
    };
    json!({
        "schema": "bindery.replay/1",
        "session": session,
        "requests": verified.requests,
        "bytes": verified.bytes,
        "differences": verified.differences.iter().map(differs).collect::<Vec<_>>(),
    })
}
