//! Where skills lie.

use std::path::PathBuf;

use super::SkillRoot;
use crate::clients::ClientHomes;
use crate::dialect::Scope;
use crate::hooks::Clients;
use crate::places::Places;

/// The directories of skills, the one that counts most first: the user's before the project's, so that a
/// repository cannot put its own text in the place of a skill that the user knows; our own before the clients'.
/// `dialect` says whose skills are read beside our own.
pub fn roots(places: &Places, homes: &ClientHomes, dialect: &str) -> Vec<SkillRoot> {
    let clients = Clients::of_dialect(dialect);
    let agents = |home: &PathBuf| home.join(".agents");
    let user = [
        places.user.clone(),
        homes.claude.clone(),
        homes.codex.clone(),
        places.home.as_ref().map(agents).filter(|_| clients.codex),
    ];
    let project = [
        Some(".bindery"),
        clients.claude.then_some(".claude"),
        clients.codex.then_some(".codex"),
        clients.codex.then_some(".agents"),
    ];
    let user = user.into_iter().flatten().map(|folder| (folder, Scope::User));
    let project = project.into_iter().flatten();
    let project = project.map(|name| (places.project.join(name), Scope::Project));
    let mut out: Vec<SkillRoot> = Vec::new();
    for (folder, scope) in user.chain(project) {
        let path = folder.join("skills");
        // A home that is a repository itself: what is the user's stays the user's.
        if !out.iter().any(|root| root.path == path) {
            out.push(SkillRoot { path, scope });
        }
    }
    out
}
