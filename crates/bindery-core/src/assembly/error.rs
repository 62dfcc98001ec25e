//! Why an assembly failed.

use thiserror::Error;

use crate::Source;
use crate::registry::ProviderError;
use crate::tool_order::ToolOrderError;

/// An assembly that failed. Nothing was rendered, sent or cached.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// A provider returned an error.
    #[error("the provider of {what} `{name}` failed: {cause}")]
    Provider {
        /// `section`, `context`, `variable` or `tools`.
        what: &'static str,
        /// Its name; the scope's name for tools.
        name: String,
        /// What the provider said.
        #[source]
        cause: ProviderError,
    },
    /// More than one section claims to be the whole system prompt.
    #[error(
        "two sections claim to be the whole system prompt: `{first}` ({first_source}) and `{second}` ({second_source}); make one of them not `complete`, or register it in a farther scope under the same key"
    )]
    TwoComplete {
        /// The first in order.
        first: String,
        /// Where it came from.
        first_source: Source,
        /// The second.
        second: String,
        /// Where it came from.
        second_source: Source,
    },
    /// The tools could not be put in order.
    #[error(transparent)]
    ToolOrder(#[from] ToolOrderError),
    /// A listener failed.
    #[error("the assembly listener `{name}` failed: {cause}")]
    Listener {
        /// The listener.
        name: String,
        /// What it said.
        #[source]
        cause: ProviderError,
    },
    /// A listener put untrusted text where it would command.
    #[error(
        "a listener made `{key}` ({source_of}, trust `{trust}`) part of the system prompt; text of that trust needs an operator's grant by name"
    )]
    Untrusted {
        /// The section.
        key: String,
        /// Where its text came from.
        source_of: Source,
        /// Its trust.
        trust: &'static str,
    },
}
