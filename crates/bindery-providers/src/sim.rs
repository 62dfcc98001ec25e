//! A model that is made up: scripted or rule-based, always the same for the same requests.
//!
//! It stands in where there is no key, in demonstrations and in tests. Everything it says is labelled:
//! [`crate::Model::is_simulated`], the model's name begins with `simulated:`, text of the rules begins
//! with `[simulated]`, and every reply carries a note. Its usage follows the cache rules of the family
//! it stands in for, by an estimate of four bytes a token.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use bindery_core::{ContentHash, Usage};
use bindery_wire::{
    Collector, Failure, FailureKind, Interrupted, Note, Provider, ReasoningForm, Reply, ReplyEvent,
    StopReason,
};

use crate::{BoxFuture, EventSource, Exchange, Model, Outgoing};

mod cache;
mod rules;
mod script;

pub use cache::{ANSWER_MS, CacheTables, SimulatedCache};
pub use script::{Break, Script, ScriptError, Scripted, ScriptedCall};

/// How many bytes are taken for one token.
pub(crate) const BYTES_PER_TOKEN: u64 = 4;

/// A simulated model.
pub struct SimModel {
    provider: Provider,
    /// `None` for the rules.
    script: Option<Script>,
    state: Mutex<State>,
}

struct State {
    /// Made with the first request, unless there is one already.
    cache: Option<SimulatedCache>,
    sent: usize,
}

impl SimModel {
    /// A model that looks around with `list` and `read`, where it has such tools, and sums up.
    pub fn with_rules(provider: Provider) -> Self {
        Self::new(provider, None)
    }

    /// A model that says what is written.
    pub fn scripted(provider: Provider, script: Script) -> Self {
        Self::new(provider, Some(script))
    }

    fn new(provider: Provider, script: Option<Script>) -> Self {
        let state = State { cache: None, sent: 0 };
        Self {
            provider,
            script,
            state: Mutex::new(state),
        }
    }

    /// The same model with caches that hold something already.
    #[must_use]
    pub fn cache(self, cache: SimulatedCache) -> Self {
        let state = State {
            cache: Some(cache),
            sent: 0,
        };
        Self {
            state: Mutex::new(state),
            ..self
        }
    }

    fn answer(&self, outgoing: Outgoing<'_>) -> Result<Told, Failure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let at = state.sent;
        state.sent += 1;
        let scripted = match &self.script {
            None => rules::answer(&outgoing.request),
            Some(script) => script.replies.get(at).cloned().ok_or_else(|| over(script, at))?,
        };
        if let Some(refusal) = scripted.refusal() {
            return Err(refusal);
        }
        let body = &outgoing.encoded.body;
        let mut cache = match state.cache.take() {
            Some(cache) => cache,
            None => SimulatedCache::new(self.provider)
                .map_err(|error| Failure::new(FailureKind::InvalidRequest, error.to_string()))?,
        };
        let input = cache.request(&outgoing.request.params.model, body);
        state.cache = Some(cache);
        let input = input?;
        let ids = ContentHash::of(body).short();
        let model = format!("simulated:{}", outgoing.request.params.model);
        Ok(Told::new(events(&scripted, input, &ids, model)))
    }
}

fn over(script: &Script, at: usize) -> Failure {
    let message = format!(
        "the script of the simulated model has {} replies and request {} needs another; add a [[reply]]",
        script.replies.len(),
        at + 1
    );
    Failure::new(FailureKind::InvalidRequest, message)
}

/// The events of a reply. Ids follow from the request's bytes, so that a session that goes on in
/// another process never repeats one.
fn events(scripted: &Scripted, input: Usage, ids: &str, model: String) -> Vec<ReplyEvent> {
    let mut out = vec![
        ReplyEvent::Start {
            id: Some(format!("sim_{ids}")),
            model: Some(model),
        },
        ReplyEvent::Usage(input),
    ];
    let (mut block, mut said, mut thought) = (0, 0, 0);
    if let Some(text) = &scripted.think {
        thought += text.len();
        out.push(ReplyEvent::ReasoningSignature {
            block,
            form: ReasoningForm::ReasoningContent,
            signature: String::new(),
        });
        let text = text.clone();
        out.push(ReplyEvent::ReasoningDelta { block, text });
        block += 1;
    }
    if let Some(text) = &scripted.text {
        said += text.len();
        let words = text.split_inclusive(' ').map(str::to_owned);
        out.extend(words.map(|text| ReplyEvent::TextDelta { block, text }));
        block += 1;
    }
    for (at, call) in scripted.calls.iter().enumerate() {
        let (json, id) = (call.input.to_string(), format!("sim_{ids}_{at}"));
        said += json.len() + call.tool.len();
        let name = call.tool.clone();
        out.push(ReplyEvent::ToolCallStart { block, id, name });
        out.push(ReplyEvent::ToolCallDelta { block, json });
        out.push(ReplyEvent::ToolCallEnd { block });
        block += 1;
    }
    if let Some(failure) = scripted.breaks() {
        out.push(ReplyEvent::Failed(failure));
        return out;
    }
    let tokens = |bytes: usize| (bytes as u64).div_ceil(BYTES_PER_TOKEN);
    out.push(ReplyEvent::Usage(Usage {
        output: tokens(said),
        reasoning: tokens(thought),
        ..input
    }));
    let reason = if scripted.calls.is_empty() {
        StopReason::EndTurn
    } else {
        StopReason::ToolUse
    };
    let reason = scripted.stop.clone().unwrap_or(reason);
    out.push(ReplyEvent::Stop { reason });
    out
}

impl Model for SimModel {
    fn provider(&self) -> Provider {
        self.provider
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn send<'a>(&'a self, outgoing: Outgoing<'a>) -> BoxFuture<'a, Result<Exchange, Failure>> {
        Box::pin(async move { self.answer(outgoing).map(Exchange::new) })
    }
}

/// Events that are told one by one.
struct Told {
    events: VecDeque<ReplyEvent>,
    collector: Collector,
}

impl Told {
    fn new(events: Vec<ReplyEvent>) -> Self {
        Self {
            events: events.into(),
            collector: Collector::default(),
        }
    }
}

impl EventSource for Told {
    fn more(&mut self) -> BoxFuture<'_, Option<Vec<ReplyEvent>>> {
        Box::pin(async move {
            let event = self.events.pop_front()?;
            self.collector.push(&event);
            Some(vec![event])
        })
    }

    fn finish(self: Box<Self>) -> Result<Reply, Interrupted> {
        let mut reply = self.collector.finish()?;
        reply.notes.push(Note {
            code: "simulated",
            message: "no provider was asked: reply and usage are made up by the simulated model".to_owned(),
            fragments: Vec::new(),
        });
        Ok(reply)
    }
}

#[cfg(test)]
mod tests;
