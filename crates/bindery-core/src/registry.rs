//! The registry: what may contribute to a request, by scope.
//!
//! A [`Scope`] is one layer of a chain: global → … → agent. Five kinds of registration are reversible
//! (each returns a [`Registration`] that removes exactly that entry when dropped), announce
//! themselves to observers, and refuse a name taken twice within one layer. What a nearer layer
//! registers under a name shadows what a farther layer did; the shadowed provider is never called.

mod context;
mod entry;
mod error;
mod provider;
mod scope;
mod section;
mod tool;
mod variable;

pub use context::{Context, Delivery};
pub use error::RegisterError;
pub use provider::{Body, BoxFuture, Evaluation, ProviderError, SourceVersion, TextProvider};
pub use scope::{Change, ChangeKind, Registration, Scope};
pub use section::{Interpolation, Section};
pub use tool::{Tool, ToolProvider, ToolSet};
pub use variable::{Outside, VariableProvider};

pub(crate) use entry::{Entry, EntryId};
pub(crate) use scope::Layer;
pub(crate) use variable::is_variable_name;

#[cfg(test)]
mod tests;
