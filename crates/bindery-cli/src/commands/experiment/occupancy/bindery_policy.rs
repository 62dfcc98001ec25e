//! What Bindery does, by the code that sessions run.

use bindery::Message;
use bindery::budget::Budget;
use bindery::compaction::{Limits, Summary, check, cut, extract, replacement};
use bindery::log::{
    AssistantMessage, Event, Payload, ReplaceReason, Replacement, SessionState, StopReason, SurfaceReplaced,
    ToolReturned, UserMessage,
};
use bindery_agent::Intake;
use bindery_store::{Blobs, MemoryBlobs};
use std::sync::Arc;

use super::Policy;
use super::scene::Act;

/// Large results under references, history by kind, the ledger word for word.
pub(super) struct Bindery {
    state: SessionState,
    blobs: Arc<MemoryBlobs>,
    intake: Intake,
    limits: Limits,
}

impl Bindery {
    pub(super) fn new(window: u64) -> Self {
        let blobs = Arc::new(MemoryBlobs::default());
        Self {
            state: SessionState::default(),
            intake: Intake::new(blobs.clone()),
            blobs,
            limits: Limits::of_room(Budget::new(window, 4_096).room()),
        }
    }

    fn add(&mut self, payload: impl Into<Payload>) -> anyhow::Result<()> {
        let event = Event {
            seq: self.state.next_seq(),
            at_ms: 0,
            payload: payload.into(),
        };
        Ok(self.state.apply(&event)?)
    }
}

impl Policy for Bindery {
    fn name(&self) -> &'static str {
        "bindery"
    }

    fn follow(&mut self, act: &Act) -> anyhow::Result<()> {
        let number = usize::try_from(self.state.next_seq().get()).unwrap_or(usize::MAX);
        let message = act.message(number);
        match act {
            Act::Instructions(_) | Act::Asks(_) => self.add(UserMessage { message, inbox: None }),
            Act::Answers { call, .. } => {
                let stop = if call.is_some() {
                    StopReason::ToolUse
                } else {
                    StopReason::EndTurn
                };
                self.add(AssistantMessage {
                    message,
                    attempt: None,
                    stop,
                })
            }
            Act::Returns { id, text } => {
                let digest = self.intake.text(text)?;
                let mut content = message.fragments().next().cloned();
                if let (Some(content), Some(digest)) = (&mut content, digest) {
                    content.text = digest.into();
                }
                let content = content.ok_or_else(|| anyhow::anyhow!("a result without content"))?;
                self.add(ToolReturned {
                    call: id.as_str().into(),
                    content,
                    is_error: false,
                    synthetic: None,
                    elapsed_ms: None,
                    touched: Vec::new(),
                    scan: None,
                })
            }
        }
    }

    fn make_room(&mut self) -> anyhow::Result<Option<u64>> {
        let tokens = |message: &Message| message.fragments().map(|one| one.text.len() as u64 / 4).sum();
        let cut = cut(&self.state, self.limits.recent, &tokens)?;
        let extract = extract(&cut, self.limits.record);
        let summary = Summary {
            text: extract.record,
            by: "extract".to_owned(),
        };
        let messages = replacement(&cut, self.state.ledger(), &summary);
        check(&cut, self.state.ledger(), &messages, &extract.keep)
            .map_err(|lost| anyhow::anyhow!("coverage: {lost:?}"))?;
        for text in &extract.keep {
            self.blobs.put(text.as_bytes())?;
        }
        self.add(SurfaceReplaced {
            shadowed: cut.shadowed,
            replacement: Replacement::Messages(messages),
            reason: ReplaceReason::Compaction,
        })?;
        Ok(None)
    }

    fn messages(&self) -> Vec<Message> {
        self.state.messages().to_vec()
    }

    fn read(&self, reference: &str) -> Option<String> {
        let found = self.blobs.find(reference.strip_prefix("blob:")?).ok()?;
        let bytes = self.blobs.get(found.first()?).ok()?;
        String::from_utf8(bytes).ok()
    }
}
