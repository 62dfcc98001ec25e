//! Sections of the system prompt.

use std::sync::Arc;

use super::{Body, RegisterError};
use crate::{Authority, Cadence, Group, Modes, Source, Trust};

/// Whether `{{name}}` in a text stands for a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interpolation {
    /// References are replaced; unknown, undefined and malformed ones are errors.
    #[default]
    Strict,
    /// The text is taken as it is. For foreign text, which knows nothing of our variables.
    Literal,
}

/// What the keys of other fragments begin with. A request's span map names fragments by key, so no
/// section may take one of theirs.
const RESERVED: [&str; 4] = ["prompt:", "tool:", "context:", "message:"];

/// A section of the system prompt, ready to be registered.
#[derive(Clone)]
pub struct Section {
    pub(crate) key: Arc<str>,
    pub(crate) group: Group,
    pub(crate) order: i32,
    pub(crate) cadence: Cadence,
    pub(crate) body: Body,
    pub(crate) complete: bool,
    pub(crate) modes: Modes,
    pub(crate) authority: Authority,
    pub(crate) trust: Trust,
    pub(crate) source: Source,
    pub(crate) grant: Option<Source>,
    pub(crate) interpolation: Interpolation,
}

impl Section {
    /// A static section of session cadence for both modes, speaking as the system, with trust
    /// `builtin`. Everything else is set by the methods below.
    pub fn new(key: impl Into<Arc<str>>, body: impl Into<Body>) -> Self {
        let key = key.into();
        Self {
            source: Source::Plugin { name: key.clone() },
            key,
            group: Group::Static,
            order: 0,
            cadence: Cadence::Session,
            body: body.into(),
            complete: false,
            modes: Modes::Both,
            authority: Authority::System,
            trust: Trust::Builtin,
            grant: None,
            interpolation: Interpolation::Strict,
        }
    }

    /// Where it stands; sections are ordered by group, then order, then key.
    #[must_use]
    pub fn group(mut self, group: Group) -> Self {
        self.group = group;
        self
    }

    /// Position within the group, lowest first.
    #[must_use]
    pub fn order(mut self, order: i32) -> Self {
        self.order = order;
        self
    }

    /// How often the text may change.
    #[must_use]
    pub fn cadence(mut self, cadence: Cadence) -> Self {
        self.cadence = cadence;
        self
    }

    /// Makes this section the whole system prompt: all others are left out. At most one such section
    /// may be effective.
    #[must_use]
    pub fn complete(mut self) -> Self {
        self.complete = true;
        self
    }

    /// The modes this section belongs to.
    #[must_use]
    pub fn modes(mut self, modes: Modes) -> Self {
        self.modes = modes;
        self
    }

    /// On whose authority the text speaks: `System` or `Developer`.
    #[must_use]
    pub fn authority(mut self, authority: Authority) -> Self {
        self.authority = authority;
        self
    }

    /// Where the text came from and how far that is trusted.
    #[must_use]
    pub fn from_source(mut self, source: Source, trust: Trust) -> Self {
        self.source = source;
        self.trust = trust;
        self
    }

    /// The operator's setting that allows this text by name to command in spite of its trust.
    #[must_use]
    pub fn granted_by(mut self, setting: Source) -> Self {
        self.grant = Some(setting);
        self
    }

    /// Takes the text as it is: `{{name}}` has no meaning in it.
    #[must_use]
    pub fn literal(mut self) -> Self {
        self.interpolation = Interpolation::Literal;
        self
    }

    /// The section's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn check(&self) -> Result<(), RegisterError> {
        super::entry::check_name("section", &self.key)?;
        if RESERVED.iter().any(|prefix| self.key.starts_with(prefix)) {
            return Err(RegisterError::InvalidName {
                what: "section",
                name: self.key.to_string(),
                rule: "keys beginning with `prompt:`, `tool:`, `context:` or `message:` name other parts of a request",
            });
        }
        let key = || self.key.to_string();
        if let Cadence::Step { reason } = &self.cadence {
            if self.group == Group::Static {
                return Err(RegisterError::StaticStep { key: key() });
            }
            if reason.trim().is_empty() {
                return Err(RegisterError::StepWithoutReason { key: key() });
            }
        }
        if !matches!(self.authority, Authority::System | Authority::Developer) {
            return Err(RegisterError::Authority {
                key: key(),
                authority: self.authority.name(),
            });
        }
        if !self.trust.may_command() && self.grant.is_none() {
            return Err(RegisterError::Untrusted {
                key: key(),
                source_of: self.source.clone(),
                trust: self.trust.name(),
                authority: self.authority.name(),
            });
        }
        Ok(())
    }
}

impl Section {
    /// This section with its evaluated text.
    pub(crate) fn item(&self, text: crate::Text) -> crate::assembly::SectionItem {
        crate::assembly::SectionItem {
            key: self.key.clone(),
            group: self.group,
            order: self.order,
            authority: self.authority,
            trust: self.trust,
            source: self.source.clone(),
            grant: self.grant.clone(),
            interpolation: self.interpolation,
            complete: self.complete,
            text,
        }
    }
}
