//! Why an assembly failed.

use thiserror::Error;

use crate::Source;
use crate::registry::ProviderError;
use crate::tool_order::ToolOrderError;

/// An assembly that failed. Nothing was rendered, sent or cached.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// A tool provider returned an error. Tool providers have no names, but scopes do.
    #[error("a tool provider of scope `{scope}` failed: {cause}")]
    Tools {
        /// The scope it was registered in.
        scope: String,
        /// What the provider said.
        #[source]
        cause: ProviderError,
    },
    /// A provider returned an error.
    #[error("the provider of {what} `{name}` failed: {cause}")]
    Provider {
        /// `section`, `context` or `variable`.
        what: &'static str,
        /// Its name.
        name: String,
        /// What the provider said.
        #[source]
        cause: ProviderError,
    },
    /// More than one section claims to be the whole system prompt.
    #[error(
        "two sections claim to be the whole system prompt: `{first}` ({first_source}) and `{second}` ({second_source}); drop one, make one not `complete`, or give both the same key in different scopes, where the nearer wins"
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
    /// A prompt source or a listener put untrusted text where it would command.
    #[error(
        "`{key}` ({source_of}, trust `{trust}`) may not be part of the system prompt: text of that trust needs an operator's grant by name; deliver it as a context, or grant it in the user configuration"
    )]
    Untrusted {
        /// The section.
        key: String,
        /// Where its text came from.
        source_of: Source,
        /// Its trust.
        trust: &'static str,
    },
    /// A listener left two things with one name.
    #[error(
        "after the assembly listeners there are two {what}s named `{name}`; a listener added one: give it a name of its own, or replace the other"
    )]
    Duplicate {
        /// `section`, `context` or `tool`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A listener made a section speak as somebody who has no place in a system prompt.
    #[error(
        "an assembly listener made section `{key}` speak as {authority}: a system prompt carries the authority of the system or the developer"
    )]
    Authority {
        /// The section.
        key: String,
        /// The authority.
        authority: &'static str,
    },
}
