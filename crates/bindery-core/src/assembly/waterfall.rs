//! The waterfall: expert listeners that may rewrite an assembly or cut the rest of the chain short.

use std::sync::Arc;

use super::{AssembleError, ContextItem, SectionItem};
use crate::registry::{BoxFuture, ProviderError, Tool};

/// What listeners may rewrite. What they leave is final but for the hard constraints: a `complete`
/// section stays alone, suppressed contexts stay away, static text stands before the rest, untrusted
/// text does not command (a listener cannot declare it trusted by moving it), and no two sections,
/// contexts or tools share a name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Draft {
    /// Sections in order.
    pub sections: Vec<SectionItem>,
    /// Contexts in order.
    pub contexts: Vec<ContextItem>,
    /// Tools in order.
    pub tools: Vec<Tool>,
}

/// Rewrites assemblies.
pub trait AssemblyListener: Send + Sync {
    /// Receives the draft and the rest of the chain. Calling `next` runs the rest; not calling it
    /// short-circuits.
    fn assemble<'a>(&'a self, draft: Draft, next: Next<'a>) -> BoxFuture<'a, Result<Draft, ProviderError>>;
}

/// The rest of the waterfall.
pub struct Next<'a> {
    rest: &'a [Listener],
}

/// A registered listener.
#[derive(Clone)]
pub(crate) struct Listener {
    pub(crate) order: i32,
    pub(crate) name: Arc<str>,
    pub(crate) run: Arc<dyn AssemblyListener>,
}

impl<'a> Next<'a> {
    /// Runs the rest of the chain on `draft`.
    pub fn run(self, draft: Draft) -> BoxFuture<'a, Result<Draft, ProviderError>> {
        match self.rest.split_first() {
            None => Box::pin(std::future::ready(Ok(draft))),
            Some((listener, rest)) => Box::pin(async move {
                listener
                    .run
                    .assemble(draft, Next { rest })
                    .await
                    .map_err(|cause| listener.blame(cause))
            }),
        }
    }
}

impl Listener {
    /// Names the innermost listener that failed; outer ones that merely passed the error on are not to blame.
    fn blame(&self, cause: ProviderError) -> ProviderError {
        if cause.is::<Blamed>() {
            cause
        } else {
            Box::new(Blamed {
                name: self.name.clone(),
                cause,
            })
        }
    }
}

#[derive(Debug)]
struct Blamed {
    name: Arc<str>,
    cause: ProviderError,
}

impl std::fmt::Display for Blamed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "listener `{}`: {}", self.name, self.cause)
    }
}

impl std::error::Error for Blamed {}

/// Runs all listeners over the draft.
pub(super) async fn waterfall(listeners: &[Listener], draft: Draft) -> Result<Draft, AssembleError> {
    Next { rest: listeners }
        .run(draft)
        .await
        .map_err(|cause| match cause.downcast::<Blamed>() {
            Ok(blamed) => AssembleError::Listener {
                name: blamed.name.to_string(),
                cause: blamed.cause,
            },
            Err(cause) => AssembleError::Listener {
                name: "unknown".to_owned(),
                cause,
            },
        })
}
