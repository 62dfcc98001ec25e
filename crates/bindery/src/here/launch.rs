//! What a launch adds to the composition: memory, skills, output style and language, Codex's own prompts.

use std::collections::BTreeMap;

use bindery_core::{CustomMode, PromptSources, Registration, Scope};
use bindery_sources::clients::ClientHomes;
use bindery_sources::gate::Gate;
use bindery_sources::memory::{self, Book, Bounds, MemoryRoot, Notebook};
use bindery_sources::reading::Reader;
use bindery_sources::settings::{self, Settings};
use bindery_sources::skills::{self, SkillIndex};
use bindery_sources::{Notice, Refused, codex, styles};

use super::{DEFAULT_DIALECT, Question, internal};

/// Memory and skills of a session, and what they registered.
#[derive(Default)]
pub struct Launch {
    /// Where memories lie; none where memory is switched off.
    pub memory: Vec<MemoryRoot>,
    /// The skills; none where they are switched off.
    pub skills: SkillIndex,
    /// The memories as they were read.
    pub(super) notebook: Notebook,
    /// Registrations of memory, for whoever registers it anew as it changes.
    pub(super) of_memory: Vec<Registration>,
    kept: Vec<Registration>,
}

/// The dialect of instruction files that holds, by name.
pub(super) fn dialect_name(settings: &Settings) -> String {
    let chosen = settings.instructions();
    chosen.map_or_else(|| DEFAULT_DIALECT.to_owned(), |chosen| chosen.value)
}

/// The client's folders that are read beside our own.
pub(super) fn homes(question: &Question, settings: &Settings) -> ClientHomes {
    ClientHomes::of(&question.places, &question.environment, &dialect_name(settings))
}

/// Who the user is: as set, else the name of the account.
pub(super) fn user(settings: &Settings, environment: &BTreeMap<String, String>) -> Option<String> {
    let account = ["USER", "LOGNAME", "USERNAME"].into_iter();
    let account = account
        .filter_map(|name| environment.get(name))
        .find(|name| !name.is_empty());
    settings
        .user()
        .map(|chosen| chosen.value)
        .or_else(|| account.cloned())
}

/// The settings, where a profile may be Codex's alone.
pub(super) fn with_profile(question: &Question) -> Result<Settings, Refused> {
    let request = &question.request;
    let (places, from) = (&question.places, &question.paths_from);
    let plain = settings::load(places, from, request);
    let (Err(refused), Some(profile)) = (&plain, &request.profile) else {
        return plain;
    };
    if !refused.0.iter().all(|notice| notice.code == "setting-profile") {
        return plain;
    }
    let codex = ClientHomes::of(&question.places, &question.environment, "codex").codex;
    if !codex.is_some_and(|home| codex::profile_file(&home, profile).is_file()) {
        return plain;
    }
    let loaded = settings::load_beside_client(places, from, request)?;
    if is_codex(&dialect_name(&loaded)) {
        Ok(loaded)
    } else {
        plain
    }
}

fn is_codex(dialect: &str) -> bool {
    dialect == "codex" || dialect.starts_with("codex@")
}

/// What Codex's settings say to the model, where its dialect holds and our settings say nothing else.
pub(super) fn codex_prompts(
    question: &Question,
    settings: &Settings,
    homes: &ClientHomes,
    sources: &mut PromptSources,
) -> Vec<Notice> {
    let Some(home) = homes.codex.as_ref().filter(|_| is_codex(&dialect_name(settings))) else {
        return Vec::new();
    };
    let prompts = codex::read(home, question.request.profile.as_deref(), &question.places);
    if sources.custom.is_none() && sources.override_prompt.is_none() {
        sources.custom = prompts.base.map(|base| (base, CustomMode::Replace));
    }
    sources.developer = sources.developer.take().or(prompts.developer);
    prompts.notices
}

impl Launch {
    /// Reads and registers everything in `scope`, the innermost one.
    pub(super) fn open(
        question: &Question,
        settings: &Settings,
        homes: &ClientHomes,
        gate: &Gate,
        scope: &Scope,
    ) -> Result<(Self, Vec<Notice>), Refused> {
        let places = &question.places;
        let (kept, mut notices) = styles::register(settings, places, homes, gate, scope)?;
        let mut out = Self {
            kept,
            ..Self::default()
        };
        if settings.skills() {
            let roots = skills::roots(places, homes, &dialect_name(settings));
            out.skills = SkillIndex::read(&roots, places, &mut Reader::new());
            let (kept, told) = out
                .skills
                .register(places, gate, scope)
                .map_err(|error| internal(&error))?;
            out.kept.extend(kept);
            notices.extend(told);
        }
        if settings.memory() {
            out.memory = memory::roots(places, homes.claude.as_deref());
            out.notebook = Notebook::read(&out.memory, places, Bounds::default());
            let kept = out.notebook.register(gate, scope);
            out.of_memory = kept.map_err(|error| internal(&error))?;
            notices.append(&mut out.notebook.notices);
        }
        Ok((out, notices))
    }

    /// The memories that are there.
    pub fn books(&self) -> impl Iterator<Item = &Book> {
        self.notebook.books.iter()
    }

    /// Registers what fits words that were said.
    pub(super) fn recall(&mut self, said: &str, gate: &Gate, scope: &Scope) -> Result<(), Refused> {
        let kept = self.notebook.register_recalled(said, gate, scope);
        self.of_memory.extend(kept.map_err(|error| internal(&error))?);
        Ok(())
    }
}
