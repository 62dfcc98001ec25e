//! The layers of a composition, and the rule for a project's text.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use bindery_core::{
    ContentHash, Context, Group, Kind, RegisterError, Registration, Scope, Section, Source, Trust, references,
};

use super::builtin::default_sections;
use super::file::SectionFile;
use super::folder::read_folder;
use crate::environment::PER_SESSION;
use crate::gate::{Gate, Passage};
use crate::instruction_contexts::quoted;
use crate::lock;
use crate::notice::{Notice, Position, Refused};
use crate::places::Places;
use crate::settings::{Chosen, Origin};

/// The keys of project sections that the user or operator lets stand in the system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grants {
    keys: Vec<String>,
    origin: Option<Origin>,
}

impl From<Chosen<Vec<String>>> for Grants {
    fn from(chosen: Chosen<Vec<String>>) -> Self {
        Self {
            keys: chosen.value,
            origin: Some(chosen.origin),
        }
    }
}

impl Grants {
    /// The setting that grants this key, if one does.
    fn of(&self, key: &str) -> Option<Source> {
        let named = self.keys.iter().any(|granted| granted == key);
        self.origin.as_ref().filter(|_| named).map(Origin::source)
    }
}

/// A composition, read and checked, not yet registered.
#[derive(Debug, Clone, Default)]
pub struct Composition {
    builtin: Vec<SectionFile>,
    user: Vec<SectionFile>,
    project: Vec<SectionFile>,
    grants: Grants,
    notices: Vec<Notice>,
}

/// Sections that take no part, by key: variants choose.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Those of the user's and the project's layer; a default section of the key stays.
    pub written: BTreeSet<String>,
    /// Those of the project's layer alone.
    pub project: BTreeSet<String>,
    /// Those of every layer.
    pub all: BTreeSet<String>,
}

/// Reads the three layers. Every problem is reported, not the first alone.
pub fn compose(places: &Places, grants: Grants) -> Result<Composition, Refused> {
    let mut problems = Vec::new();
    let mut keep = |result: Result<Vec<SectionFile>, Vec<Notice>>| {
        result.unwrap_or_else(|found| {
            problems.extend(found);
            Vec::new()
        })
    };
    let builtin = keep(default_sections());
    let user = match places.user_sections() {
        Some(folder) => keep(read_folder(&folder, places, None)),
        None => Vec::new(),
    };
    let project = keep(read_folder(
        &places.project_sections(),
        places,
        Some(&places.project),
    ));
    if !problems.is_empty() {
        return Err(Refused(problems));
    }
    let mut composition = Composition {
        builtin,
        user,
        project,
        grants,
        notices: Vec::new(),
    };
    composition.note();
    Ok(composition)
}

impl Composition {
    /// What was demoted, shadowed or granted in vain.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Registers everything: the default sections in `scope`, the user's in a child `user` of it, the
    /// project's in a child `project` of that. The innermost scope is returned; assemble from it.
    ///
    /// What is not the product's own passes the gate.
    pub fn register(&self, scope: &Scope, gate: &Gate) -> Result<(Scope, Vec<Registration>), RegisterError> {
        let mut registrations = Vec::new();
        for file in &self.builtin {
            let name = file.shown.clone();
            let section = file.section(Source::Builtin { name }, Trust::Builtin);
            registrations.push(scope.section(section)?);
        }
        let user = scope.child("user");
        for file in &self.user {
            let file = passed(file, &file.key, Trust::User, gate);
            registrations.push(user.section(file.section(file.source(), Trust::User))?);
        }
        let project = user.child("project");
        for file in &self.project {
            registrations.push(match self.placed(file, gate) {
                Placed::Section(section) => project.section(section)?,
                Placed::Message(context) => project.context(context)?,
            });
        }
        Ok((project, registrations))
    }

    fn placed(&self, file: &SectionFile, gate: &Gate) -> Placed {
        if let Some(grant) = self.grants.of(&file.key) {
            let file = passed(file, &file.key, Trust::Project, gate);
            return Placed::Section(file.section(file.source(), Trust::Project).granted_by(grant));
        }
        let name = message_name(&file.key);
        let passed = passed(file, &format!("context:{name}"), Trust::Project, gate);
        Placed::Message(
            Context::new(name, passed.body.as_str())
                .order(file.header.order)
                .modes(file.header.modes)
                .message(Kind::Instructions)
                .from_source(file.source(), Trust::Project),
        )
    }

    /// Leaves out what takes no part.
    pub fn select(&mut self, selection: &Selection) {
        if *selection == Selection::default() {
            return;
        }
        let gone =
            |of: &[&BTreeSet<String>], file: &SectionFile| of.iter().any(|keys| keys.contains(&*file.key));
        let Selection {
            written,
            project,
            all,
        } = selection;
        self.builtin.retain(|file| !gone(&[all], file));
        self.user.retain(|file| !gone(&[all, written], file));
        self.project.retain(|file| !gone(&[all, written, project], file));
        self.note();
    }

    /// The keys of the user's and the project's sections, and of all.
    pub fn keys(&self) -> (BTreeSet<&str>, BTreeSet<&str>) {
        let written: BTreeSet<&str> = self
            .user
            .iter()
            .chain(&self.project)
            .map(|file| &*file.key)
            .collect();
        let all = self.builtin.iter().map(|file| &*file.key);
        let all = all.chain(written.iter().copied()).collect();
        (written, all)
    }

    /// The project's sections, granted or not.
    pub fn project(&self) -> &[SectionFile] {
        &self.project
    }

    fn note(&mut self) {
        let mut notices = Vec::new();
        for file in &self.project {
            if self.grants.of(&file.key).is_none() {
                notices.push(demoted(file));
            }
        }
        let granted = self
            .project
            .iter()
            .filter(|file| self.grants.of(&file.key).is_some());
        let nearer: Vec<&SectionFile> = granted.collect();
        for file in &self.builtin {
            let by = nearer
                .iter()
                .copied()
                .chain(&self.user)
                .find(|other| other.key == file.key);
            notices.extend(by.map(|by| shadowed(file, by)));
        }
        for file in &self.user {
            let by = nearer.iter().find(|other| other.key == file.key);
            notices.extend(by.map(|by| shadowed(file, by)));
        }
        for file in self.user.iter().chain(nearer.iter().copied()) {
            notices.extend(volatile(file));
        }
        notices.extend(self.in_vain());
        self.notices = notices;
    }

    /// Grants that name no section: most often a slip, or a file that is gone.
    fn in_vain(&self) -> Vec<Notice> {
        let Some(origin) = &self.grants.origin else {
            return Vec::new();
        };
        // `mcp:NAME` grants the instructions of a server, and a style is no section of the project's.
        let is_known = |key: &String| {
            key.starts_with("mcp:")
                || key == crate::styles::KEY
                || self.project.iter().any(|file| &*file.key == key.as_str())
        };
        let vain = self.grants.keys.iter().filter(|key| !is_known(key));
        vain.map(|key| {
            let message = format!(
                "`grants` names `{}`, and this project has no such section",
                crate::visible::clipped(key, 60)
            );
            Notice::note("grant-unused", origin.at.clone(), message)
                .mend("nothing needs to be done if it is meant for another project")
        })
        .collect()
    }
}

enum Placed {
    Section(Section),
    Message(Context),
}

/// The file as the gate lets it in. What replaces a text is not searched for variables.
fn passed<'f>(file: &'f SectionFile, fragment: &str, trust: Trust, gate: &Gate) -> Cow<'f, SectionFile> {
    let approve = match trust {
        Trust::User => "mend the file".to_owned(),
        _ => format!("bindery lock approve {}", quoted(&file.shown)),
    };
    let passage = Passage {
        fragment,
        shown: &file.shown,
        trust,
        approval: gate.approval(&lock::section_key(file), ContentHash::of(file.text.as_bytes())),
        approve: &approve,
        place: &|line| {
            Position::line(
                file.shown.clone(),
                file.first_line.saturating_add(line).saturating_sub(1),
            )
        },
    };
    match gate.pass(&file.body, &passage) {
        Cow::Borrowed(_) => Cow::Borrowed(file),
        Cow::Owned(body) => {
            let mut replaced = file.clone();
            replaced.body = body;
            replaced.header.interpolate = false;
            Cow::Owned(replaced)
        }
    }
}

fn message_name(key: &str) -> Arc<str> {
    format!("section:{key}").into()
}

fn demoted(file: &SectionFile) -> Notice {
    let mut message = format!(
        "section `{}` is the project's, so it is delivered as a message and not in the system prompt",
        file.key
    );
    if file.header.complete {
        message.push_str("; `complete` has no effect there");
    }
    if file.header.interpolate && !references(&file.body).is_empty() {
        message.push_str("; its variables are not replaced");
    }
    Notice::warning("section-demoted", Position::whole(file.shown.clone()), message).mend(format!(
        "if you trust it, add grants = [\"{0}\"] to your own config.toml, or pass --grant {0}",
        file.key
    ))
}

fn shadowed(file: &SectionFile, by: &SectionFile) -> Notice {
    let message = format!(
        "section `{}` of {} takes the place of this one",
        file.key, by.shown
    );
    Notice::note("section-shadowed", Position::whole(file.shown.clone()), message)
}

/// A static section with a variable that differs between sessions: its prefix is never shared.
fn volatile(file: &SectionFile) -> Option<Notice> {
    if file.header.group != Group::Static || !file.header.interpolate {
        return None;
    }
    let name = references(&file.body)
        .into_iter()
        .find(|name| PER_SESSION.contains(name))?;
    let message = format!(
        "section `{}` is static and refers to `{{{{{name}}}}}`, which differs between sessions; nothing after it is shared",
        file.key
    );
    Some(
        Notice::warning("section-volatile", Position::whole(file.shown.clone()), message)
            .mend("set `group: dynamic`"),
    )
}
