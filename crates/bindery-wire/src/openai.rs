//! The OpenAI formats, and DeepSeek's, which is one of them.

mod chat;
mod chat_reply;
mod responses;
mod responses_reply;
mod usage;

pub(crate) use chat::{ChatDialect, chat};
pub(crate) use chat_reply::ChatReader;
pub(crate) use responses::responses;
pub(crate) use responses_reply::ResponsesReader;

use std::sync::Arc;

use bindery_core::Part;

use crate::request::{Note, Request};

/// A note where signed reasoning of another provider cannot be sent back.
fn reasoning_left_out(request: &Request<'_>) -> Option<Note> {
    let fragments: Vec<Arc<str>> = request
        .messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::Reasoning { fragment, .. } => Some(fragment.key.clone()),
            _ => None,
        })
        .collect();
    (!fragments.is_empty()).then(|| Note {
        code: "reasoning-left-out",
        message: "signed reasoning belongs to the provider that wrote it and is not sent to this one"
            .to_owned(),
        fragments,
    })
}
