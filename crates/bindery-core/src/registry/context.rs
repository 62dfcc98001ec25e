//! Runtime context: facts about the world that reach the model as messages or tail lines.

use std::sync::Arc;

use super::entry::check_name;
use super::{Body, Interpolation, RegisterError};
use crate::{Kind, Modes, Source, Trust};

/// How a context reaches the model, and thereby what a change of it costs.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// Part of one user-role message that supersedes earlier snapshots, proposed only when the
    /// complete rendered value changed. Nothing earlier is rewritten, so the prefix stays cached.
    #[default]
    Snapshot,
    /// A `key: value` line after the system prompt. Each change re-reads the whole history.
    Tail,
    /// A synthetic message built for each request and never persisted. What follows it is re-read.
    Reminder,
    /// A message of its own, entered once and kept: instruction files, documents, recalled sessions.
    Message,
}

/// A context, ready to be registered.
#[derive(Clone)]
pub struct Context {
    pub(crate) name: Arc<str>,
    pub(crate) order: i32,
    pub(crate) delivery: Delivery,
    pub(crate) kind: Kind,
    pub(crate) body: Body,
    pub(crate) modes: Modes,
    pub(crate) trust: Trust,
    pub(crate) source: Source,
    pub(crate) interpolation: Interpolation,
}

impl Context {
    /// A snapshot context for both modes with trust `builtin`. Everything else is set below.
    pub fn new(name: impl Into<Arc<str>>, body: impl Into<Body>) -> Self {
        let name = name.into();
        Self {
            source: Source::Plugin { name: name.clone() },
            name,
            order: 0,
            delivery: Delivery::Snapshot,
            kind: Kind::Snapshot,
            body: body.into(),
            modes: Modes::Both,
            trust: Trust::Builtin,
            interpolation: Interpolation::Strict,
        }
    }

    /// Position among contexts of the same delivery, lowest first; names break ties.
    #[must_use]
    pub fn order(mut self, order: i32) -> Self {
        self.order = order;
        self
    }

    /// How it reaches the model.
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self.kind = match delivery {
            Delivery::Snapshot => Kind::Snapshot,
            Delivery::Tail => Kind::TailLine,
            Delivery::Reminder => Kind::Reminder,
            Delivery::Message => self.kind,
        };
        self
    }

    /// A message of its own of the given kind (instructions, memory, document, …), taken literally:
    /// such text is foreign and knows nothing of our variables.
    #[must_use]
    pub fn message(mut self, kind: Kind) -> Self {
        self.delivery = Delivery::Message;
        self.kind = kind;
        self.interpolation = Interpolation::Literal;
        self
    }

    /// The modes this context belongs to.
    #[must_use]
    pub fn modes(mut self, modes: Modes) -> Self {
        self.modes = modes;
        self
    }

    /// Where the text came from and how far that is trusted. Text that may not command is taken
    /// literally: a file named `{{x}}` must not fail a request, nor read a variable's value.
    #[must_use]
    pub fn from_source(mut self, source: Source, trust: Trust) -> Self {
        self.source = source;
        self.trust = trust;
        if !trust.may_command() {
            self.interpolation = Interpolation::Literal;
        }
        self
    }

    /// Takes the text as it is: `{{name}}` has no meaning in it.
    #[must_use]
    pub fn literal(mut self) -> Self {
        self.interpolation = Interpolation::Literal;
        self
    }

    /// The context's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn check(&self) -> Result<(), RegisterError> {
        check_name("context", &self.name)?;
        if ["snapshot", "snapshot.end"].contains(&&*self.name) {
            return Err(RegisterError::InvalidName {
                what: "context",
                name: self.name.to_string(),
                rule: "the snapshot's own opening and closing lines bear that name",
            });
        }
        if self.delivery == Delivery::Message && !self.kind.may_be_context_message() {
            return Err(RegisterError::MessageKind {
                name: self.name.to_string(),
                kind: self.kind,
            });
        }
        if self.delivery == Delivery::Tail && !self.trust.may_command() {
            return Err(RegisterError::UntrustedTail {
                name: self.name.to_string(),
                source_of: self.source.clone(),
                trust: self.trust.name(),
            });
        }
        Ok(())
    }
}

impl Context {
    /// This context with its evaluated text.
    pub(crate) fn item(&self, text: crate::Text) -> crate::assembly::ContextItem {
        crate::assembly::ContextItem {
            name: self.name.clone(),
            order: self.order,
            delivery: self.delivery,
            kind: self.kind,
            trust: self.trust,
            source: self.source.clone(),
            interpolation: self.interpolation,
            text,
        }
    }

    /// Whether the body can tell its version, so that it need not be asked at every step.
    pub(crate) fn has_version(&self) -> bool {
        matches!(&self.body, Body::Provider(provider) if provider.version().is_some())
    }
}
