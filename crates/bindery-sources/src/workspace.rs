//! Everything that this crate finds for a session, registered.

use std::sync::Arc;

use bindery_core::{RegisterError, Registration, Scope};

use crate::composition::{Grants, compose};
use crate::environment::Surroundings;
use crate::gate::Gate;
use crate::git_status::{GitStatus, Probe};
use crate::lock;
use crate::notice::{Notice, Position, Refused};
use crate::places::Places;
use crate::repository::Repository;
use crate::settings::Settings;
use crate::variants;

/// What a session is made of.
#[derive(Debug, Clone)]
pub struct Workspace<'a> {
    /// Where files lie.
    pub places: &'a Places,
    /// What the outside is like.
    pub surroundings: &'a Surroundings,
    /// The repository, if there is one.
    pub repository: Option<&'a Repository>,
    /// The settings that hold.
    pub settings: &'a Settings,
    /// How to ask git for its status; `None` leaves it out. The settings' deadline is put into it.
    pub probe: Option<&'a Probe>,
    /// Who the user is, if known: variants are chosen by it.
    pub user: Option<&'a str>,
    /// Variants that are fixed, by the session or by a flag.
    pub fixed: &'a [variants::Fixed],
    /// What every text from outside passes.
    pub gate: &'a Arc<Gate>,
}

/// What was registered. Dropping it removes everything again.
pub struct Registered {
    /// The innermost scope: assemble from this one.
    pub scope: Scope,
    /// The registrations, which keep everything in place.
    pub registrations: Vec<Registration>,
    /// What was demoted, shadowed, or is worth a look.
    pub notices: Vec<Notice>,
    /// The git status, to ask how the last look went.
    pub git_status: Option<Arc<GitStatus>>,
    /// The variants that hold.
    pub variants: Vec<variants::Assigned>,
    /// The project's sections, for their approval.
    pub sections: Vec<lock::Item>,
}

/// Reads sections and registers them with variables, date and git status. The default sections and
/// the facts of the session go into `scope`; the user's and the project's sections into scopes below it.
pub fn register(scope: &Scope, workspace: &Workspace<'_>) -> Result<Registered, Refused> {
    let grants = workspace.settings.grants().map(Grants::from).unwrap_or_default();
    let mut composition = compose(workspace.places, grants)?;
    let (experiments, mut told) = variants::experiments(workspace.places)?;
    let problems: Vec<Notice> = experiments
        .iter()
        .flat_map(|experiment| experiment.problems(&composition))
        .collect();
    if !problems.is_empty() {
        return Err(Refused(problems));
    }
    let project = workspace.places.project.to_string_lossy();
    let asking = variants::Asking {
        user: workspace.user,
        project: &project,
    };
    let (assigned, selection, notices) = variants::assign(&experiments, asking, workspace.fixed)?;
    composition.select(&selection);
    told.extend(notices);
    let refused = |error: RegisterError| {
        Refused::from(
            Notice::error("register", Position::whole(scope.name()), error.to_string())
                .mend("this is for the embedding program to settle"),
        )
    };
    let mut registrations = workspace
        .surroundings
        .register(scope, workspace.repository)
        .map_err(refused)?;
    let git_status = git_status(workspace);
    if let Some(status) = &git_status {
        registrations.push(scope.context(status.context(workspace.gate)).map_err(refused)?);
    }
    let (inner, sections) = composition.register(scope, workspace.gate).map_err(refused)?;
    registrations.extend(sections);
    Ok(Registered {
        scope: inner,
        registrations,
        notices: composition.notices().iter().cloned().chain(told).collect(),
        variants: assigned,
        git_status,
        sections: lock::sections(composition.project()),
    })
}

fn git_status(workspace: &Workspace<'_>) -> Option<Arc<GitStatus>> {
    let deadline = workspace.settings.git_status_deadline()?;
    let probe = Probe {
        deadline,
        ..workspace.probe?.clone()
    };
    Some(GitStatus::new(workspace.repository?.clone(), probe))
}

#[cfg(test)]
mod tests;
