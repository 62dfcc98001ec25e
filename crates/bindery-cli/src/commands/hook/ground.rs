//! What is declared in a directory.

use std::path::{Path, PathBuf};

use bindery::here::{self, Question};
use bindery::sources::hooks::{Clients, Declared, declared};
use bindery::sources::lock::{ContextLock, Store};
use bindery::sources::settings::{Request, Settings};

use crate::outside;
use crate::status::UsageError;

/// A directory with its settings and what they declare.
pub(super) struct Ground {
    pub(super) dir: PathBuf,
    pub(super) question: Question,
    pub(super) settings: Settings,
    pub(super) declared: Declared,
}

impl Ground {
    /// Reads what is declared; `clients` where it is known whose hooks are meant.
    pub(super) fn read(dir: &Path, clients: Option<Clients>) -> anyhow::Result<Self> {
        let dir = std::fs::canonicalize(dir)
            .map_err(|error| UsageError(format!("{} cannot be entered: {error}", dir.display())))?;
        let question = outside::question(dir.clone(), Request::default());
        let settings = here::settings(&question)?;
        let dialect = settings.instructions().map(|chosen| chosen.value);
        let clients = clients.unwrap_or_else(|| Clients::of_dialect(dialect.as_deref().unwrap_or("auto")));
        let store = Store::new(&question.places, settings.approvals());
        let approvals = match store.map(|store| store.read()) {
            None => ContextLock::default(),
            Some(Ok(approvals)) => approvals,
            Some(Err(notice)) => return Err(bindery::sources::Refused::from(notice).into()),
        };
        let declared = declared(&question.places, &question.environment, clients, &approvals)?;
        Ok(Self {
            dir,
            question,
            settings,
            declared,
        })
    }
}
