//! The request that would be assembled here and now.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use bindery::sources::settings::{Flags, Request};
use bindery::{Authority, Kind, Message, NextRequest, Tokenizers, Trust, here, said};
use bindery_cache::typing::Typing;
use bindery_cache::{Exchange, Format, Measured, Measurer, RequestReader};

use crate::status::UsageError;
use crate::terminal::Terminal;
use crate::{notices, outside};

/// What stands for the prompt that nobody wrote yet.
const PROMPT: &str = "…";

/// The first request here, counted.
pub(super) fn first(
    dir: &Path,
    model: Option<&str>,
    tokenizers: &Tokenizers,
    terminal: &mut Terminal,
) -> anyhow::Result<(Measured, Vec<String>)> {
    let flags = Flags {
        model: model.map(str::to_owned),
        ..Flags::default()
    };
    let request = next(dir, flags, terminal)?;
    let notes = request.encoded.notes.iter().map(|note| note.message.clone());
    let notes: Vec<String> = notes.collect();
    Ok((measured(&request, tokenizers)?, notes))
}

/// The head that a resumed session would have if everything were read anew. Only sessions of ours have
/// one: what another program would read anew is not known.
pub(super) fn assembled(
    dir: &Path,
    last: &Exchange,
    tokenizers: &Tokenizers,
    notes: &mut Vec<String>,
    terminal: &mut Terminal,
) -> anyhow::Result<Option<Measured>> {
    let request = last.request.request();
    let ours = last.route.parse::<bindery::Provider>().is_ok();
    if !ours {
        notes.push(
            "what the other program would read anew is not known: only the recorded prefix is priced"
                .to_owned(),
        );
        return Ok(None);
    }
    let flags = Flags {
        provider: Some(last.route.to_string()),
        model: Some(request.settings().model().to_owned()),
        ..Flags::default()
    };
    let fresh = next(dir, flags, terminal)?;
    notes.push("tools are taken to stay as they were".to_owned());
    Ok(Some(measured(&fresh, tokenizers)?))
}

fn next(dir: &Path, flags: Flags, terminal: &mut Terminal) -> anyhow::Result<NextRequest> {
    let request = Request {
        flags,
        ..Request::default()
    };
    let question = outside::question(dir.to_owned(), request);
    let mut here = here::open(&question)?;
    let rendered =
        pollster::block_on(here.session.render(&here.options)).map_err(|error| UsageError::of(&error))?;
    here.after_assembly();
    notices::tell(&here.notices, terminal)?;
    let prompt = said(
        "message:0.0",
        Kind::UserPrompt,
        Authority::User,
        Trust::User,
        PROMPT,
    );
    let history = [Message::text(bindery::Role::User, vec![prompt])];
    NextRequest::new(here.provider, here.params.clone(), rendered, &history)
        .map_err(|error| UsageError::of(&error).into())
}

fn measured(request: &NextRequest, tokenizers: &Tokenizers) -> anyhow::Result<Measured> {
    let typing = Typing::built_in().context("the built-in patterns of requests")?;
    let format: Format = request.provider.name().parse()?;
    let read = RequestReader::new(typing).read(format, &request.encoded.body)?;
    let counter = tokenizers.counter(&request.params.model);
    Ok(Measurer::new(counter).measure(&Arc::new(read)))
}
