//! Instruction files: which of them an agent sees here, in which order, and what became of the others.
//!
//! [`Loader`] applies a [`Dialect`] to a [`Host`] and gives a [`Manifest`]. It reads files and nothing
//! else: no environment, no clock. Reading never fails; what is wrong is a diagnostic.

mod activation;
mod caps;
mod comments;
mod consider;
mod diagnostic;
mod expand;
mod folder;
mod follow;
mod host;
mod imports;
mod joined;
mod listing;
mod look_alikes;
mod manifest;
mod place;
mod prepare;
mod reason;
mod roots;
mod screen;
mod send;
mod session;
mod settings;
mod suggest;
mod touch;

#[cfg(test)]
mod tests;

use crate::dialect::Dialect;
use crate::reading::Reader;

pub use activation::pattern_matches;
pub use diagnostic::{Code, Diagnostic, Severity};
pub use host::{Approval, Boundary, Bypass, CaseRule, Host, ListForeign, MustKeep, Options};
pub use imports::{Token, is_secret, scan};
pub use manifest::{Candidate, Lost, Manifest, Status, Totals};
pub use reason::Reason;

use caps::Reserve;
use session::Session;

/// Applies a dialect to a machine.
#[derive(Debug, Clone, Copy)]
pub struct Loader<'a> {
    dialect: &'a Dialect,
}

impl<'a> Loader<'a> {
    /// A loader for a dialect.
    pub fn new(dialect: &'a Dialect) -> Self {
        Self { dialect }
    }

    /// What the dialect's client would load.
    pub fn load(&self, host: &Host) -> Manifest {
        self.load_with(host, &mut Reader::new())
    }

    /// As [`Loader::load`], with a reader that others may share, so that files are read once.
    ///
    /// Where what must be kept would not fit in what earlier files left of a shared limit, a second look
    /// sets it aside from the start.
    pub fn load_with(&self, host: &Host, reader: &mut Reader) -> Manifest {
        let (manifest, must_keep) = self.look(host, reader, Reserve::new());
        let is_lost = manifest
            .diagnostics
            .iter()
            .any(|note| note.code == Code::MustKeepLost);
        if is_lost && !must_keep.is_empty() {
            return self.look(host, reader, must_keep).0;
        }
        manifest
    }

    /// One look, with parts of shared limits set aside; the manifest, and what its files must keep.
    fn look(self, host: &Host, reader: &mut Reader, reserved: Reserve) -> (Manifest, Reserve) {
        let mut session = Session::new(self.dialect, host, reader);
        session.budget.reserve(reserved);
        if let Some(bypass) = &host.options.bypass {
            session.bypass(bypass);
            return (session.finish(), Reserve::new());
        }
        for place in &self.dialect.places {
            session.look_through(place);
        }
        let touches = session.touched();
        let visited = session.touch_all(&touches);
        session.list_look_alikes(&visited);
        if host.options.list_foreign == ListForeign::Yes {
            session.list_foreign();
        }
        let must_keep = session.budget.met().clone();
        (session.finish(), must_keep)
    }
}
