//! A session in a directory: settings, sections, environment and instruction files, registered.
//!
//! This is the glue that a harness would otherwise write itself. It reads disk through
//! `bindery-sources` and nothing else: what the process's environment says arrives in [`Question`].

mod launch;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use bindery_core::{AssembleOptions, PromptSources, PromptText, Registration, Scope, Session, Source};
use bindery_guard::policy::Approval;
use bindery_sources::clients::ClientHomes;
use bindery_sources::dialect::Scope as Owner;
use bindery_sources::dialect::{Catalogue, Dialect};
use bindery_sources::environment::Surroundings;
use bindery_sources::gate::{Gate, Passage, Scan};
use bindery_sources::git_status::{GitStatus, Probe};
use bindery_sources::hooks::Clients;
use bindery_sources::instructions::{self, Host, Loader, Manifest};
use bindery_sources::lock::{self, ContextLock, Entry, Standing};
use bindery_sources::mcp::{self, SeenTools};
use bindery_sources::places::Places;
use bindery_sources::reading::Reader;
use bindery_sources::repository::Repository;
use bindery_sources::settings::{self, Settings};
use bindery_sources::skills::{self, SkillIndex};
use bindery_sources::variants::Assigned;
use bindery_sources::{
    Level, Notice, Position, Refused, Registered, Workspace, instruction_contexts, register,
};
use bindery_tokens::Makers;
use bindery_wire::{Params, Provider};

pub use launch::Launch;

/// Everything that decides a request apart from files.
#[derive(Debug, Clone)]
pub struct Question {
    /// Where settings and sections lie.
    pub places: Places,
    /// The repository around the working directory.
    pub repository: Option<Repository>,
    /// Where relative paths on the command line start.
    pub paths_from: PathBuf,
    /// What the outside is like; the model is filled in from the settings.
    pub surroundings: Surroundings,
    /// How to ask git for its status; `None` leaves it out.
    pub probe: Option<Probe>,
    /// Files that the agent touched: instruction files on the way to them attach.
    pub touch: Vec<PathBuf>,
    /// Environment variables that instruction dialects name (`CODEX_HOME`, …).
    pub environment: BTreeMap<String, String>,
    /// Profile, overrides and flags.
    pub request: settings::Request,
}

/// A session with everything registered.
pub struct Here {
    /// Assembles requests.
    pub session: Session,
    /// What every assembly is asked with.
    pub options: AssembleOptions,
    /// Whose format requests are in.
    pub provider: Provider,
    /// How they are to be answered.
    pub params: Params,
    /// The settings that hold.
    pub settings: Settings,
    /// What was skipped, demoted, shadowed or cut.
    pub notices: Vec<Notice>,
    /// The instruction files: every candidate and what became of it. `None` where they are switched off.
    pub manifest: Option<Manifest>,
    /// Every text here that needs approval, and how it stands.
    pub standings: Vec<Standing>,
    /// Memory and skills.
    pub launch: Launch,
    /// The variants that hold.
    pub variants: Vec<Assigned>,
    /// Who the user is, if known.
    pub user: Option<String>,
    gate: Arc<Gate>,
    git_status: Option<Arc<GitStatus>>,
    instructions: Vec<Registration>,
    _registered: Registered,
}

/// What there is to tell once providers have run.
#[derive(Clone)]
pub struct Told {
    gate: Arc<Gate>,
    git_status: Option<Arc<GitStatus>>,
}

/// The scope of what a launch adds; nearer than the project's.
const LAUNCH: &str = "launch";

/// The most tokens an answer may have where nobody says so.
const MAX_TOKENS: u32 = 32_000;

/// The instruction dialect where nobody chose one.
const DEFAULT_DIALECT: &str = "auto";

/// The settings that hold for a question.
pub fn settings(question: &Question) -> Result<Settings, Refused> {
    launch::with_profile(question)
}

/// The folders of other clients that are read here beside our own.
pub fn client_homes(question: &Question) -> Result<ClientHomes, Refused> {
    Ok(launch::homes(question, &settings(question)?))
}

/// The skills here, whether or not a session would offer them.
pub fn skills(question: &Question) -> Result<SkillIndex, Refused> {
    let settings = settings(question)?;
    let roots = skills::roots(
        &question.places,
        &launch::homes(question, &settings),
        &launch::dialect_name(&settings),
    );
    Ok(SkillIndex::read(&roots, &question.places, &mut Reader::new()))
}

/// The gate that texts would pass here: the policy of the settings, and the approvals that hold.
pub fn gate(question: &Question) -> Result<Gate, Refused> {
    let settings = settings(question)?;
    let approvals = approvals(question, &settings)?;
    Ok(Gate::new(settings.guard(), approvals))
}

/// Reads settings and sections and registers everything. Every problem found is in the refusal.
pub fn open(question: &Question) -> Result<Here, Refused> {
    let settings = settings(question)?;
    let provider = provider(&settings)?;
    let model = settings
        .model()
        .map_or_else(|| provider.default_model().to_owned(), |chosen| chosen.value);
    let surroundings = Surroundings {
        model: Some(model.clone()),
        ..question.surroundings.clone()
    };
    let approvals = approvals(question, &settings)?;
    let gate = Arc::new(Gate::new(settings.guard(), approvals));
    let user = launch::user(&settings, &question.environment);
    let workspace = Workspace {
        places: &question.places,
        surroundings: &surroundings,
        repository: question.repository.as_ref(),
        settings: &settings,
        probe: question.probe.as_ref(),
        user: user.as_deref(),
        fixed: &question.request.flags.variants,
        gate: &gate,
    };
    let mut registered = register(&Scope::global(), &workspace)?;
    registered.notices.extend(unusable_git(question));
    let manifest = instructions(question, &settings, &gate)?;
    let mut contexts = Vec::new();
    if let Some(manifest) = &manifest {
        let refusals = instruction_contexts::refusals(manifest, &question.places);
        if !refusals.is_empty() {
            return Err(Refused(refusals));
        }
        let kept = instruction_contexts::register(manifest, &question.places, &gate, &registered.scope);
        contexts = kept.map_err(|error| internal(&error))?;
        registered
            .notices
            .extend(instruction_contexts::notices(manifest, &question.places));
    }
    let homes = launch::homes(question, &settings);
    let scope = registered.scope.child(LAUNCH);
    let (launch, told) = Launch::open(question, &settings, &homes, &gate, &scope)?;
    registered.notices.extend(told);
    let mut sources = settings::prompt_sources(&settings, &question.places)?;
    let told = launch::codex_prompts(question, &settings, &homes, &mut sources);
    registered.notices.extend(told);
    let options = AssembleOptions {
        mode: settings.mode(),
        context_mode: None,
        sources: pass_prompts(sources, &gate),
        tool_order: settings.tool_order(),
    };
    let standings = standings(question, &settings, &gate, manifest.as_ref(), &mut registered);
    let mut notices = settings.notices().to_vec();
    notices.extend(foreign_model(&settings, provider));
    notices.append(&mut registered.notices);
    notices.extend(gate.take_notices());
    let max_tokens = settings
        .max_tokens()
        .map_or(MAX_TOKENS, |most| u32::try_from(most).unwrap_or(u32::MAX));
    let params = Params {
        effort: settings.effort().map(|chosen| chosen.value),
        tier: settings.tier().map(|chosen| chosen.value),
        ..Params::new(model, max_tokens)
    };
    Ok(Here {
        session: Session::new(scope),
        options,
        provider,
        params,
        settings,
        notices,
        manifest,
        standings,
        gate,
        launch,
        variants: std::mem::take(&mut registered.variants),
        user,
        git_status: registered.git_status.clone(),
        instructions: contexts,
        _registered: registered,
    })
}

impl Here {
    /// The gate that texts from outside pass on their way in.
    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// What a reading of instruction files asks for: touched paths, and the imports that are approved.
    pub fn loading(&self, question: &Question) -> instructions::Options {
        loading(question, &self.gate)
    }

    /// What the scan of a fragment's text came to. Text of the product and the operator, and what is said
    /// in the conversation, is not scanned, and this says so.
    pub fn scan_of(&self, fragment: &str) -> Scan {
        self.gate.scan_of(fragment).unwrap_or_else(Scan::not_scanned)
    }

    /// Adds what can only be said once providers have run: what was found in their texts, and how the look
    /// at git's status went.
    pub fn after_assembly(&mut self) {
        let told = self.told().take();
        self.notices.extend(told);
    }

    /// The same for whoever assembles without this value.
    pub fn told(&self) -> Told {
        Told {
            gate: self.gate.clone(),
            git_status: self.git_status.clone(),
        }
    }

    /// Takes instruction files and memory out of the session: for whoever registers them anew as they change.
    /// One that is deleted then would otherwise go on speaking from here.
    pub fn give_up_instructions(&mut self) {
        self.instructions.clear();
        self.launch.of_memory.clear();
    }

    /// Recalls the notes of memory that fit words that are said, as a session does by itself.
    pub fn recall(&mut self, said: &str) -> Result<(), Refused> {
        self.launch.recall(said, &self.gate, self.session.scope())
    }
}

impl Told {
    /// What was found in texts since the last time, and whether git's status is complete.
    pub fn take(&self) -> Vec<Notice> {
        let mut notices = self.gate.take_notices();
        let report = self.git_status.as_ref().and_then(|status| status.last());
        if let Some(report) = report
            && let Some(message) = report.incomplete()
        {
            notices.push(Notice {
                level: Level::Warning,
                code: "git-status-incomplete".into(),
                at: Position::whole("git status"),
                message,
                excerpt: None,
                mend: report.mend().to_owned(),
            });
        }
        notices
    }
}

/// The approvals that hold. A file that cannot be read is an error, never an approval.
fn approvals(question: &Question, settings: &Settings) -> Result<ContextLock, Refused> {
    let store = lock::Store::new(&question.places, settings.approvals());
    Ok(store.map_or_else(|| Ok(ContextLock::default()), |store| store.read())?)
}

/// Every text that needs approval, against its approval.
fn standings(
    question: &Question,
    settings: &Settings,
    gate: &Gate,
    manifest: Option<&Manifest>,
    registered: &mut Registered,
) -> Vec<Standing> {
    let places = &question.places;
    let mut items = std::mem::take(&mut registered.sections);
    if let Some(manifest) = manifest {
        items.extend(lock::instructions(manifest, gate.approvals(), places));
    }
    let (hooks, notices) = lock::hooks(places);
    items.extend(hooks);
    registered.notices.extend(notices);
    let (servers, notices) = lock::mcp_servers(places);
    items.extend(servers);
    registered.notices.extend(notices);
    items.extend(mcp_tools(question, gate, settings));
    lock::compare(gate.approvals(), items, places, &question.surroundings.cwd)
}

/// The tools of servers that may be started, as they were last seen. Those of the user's own servers are no
/// concern of the project's, unless somebody approved them.
fn mcp_tools(question: &Question, gate: &Gate, settings: &Settings) -> Vec<lock::Item> {
    let Some(seen) = SeenTools::new(&question.places) else {
        return Vec::new();
    };
    let declared = mcp_servers(question, settings, gate, &[], false).unwrap_or_default();
    let mut items = lock::mcp_tools(&declared.servers, &seen);
    let is_approved = |item: &lock::Item| gate.approvals().get(&item.key).is_some();
    for item in &mut items {
        if item.key.scope != Owner::Project && !is_approved(item) {
            item.entry = Entry::Elsewhere;
        }
    }
    items
}

/// The MCP servers that are declared here, and those of files that the command line names.
pub fn mcp_servers(
    question: &Question,
    settings: &Settings,
    gate: &Gate,
    given: &[PathBuf],
    given_alone: bool,
) -> Result<mcp::Declared, Refused> {
    let dialect = settings.instructions().map(|chosen| chosen.value);
    mcp::declared(&mcp::Asked {
        places: &question.places,
        environment: &question.environment,
        clients: Clients::of_dialect(dialect.as_deref().unwrap_or(DEFAULT_DIALECT)),
        approvals: gate.approvals(),
        given,
        given_alone,
    })
}

/// Prompts from files, as the gate lets them in.
fn pass_prompts(mut sources: PromptSources, gate: &Gate) -> PromptSources {
    let agent = sources
        .agent
        .as_mut()
        .map(|(text, _)| ("prompt:agent".to_owned(), text));
    let custom = sources
        .custom
        .as_mut()
        .map(|(text, _)| ("prompt:custom".to_owned(), text));
    let append = sources
        .append
        .iter_mut()
        .enumerate()
        .map(|(at, text)| (format!("prompt:append.{at:04}"), text));
    let whole = sources
        .override_prompt
        .as_mut()
        .map(|text| ("prompt:override".to_owned(), text));
    let coordinator = sources
        .coordinator
        .as_mut()
        .map(|text| ("prompt:coordinator".to_owned(), text));
    let developer = sources
        .developer
        .as_mut()
        .map(|text| ("prompt:developer".to_owned(), text));
    let others = whole.into_iter().chain(coordinator).chain(developer);
    for (fragment, text) in agent.into_iter().chain(custom).chain(append).chain(others) {
        pass_prompt(&fragment, text, gate);
    }
    sources
}

fn pass_prompt(fragment: &str, prompt: &mut PromptText, gate: &Gate) {
    let (shown, first) = match &prompt.source {
        Source::File { path, lines } => (path.clone(), lines.map_or(1, |(first, _)| first)),
        // The operator's own words.
        _ => return,
    };
    let passage = Passage {
        fragment,
        shown: &shown,
        trust: prompt.trust,
        approval: Approval::Missing,
        approve: "mend the file, or name another one",
        place: &|line| Position::line(shown.clone(), first.saturating_add(line).saturating_sub(1)),
    };
    if let Cow::Owned(text) = gate.pass(&prompt.text, &passage) {
        prompt.text = text.into();
    }
}

/// A `.git` that is no repository: the root lies elsewhere then, and other files count as the project's.
fn unusable_git(question: &Question) -> Vec<Notice> {
    let passed = Repository::passed_by(&question.surroundings.cwd, question.repository.as_ref());
    let notice = |entry: PathBuf| Notice {
        level: Level::Warning,
        code: "git-unusable".into(),
        at: Position::whole(question.places.shown(&entry)),
        message: "this is no git repository, or cannot be read, and was passed by".to_owned(),
        excerpt: None,
        mend: "`git status` says what is wrong with it; remove it if nothing needs it".to_owned(),
    };
    passed.into_iter().map(notice).collect()
}

/// The dialect that the settings name; `None` where instruction files are switched off.
pub fn dialect_of(question: &Question) -> Result<Option<Dialect>, Refused> {
    dialect(&settings(question)?)
}

fn dialect(settings: &Settings) -> Result<Option<Dialect>, Refused> {
    let chosen = settings.instructions();
    let name = chosen.as_ref().map_or(DEFAULT_DIALECT, |chosen| &chosen.value);
    if name == "none" {
        return Ok(None);
    }
    let dialect = Catalogue::shipped().get(name).map_err(|error| match &chosen {
        Some(chosen) => settings::refused(
            &chosen.origin,
            error.to_string(),
            "choose one of these, or `none`",
        )
        .into(),
        None => internal(&error),
    })?;
    Ok(Some(dialect))
}

/// The instruction files here, read by the dialect that the settings name.
fn instructions(question: &Question, settings: &Settings, gate: &Gate) -> Result<Option<Manifest>, Refused> {
    let Some(dialect) = dialect(settings)? else {
        return Ok(None);
    };
    let host = Host {
        cwd: question.surroundings.cwd.clone(),
        home: question.surroundings.home.clone(),
        environment: question.environment.clone(),
        managed: None,
        options: loading(question, gate),
    };
    Ok(Some(Loader::new(&dialect).load(&host)))
}

fn loading(question: &Question, gate: &Gate) -> instructions::Options {
    instructions::Options {
        touch: question.touch.clone(),
        approvals: lock::verified_imports(gate.approvals(), &question.places),
        must_keep: instructions::MustKeep::First,
        ..instructions::Options::default()
    }
}

/// What is used for a setting that nobody made, where that depends on another one.
pub fn used_for(key: settings::Key, settings: &Settings) -> Option<String> {
    match key {
        settings::Key::Model => Some(format!("\"{}\"", provider(settings).ok()?.default_model())),
        settings::Key::MaxTokens => Some(MAX_TOKENS.to_string()),
        _ => None,
    }
}

/// A chosen model that the chosen provider's own endpoint does not serve. A gateway may, so it only is noted.
fn foreign_model(settings: &Settings, provider: Provider) -> Option<Notice> {
    let chosen = settings.model()?;
    let makers = Makers::built_in().ok()?;
    let maker = makers
        .of(&chosen.value)
        .filter(|maker| *maker != provider.maker())?;
    Some(Notice {
        level: Level::Note,
        code: "model-of-another-maker".into(),
        at: chosen.origin.at.clone(),
        message: format!(
            "`{}` is a model of {maker}, and the request is in the format of {provider}",
            chosen.value
        ),
        excerpt: None,
        mend: "right if a gateway serves it in this format; else choose another provider or model".to_owned(),
    })
}

/// A failure that no user's input should be able to cause, told as such.
fn internal(error: &dyn std::fmt::Display) -> Refused {
    Refused(vec![Notice {
        level: Level::Error,
        code: "internal".into(),
        at: Position::whole("bindery"),
        message: error.to_string(),
        excerpt: None,
        mend: "this is a mistake in Bindery; please report it".to_owned(),
    }])
}

/// The provider that the settings name.
fn provider(settings: &Settings) -> Result<Provider, Refused> {
    let Some(chosen) = settings.provider() else {
        return Ok(Provider::Anthropic);
    };
    Provider::from_str(&chosen.value)
        .map_err(|error| settings::refused(&chosen.origin, error.to_string(), "choose one of these").into())
}
