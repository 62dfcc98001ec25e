//! A session's view of the registry: assembles, and remembers for as long as cadences allow.

use std::sync::Arc;

use crate::assembly::{AssembleError, AssembleOptions, Assembly, Memo, MemoStats, assemble};
use crate::registry::Scope;
use crate::render::{RenderCache, SharedCache};
use crate::template::RenderError;
use crate::{RuntimeContext, SystemPrompt};

/// Assembles requests for one scope. Exclusive access per assembly is what makes "each provider at
/// most once a step" hold without locks across awaits.
pub struct Session {
    scope: Scope,
    memo: Memo,
    renders: SharedCache,
}

/// Everything an assembly contributes to a request.
#[derive(Debug, Clone)]
pub struct Rendered {
    /// The assembly it was rendered from.
    pub assembly: Assembly,
    /// The system lane.
    pub system: SystemPrompt,
    /// The contexts that travel as messages.
    pub context: RuntimeContext,
}

/// An assembly or its rendering failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The assembly failed.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// A reference could not be replaced.
    #[error(transparent)]
    Render(#[from] RenderError),
}

impl Session {
    /// A session over a scope, with a render cache of its own.
    pub fn new(scope: Scope) -> Self {
        Self::sharing(scope, Arc::default())
    }

    /// A session that shares rendered text with others.
    pub fn sharing(scope: Scope, renders: Arc<RenderCache>) -> Self {
        Self {
            scope,
            memo: Memo::default(),
            renders,
        }
    }

    /// The scope.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The render cache.
    pub fn renders(&self) -> &Arc<RenderCache> {
        &self.renders
    }

    /// How often providers ran and texts changed.
    pub fn stats(&self) -> MemoStats {
        self.memo.stats()
    }

    /// Begins a user submission, and with it a step.
    pub fn begin_submission(&mut self) {
        self.memo.begin_submission();
    }

    /// Begins a step: every provider may be asked once more.
    pub fn begin_step(&mut self) {
        self.memo.begin_step();
    }

    /// Asks again, at the next assembly, for every section or context of this name, though its source
    /// says that nothing changed.
    pub fn invalidate(&mut self, name: &str) {
        self.memo.invalidate(name);
    }

    /// Assembles within the current step.
    pub async fn assemble(&mut self, options: &AssembleOptions) -> Result<Assembly, AssembleError> {
        assemble(&self.scope, options, &mut self.memo).await
    }

    /// Assembles and renders in one go, for callers that keep no log.
    pub async fn render(&mut self, options: &AssembleOptions) -> Result<Rendered, SessionError> {
        let assembly = self.assemble(options).await?;
        let context = assembly.render_context(&self.renders)?;
        let system = assembly.render_system(&self.renders)?;
        Ok(Rendered {
            assembly,
            system,
            context,
        })
    }
}

#[cfg(test)]
mod tests;
