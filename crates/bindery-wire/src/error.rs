//! Why a request could not be encoded.

use thiserror::Error;

/// A request that no body was made of.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WireError {
    /// Nothing to say.
    #[error("the request has no message; {provider} needs at least one from the user")]
    NoMessage {
        /// The provider.
        provider: &'static str,
    },
    /// A call's input is not JSON.
    #[error("the input of tool call `{id}` (`{tool}`) is not JSON: {cause}")]
    ToolInput {
        /// The call.
        id: String,
        /// The tool.
        tool: String,
        /// What the parser said.
        #[source]
        cause: serde_json::Error,
    },
    /// Untrusted text where it would command. The assembly refuses this as well; two walls, one rule.
    #[error(
        "fragment `{key}` has trust `{trust}` and no grant, so it may not stand in a system or developer role"
    )]
    Untrusted {
        /// The fragment.
        key: String,
        /// Its trust.
        trust: &'static str,
    },
    /// Serialisation failed.
    #[error("the body could not be serialised: {0}")]
    Serialise(#[from] serde_json::Error),
}
