//! What adapters take and what they give.

use std::sync::Arc;

use bindery_core::{Authority, Fragment, Message, SystemPrompt, Tool};
use serde::Serialize;

use crate::{CacheMarks, SpanMap, WireError};

/// Everything a request says, in no provider's dialect.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The system lane.
    pub system: &'a SystemPrompt,
    /// Tools in order.
    pub tools: &'a [Tool],
    /// The conversation: instructions, snapshot, history, prompt, reminders.
    pub messages: &'a [Message],
    /// How it is to be answered.
    pub params: &'a Params,
}

/// How a request is to be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    /// The model.
    pub model: String,
    /// The most tokens the answer may have.
    pub max_tokens: u32,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// How hard the model is to think, in the provider's word (`low`, `high`, …). `None` leaves it to the
    /// provider. Part of the key of most caches: another effort reads nothing of what was written before.
    pub effort: Option<String>,
    /// The tier of service, in the provider's word (`flex`, `priority`, `standard_only`, …).
    pub tier: Option<String>,
    /// Groups requests that share a prefix, where the API has such a field. `None` derives it from the
    /// cacheable prefix, so that equal compositions meet.
    pub cache_key: Option<String>,
    /// Where cache breakpoints may go, where the API has them.
    pub marks: CacheMarks,
}

impl Params {
    /// A whole answer of at most `max_tokens`, with a derived cache key and the default breakpoints.
    pub fn new(model: impl Into<String>, max_tokens: u32) -> Self {
        Self {
            model: model.into(),
            max_tokens,
            stream: false,
            effort: None,
            tier: None,
            cache_key: None,
            marks: CacheMarks::default(),
        }
    }
}

/// An encoded request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The body, ready to be posted.
    pub body: Vec<u8>,
    /// Which bytes came from which fragment.
    pub spans: SpanMap,
    /// What the format could not say.
    pub notes: Vec<Note>,
    /// Where the conversation begins in the body: before its first message, and before the comma there.
    pub(crate) conversation: usize,
}

/// Something that the format could not say as it was meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// A stable code.
    pub code: &'static str,
    /// The matter in plain words.
    pub message: String,
    /// The fragments concerned.
    pub fragments: Vec<Arc<str>>,
}

impl Request<'_> {
    /// Fragments of the system lane: sections, then tail lines.
    pub(crate) fn system_fragments(&self) -> impl Iterator<Item = &Fragment> {
        self.system.fragments().iter().chain(self.system.tail())
    }

    /// Refuses untrusted text in the system lane.
    pub(crate) fn check_trust(&self) -> Result<(), WireError> {
        match self.system_fragments().find(|fragment| !fragment.may_command()) {
            None => Ok(()),
            Some(fragment) => Err(WireError::Untrusted {
                key: fragment.key.to_string(),
                trust: fragment.trust.name(),
            }),
        }
    }

    /// A note where developer text has to speak as the system, because the API has one role for both.
    pub(crate) fn developer_collapses(&self, api: &str) -> Option<Note> {
        let fragments: Vec<Arc<str>> = self
            .system_fragments()
            .filter(|fragment| fragment.authority == Authority::Developer)
            .map(|fragment| fragment.key.clone())
            .collect();
        (!fragments.is_empty()).then(|| Note {
            code: "authority-collapsed",
            message: format!("{api} has no developer role: developer text speaks as the system"),
            fragments,
        })
    }

    /// A note where effort or tier was asked for and the API has no such field.
    pub(crate) fn unsaid(&self, api: &str) -> Option<Note> {
        let params = self.params;
        let named = [("effort", &params.effort), ("tier", &params.tier)];
        let named: Vec<&str> = named
            .iter()
            .filter(|(_, value)| value.is_some())
            .map(|(name, _)| *name)
            .collect();
        (!named.is_empty()).then(|| Note {
            code: "setting-not-sent",
            message: format!("{api} has no field for {}: it is not sent", named.join(" and ")),
            fragments: Vec::new(),
        })
    }

    /// The key that groups requests with this prefix: given, or derived from the prefix and the tools' names.
    pub(crate) fn cache_key(&self) -> String {
        if let Some(key) = &self.params.cache_key {
            return key.clone();
        }
        let prefix = self.system.prefix_hash();
        let fields = std::iter::once(&prefix.as_bytes()[..])
            .chain(self.tools.iter().map(|tool| tool.name().as_bytes()));
        format!(
            "bindery-{}",
            bindery_core::ContentHash::of_fields("cache-key", fields).short()
        )
    }
}
