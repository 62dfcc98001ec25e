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
