//! Assembly: from what is registered to one inert value, in seven stages.
//!
//! 1. resolve the scope chain, suppression and prompt sources (`effective`);
//! 2. evaluate variables, farthest scope first, nearest last;
//! 3. materialise the effective sections and contexts: shadowed ones are never called;
//! 4. snapshot the tool providers, then invoke them (`evaluate`);
//! 5. order by group, order and key; hold `complete` unique; evaluate text; drop the empty (`stages`);
//! 6. run the waterfall of listeners (`waterfall`);
//! 7. reapply the hard constraints (`stages`).
//!
//! Rendering comes later and apart (`render`): an assembly that failed never touched a log.

mod constraints;
mod effective;
mod error;
mod evaluate;
mod stages;
mod value;
mod waterfall;

pub use error::AssembleError;
pub use evaluate::MemoStats;
pub use value::{Assembly, ContextItem, SectionItem, Shadowed};
pub use waterfall::{AssemblyListener, Draft, Next};

pub(crate) use evaluate::Memo;
pub(crate) use stages::assemble;
pub(crate) use waterfall::Listener;

use crate::{Mode, PromptSources, ToolOrder};

/// What a caller asks of an assembly.
#[derive(Debug, Clone, Default)]
pub struct AssembleOptions {
    /// How much of the composition is taken.
    pub mode: Mode,
    /// How much of the contexts, where that is another matter: a sub-agent has the short composition and
    /// takes over contexts of the main agent's.
    pub context_mode: Option<Mode>,
    /// Prompts given at launch or by an agent definition.
    pub sources: PromptSources,
    /// The order of tools; without one, names in code-unit order.
    pub tool_order: Option<ToolOrder>,
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
