//! `bindery assemble`: the next request here.

mod arguments;
mod count;
mod explain;
mod json;
mod scanned;
mod table;
mod views;

use std::io::Write;

use anyhow::Context as _;
use bindery::attach::{Attaching, document_budget};
use bindery::sources::{Level, Notice, Position};
use bindery::{
    Authority, Fragment, Kind, Message, NextRequest, Role, Row, Source, TokenCount, Tokenizers, Trust, here,
    said,
};

pub(crate) use arguments::AssembleArgs;
use arguments::View;

use super::lock;
use crate::books;
use crate::layout;
use crate::notices;
use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};

pub(crate) fn run(args: &AssembleArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let view = args.view()?;
    let message = args.message()?;
    let before = args.against.as_deref().map(json::read).transpose()?;
    let question = args.question()?;
    if args.explain_config {
        return explain_config(&question, terminal);
    }
    let mut here = here::open(&question)?;
    if args.locked
        && let Some(status) = refused(&here, terminal)?
    {
        return Ok(status);
    }
    if let Some(said) = message {
        here.recall(said)?;
    }
    let mut history = attached(args, &here, message.unwrap_or_default(), terminal)?;
    history.extend(message.map(prompt));
    let rendered =
        pollster::block_on(here.session.render(&here.options)).map_err(|error| UsageError::of(&error))?;
    here.after_assembly();
    if args.explain {
        notices::tell(&here.notices, terminal)?;
        explain::write(&rendered, &here, terminal)?;
        return Ok(Status::Success);
    }
    let prompt = rendered.system.clone();
    let request = NextRequest::new(here.provider, here.params.clone(), rendered, &history);
    let windows = books::windows()?;
    let tokenizers = Tokenizers::built_in().context("the built-in table of tokenizers")?;
    let window = windows.tokens(&here.params.model);
    let mut rows = Vec::new();
    if let Ok(request) = &request {
        rows = counted(request, view, window, &tokenizers);
        here.notices
            .extend(over_window(&rows, window, &here.params.model));
    }
    notices::tell(&here.notices, terminal)?;
    if views::of_prompt(view, &prompt, terminal)? {
        return Ok(Status::Success);
    }
    let request =
        request.map_err(|error| UsageError(format!("{error}\n  help: add one with `--message TEXT`")))?;
    if args.count.is_some() {
        let base = args.base_url.as_deref();
        count::ask(&request, base, &question.environment, &tokenizers, terminal)?;
    }
    match view {
        View::Table => {
            let rows: Vec<_> = rows
                .into_iter()
                .map(|row| scanned::Scanned::new(row, &here))
                .collect();
            table::write(&request, &rows, window, terminal)?;
            notices::shadowed(&request.rendered.assembly.shadowed, terminal)?;
            notices::notes(&request.encoded.notes, terminal)?;
        }
        View::Json => {
            let page = json::Page::new(&request, &here, rows, window, before);
            writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
        }
        View::Spans => views::spans(&request, args.json, terminal)?,
        // Views of the prompt alone were shown.
        View::Request | View::Blocks | View::Text | View::Prefix => {
            views::raw(&request.encoded.body, terminal)?;
        }
    }
    Ok(Status::Success)
}

/// The rows of a view that shows tokens. Others need them only where the window may be too small: a token
/// has at least one byte.
fn counted(request: &NextRequest, view: View, window: Option<u64>, tokenizers: &Tokenizers) -> Vec<Row> {
    let may_be_over = window.is_some_and(|window| request.encoded.body.len() as u64 > window);
    if may_be_over || matches!(view, View::Table | View::Json) {
        request.rows(tokenizers.counter(&request.params.model))
    } else {
        Vec::new()
    }
}

/// A request that the model cannot take. Nothing is cut here: what to leave out is the user's choice.
fn over_window(rows: &[Row], window: Option<u64>, model: &str) -> Option<Notice> {
    let tokens: TokenCount = rows.iter().map(|row| row.tokens).sum();
    let window = window.filter(|window| tokens.value > *window)?;
    let largest = rows.iter().max_by_key(|row| row.tokens.value)?;
    let taken = layout::thousands(TokenCount::exact(window));
    let message = format!(
        "{} tokens are more than the {taken} that {} takes; the provider is likely to refuse it",
        layout::thousands(tokens),
        printable(model)
    );
    let mend = format!(
        "the largest fragment is `{}` with {} tokens: shorten it, or leave it out",
        printable(&largest.key),
        layout::thousands(largest.tokens)
    );
    Some(Notice {
        level: Level::Warning,
        code: "request-over-window".into(),
        at: Position::whole("request"),
        message,
        excerpt: None,
        mend,
    })
}

/// For a run that asks for approval: which texts nobody approved as they are, if there are any.
fn refused(here: &here::Here, terminal: &mut Terminal) -> anyhow::Result<Option<Status>> {
    let refusing: Vec<_> = here
        .standings
        .iter()
        .filter(|standing| standing.refuses())
        .collect();
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
    let settings = here::settings(question)?;
    for setting in settings.explain_config() {
        let shown =
            |value: &bindery::sources::settings::Shown| format!("{}  ({})", value.value, value.origin);
        let unset = || match here::used_for(setting.key, &settings) {
            Some(used) => format!("not set; {used} is used"),
            None => "not set".to_owned(),
        };
        let value = setting.value.as_ref().map_or_else(unset, shown);
        writeln!(terminal.out, "{} = {}", setting.key, printable(&value))?;
        for shadowed in &setting.shadowed {
            writeln!(terminal.out, "    shadows {}", printable(&shown(shadowed)))?;
        }
    }
    Ok(Status::Success)
}

/// The message that `--attach` brings, as a session here would begin with it.
fn attached(
    args: &AssembleArgs,
    here: &here::Here,
    question: &str,
    terminal: &mut Terminal,
) -> anyhow::Result<Vec<Message>> {
    let documents = args.attach.read(std::path::Path::new(""))?;
    if documents.is_empty() {
        return Ok(Vec::new());
    }
    let windows = books::windows()?;
    let tokenizers = Tokenizers::built_in().context("the built-in table of tokenizers")?;
    let model = &here.params.model;
    let budget = bindery::budget::Budget::new(
        windows.tokens(model).unwrap_or(u64::MAX),
        u64::from(here.params.max_tokens),
    );
    let attaching = Attaching {
        gate: here.gate(),
        counter: &tokenizers.counter(model),
        most: document_budget(budget.room()),
        provider: here.provider,
        before: &[],
        place: 1,
    };
    let attached = attaching
        .attach(&documents, question)
        .map_err(|error| UsageError(format!("--attach: {error}")))?;
    for line in &attached.told {
        writeln!(terminal.err, "attached: {}", printable(line))?;
    }
    Ok(vec![attached.message])
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
