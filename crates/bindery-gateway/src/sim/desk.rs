//! The thread that answers: it keeps the simulated caches.

use std::collections::BTreeMap;
use std::sync::{Arc, mpsc};

use bindery_cache::typing::{PatternError, Typing};
use bindery_cache::{
    Call, Format, Measured, Measurer, Outcome, RequestReader, RuleBook, RuleError, Simulator, simulator,
};
use bindery_core::{CountTokens, Usage};
use bindery_tokens::{DataError, Tokenizers};
use bytes::Bytes;
use hyper::StatusCode;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::ask::Ask;
use super::say::{CallTable, Said};
use super::{Answer, chat, family, messages, responses};
use crate::operation::Operation;
use crate::refusal::Refusal;

/// After so many requests, counts begin to be remembered anew.
const REMEMBERED: u64 = 20_000;

/// What the cache of a model may keep of bodies.
const HELD_BYTES: usize = 8 * 1024 * 1024;

/// A request for the desk.
pub(super) struct Question {
    pub(super) operation: Operation,
    pub(super) body: Bytes,
    pub(super) at_ms: u64,
    pub(super) reply: oneshot::Sender<Answer>,
}

/// Data that cannot be read, or no thread.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// The table of calls.
    #[error("the table of calls: {0}")]
    Calls(#[from] Box<toml::de::Error>),
    /// The patterns of foreign text.
    #[error(transparent)]
    Patterns(#[from] PatternError),
    /// The rules of caches.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// The tokenizers.
    #[error(transparent)]
    Tokenizers(#[from] DataError),
    /// The thread.
    #[error("the simulated provider could not be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// Everything that is read once.
struct Tables {
    calls: CallTable,
    reader: RequestReader,
    rules: RuleBook,
    tokenizers: Tokenizers,
}

pub(super) struct Desk<'t> {
    tables: &'t Tables,
    caches: BTreeMap<String, Box<dyn Simulator>>,
    measurers: BTreeMap<String, Measurer<'t>>,
    count: u64,
}

impl Desk<'_> {
    /// Starts the thread. It ends when nobody can ask any more.
    pub(super) fn start(calls: &str) -> Result<mpsc::Sender<Question>, SimError> {
        let tables = Tables {
            calls: CallTable::from_toml(calls).map_err(Box::new)?,
            reader: RequestReader::new(Typing::built_in()?),
            rules: RuleBook::built_in()?,
            tokenizers: Tokenizers::built_in()?,
        };
        let (sender, questions) = mpsc::channel::<Question>();
        std::thread::Builder::new()
            .name("simulated provider".to_owned())
            .spawn(move || {
                let mut desk = Desk {
                    tables: &tables,
                    caches: BTreeMap::new(),
                    measurers: BTreeMap::new(),
                    count: 0,
                };
                while let Ok(question) = questions.recv() {
                    let answer = desk.answer(&question);
                    // Who went away needs no answer.
                    let _gone = question.reply.send(answer);
                }
            })?;
        Ok(sender)
    }
}

impl Desk<'_> {
    fn answer(&mut self, question: &Question) -> Answer {
        self.count += 1;
        if self.count.is_multiple_of(REMEMBERED) {
            self.measurers.clear();
        }
        let body: Value = match serde_json::from_slice(&question.body) {
            Ok(body) => body,
            Err(error) => return refuse(format!("the body is not JSON: {error}")),
        };
        let model = body
            .get("model")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        if model.is_empty() {
            return refuse("`model` is missing");
        }
        let format = match question.operation.format() {
            Format::OpenaiChat if model.contains("deepseek") => Format::Deepseek,
            format => format,
        };
        let request = match self.tables.reader.read(format, &question.body) {
            Ok(request) => Arc::new(request),
            Err(error) => return refuse(error.to_string()),
        };
        let counter = self.tables.tokenizers.counter(&model);
        let measured = self
            .measurers
            .entry(model.clone())
            .or_insert_with(|| Measurer::new(counter))
            .measure(&request);
        if question.operation == Operation::CountTokens {
            return Answer::Whole(json!({"input_tokens": measured.total()}));
        }
        let outcome = match self.respond(format, &model, &measured, question.at_ms) {
            Ok(outcome) => outcome,
            Err(error) => return refuse(error.to_string()),
        };
        if let Some(refusal) = outcome.refusal {
            return refuse(refusal.to_string());
        }
        let ask = Ask::read(format, &body);
        let said = self.tables.calls.say(&ask, self.count);
        let usage = Usage {
            output: said.iter().map(|said| tokens(said, counter)).sum(),
            ..outcome.usage
        };
        let reply = Reply {
            number: self.count,
            model,
            said,
            usage,
        };
        match format {
            Format::Anthropic => messages::answer(&ask, &reply),
            Format::OpenaiResponses => responses::answer(&ask, &reply),
            _ => chat::answer(&ask, &reply, format == Format::Deepseek),
        }
    }

    fn respond(
        &mut self,
        format: Format,
        model: &str,
        request: &Measured,
        at_ms: u64,
    ) -> Result<Outcome, RuleError> {
        let call = Call {
            at_ms,
            began_ms: Some(at_ms),
            route: "sim",
            request,
        };
        if let Some(cache) = self.caches.get_mut(model) {
            return Ok(cache.respond(&call));
        }
        let known = self.tables.rules.rules(model)?;
        let rules = match known {
            Some(rules) => rules,
            None => self.tables.rules.rules_of(family(format), model)?,
        };
        let mut cache = simulator(rules);
        cache.hold_at_most(HELD_BYTES);
        let outcome = cache.respond(&call);
        self.caches.insert(model.to_owned(), cache);
        Ok(outcome)
    }
}

/// What is answered, before any protocol.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    /// Its number, from 1: ids are made of it.
    pub(super) number: u64,
    pub(super) model: String,
    pub(super) said: Vec<Said>,
    pub(super) usage: Usage,
}

impl Reply {
    pub(super) fn calls(&self) -> bool {
        self.said.iter().any(|said| matches!(said, Said::Call(_)))
    }
}

fn tokens(said: &Said, counter: &dyn CountTokens) -> u64 {
    match said {
        Said::Text(text) => counter.count(text).value,
        Said::Call(call) => counter.count(&call.name).value + counter.count(&call.input.written()).value,
    }
}

fn refuse(message: impl Into<String>) -> Answer {
    Answer::Refused(Refusal::new(StatusCode::BAD_REQUEST, message))
}
