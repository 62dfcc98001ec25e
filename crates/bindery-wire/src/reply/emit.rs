//! Where a provider's reader puts what it understood.

use std::collections::BTreeMap;

use bindery_core::{Counting, ReportedUsage};

use crate::request::Note;
use crate::{Failure, ReasoningForm, ReplyEvent, StopReason};

/// Events not yet taken, and what is remembered for the whole reply.
#[derive(Debug, Default)]
pub(crate) struct Emit {
    pub(crate) events: Vec<ReplyEvent>,
    pub(crate) ignored: BTreeMap<String, u64>,
    pub(crate) notes: Vec<Note>,
    blocks: usize,
}

impl Emit {
    /// The number of a new block.
    pub(crate) fn open(&mut self) -> usize {
        self.blocks += 1;
        self.blocks - 1
    }

    /// Counts something that was passed over.
    pub(crate) fn ignore(&mut self, name: impl Into<String>) {
        *self.ignored.entry(name.into()).or_default() += 1;
    }

    pub(crate) fn note(&mut self, code: &'static str, message: impl Into<String>) {
        self.notes.push(Note {
            code,
            message: message.into(),
            fragments: Vec::new(),
        });
    }

    pub(crate) fn start(&mut self, id: Option<String>, model: Option<String>) {
        self.events.push(ReplyEvent::Start { id, model });
    }

    /// Adds text, unless there is none.
    pub(crate) fn text(&mut self, block: usize, text: String) {
        if !text.is_empty() {
            self.events.push(ReplyEvent::TextDelta { block, text });
        }
    }

    pub(crate) fn reasoning(&mut self, block: usize, text: String) {
        if !text.is_empty() {
            self.events.push(ReplyEvent::ReasoningDelta { block, text });
        }
    }

    pub(crate) fn signature(&mut self, block: usize, form: ReasoningForm, signature: String) {
        self.events.push(ReplyEvent::ReasoningSignature {
            block,
            form,
            signature,
        });
    }

    pub(crate) fn call(&mut self, id: String, name: String) -> usize {
        let block = self.open();
        self.events.push(ReplyEvent::ToolCallStart { block, id, name });
        block
    }

    pub(crate) fn input(&mut self, block: usize, json: String) {
        if !json.is_empty() {
            self.events.push(ReplyEvent::ToolCallDelta { block, json });
        }
    }

    pub(crate) fn call_end(&mut self, block: usize) {
        self.events.push(ReplyEvent::ToolCallEnd { block });
    }

    pub(crate) fn usage(&mut self, reported: &ReportedUsage, counting: Counting) {
        if let Err(contradiction) = reported.check(counting) {
            self.note("usage-contradiction", contradiction.to_string());
        }
        self.events.push(ReplyEvent::Usage(reported.buckets(counting)));
    }

    pub(crate) fn stop(&mut self, reason: StopReason) {
        self.events.push(ReplyEvent::Stop { reason });
    }

    pub(crate) fn fail(&mut self, failure: Failure) {
        self.events.push(ReplyEvent::Failed(failure));
    }
}
