//! Why a registration was refused.

use thiserror::Error;

use crate::{Kind, Source};

/// A registration that the registry refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is taken in this very layer (shadowing happens between layers only).
    #[error(
        "{what} `{name}` is already registered in scope `{scope}`; drop that registration first, or register in a nearer scope to shadow it"
    )]
    Duplicate {
        /// `section`, `context`, `variable` or `listener`.
        what: &'static str,
        /// The name.
        name: String,
        /// The layer.
        scope: String,
    },
    /// A name that could not be written back unambiguously.
    #[error("`{name}` is not a valid {what} name: {rule}")]
    InvalidName {
        /// What was named.
        what: &'static str,
        /// The name.
        name: String,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// Static text cannot change at every step.
    #[error(
        "section `{key}` is in the static group with step cadence; static text stands before the cache boundary, so give it cadence `session`, or move it to group `dynamic`"
    )]
    StaticStep {
        /// The section.
        key: String,
    },
    /// A step cadence costs on every request, so it has to say why.
    #[error("section `{key}` has step cadence without a reason; say why it must change at every step")]
    StepWithoutReason {
        /// The section.
        key: String,
    },
    /// Untrusted text in a commanding position.
    #[error(
        "section `{key}` comes from {source_of} with trust `{trust}`, which may not speak as {authority} unless an operator grants it by name; register it as a context, or grant `{key}` in the user configuration"
    )]
    Untrusted {
        /// The section.
        key: String,
        /// Where its text came from.
        source_of: Source,
        /// Its trust.
        trust: &'static str,
        /// The authority asked for.
        authority: &'static str,
    },
    /// Untrusted text in a line of the system prompt.
    #[error(
        "context `{name}` comes from {source_of} with trust `{trust}` and asks for a tail line, which stands in the system prompt; deliver it as a snapshot instead"
    )]
    UntrustedTail {
        /// The context.
        name: String,
        /// Where its text came from.
        source_of: Source,
        /// Its trust.
        trust: &'static str,
    },
    /// A message whose kind is not one that a context may have.
    #[error(
        "context `{name}` asks for a message of its own of kind {kind:?}, which would be taken for something else; call `message(kind)` with the kind it has: instructions, memory, skill, document, hook context, MCP instructions, session reference or summary"
    )]
    MessageKind {
        /// The context.
        name: String,
        /// The kind asked for.
        kind: Kind,
    },
    /// A section speaks as somebody who has no place in a system prompt.
    #[error(
        "section `{key}` cannot speak as {authority}: a system prompt carries the authority of the system or the developer"
    )]
    Authority {
        /// The section.
        key: String,
        /// The authority asked for.
        authority: &'static str,
    },
}
