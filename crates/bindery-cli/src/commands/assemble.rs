//! `bindery assemble`: the next request here.

mod arguments;
mod json;
mod scanned;
mod table;
mod views;

use std::io::Write;

use anyhow::Context as _;
use bindery::{
    Authority, Fragment, Kind, Message, NextRequest, Role, Source, Tokenizers, Trust, Windows, here, said,
};

pub(crate) use arguments::AssembleArgs;
use arguments::View;

use super::lock;
use crate::notices;
use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};

pub(crate) fn run(args: &AssembleArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let question = args.question()?;
    if args.explain_config {
        return explain_config(&question, terminal);
    }
    let mut here = here::open(&question).map_err(|error| UsageError::of(&error))?;
    if args.locked && let Some(status) = refused(&here, terminal)? {
        return Ok(status);
    }
    let history: Vec<Message> = args.message.iter().map(|text| prompt(text)).collect();
    let rendered =
        pollster::block_on(here.session.render(&here.options)).map_err(|error| UsageError::of(&error))?;
    here.after_assembly();
    notices::tell(&here.notices, terminal)?;
    let request = match NextRequest::new(here.provider, here.params.clone(), rendered, &history) {
        Ok(request) => request,
        Err(error) => return Err(UsageError(format!("{error}; add one with `--message TEXT`")).into()),
    };
    show(args, &here, &request, terminal)?;
    Ok(Status::Success)
}

fn show(
    args: &AssembleArgs,
    here: &here::Here,
    request: &NextRequest,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let model = &request.params.model;
    let tokenizers = Tokenizers::built_in().context("the built-in table of tokenizers")?;
    let windows = Windows::built_in().context("the built-in table of windows")?;
    let rows = || request.rows(tokenizers.counter(model));
    match args.view() {
        View::Table => {
            let rows: Vec<_> = rows().into_iter().map(|row| scanned::Scanned::new(row, here)).collect();
            table::write(request, &rows, windows.tokens(model), terminal)?;
            notices::shadowed(&request.rendered.assembly.shadowed, terminal)?;
            notices::notes(&request.encoded.notes, terminal)?;
        }
        View::Json => {
            let before = args.against.as_deref().map(json::read).transpose()?;
            let page = json::Page::new(request, here, rows(), windows.tokens(model), before);
            writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
        }
        View::Blocks => views::blocks(request, terminal)?,
        View::Text => views::text(request, terminal)?,
        View::Prefix => views::raw(request.rendered.system.cacheable_prefix().as_bytes(), terminal)?,
        View::Request => views::raw(&request.encoded.body, terminal)?,
        View::Spans => views::spans(request, args.json, terminal)?,
    }
    Ok(())
}

/// For a run that asks for approval: which texts nobody approved as they are, if there are any.
fn refused(here: &here::Here, terminal: &mut Terminal) -> anyhow::Result<Option<Status>> {
    let refusing: Vec<_> = here.standings.iter().filter(|standing| standing.refuses()).collect();
    if refusing.is_empty() {
        return Ok(None);
    }
    // What was found in them helps to decide.
    notices::tell(&here.notices, terminal)?;
    for standing in refusing {
        lock::tell_refused(standing, terminal)?;
    }
    Ok(Some(Status::Finding))
}

/// Every setting with its value, origin and what it shadows.
fn explain_config(question: &here::Question, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let settings = here::settings(question).map_err(|error| UsageError::of(&error))?;
    for setting in settings.explain_config() {
        let shown =
            |value: &bindery::sources::settings::Shown| format!("{}  ({})", value.value, value.origin);
        let value = setting.value.as_ref().map_or_else(|| "not set".to_owned(), shown);
        writeln!(terminal.out, "{} = {}", setting.key, printable(&value))?;
        for shadowed in &setting.shadowed {
            writeln!(terminal.out, "    shadows {}", printable(&shown(shadowed)))?;
        }
    }
    Ok(Status::Success)
}

/// What the user says, as given on the command line.
fn prompt(text: &str) -> Message {
    let source = Source::Setting {
        name: "--message".into(),
    };
    let said = said(
        "message:0.0",
        Kind::UserPrompt,
        Authority::User,
        Trust::User,
        text,
    );
    Message::text(Role::User, vec![Fragment { source, ..said }])
}
