//! From disk to a [`Subject`]: the one part of the check that reads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bindery_core::{CountTokens, Mode, Place, SessionError, Source, Text};
use bindery_guard::{Scanner, scan};
use bindery_sources::agents::{self, Agents};
use bindery_sources::composition::read_folder;
use bindery_sources::dialect::{Catalogue, CatalogueError, Dialect, Scope};
use bindery_sources::environment::Surroundings;
use bindery_sources::hooks::Clients;
use bindery_sources::instructions::{Boundary, Host, Loader, Options};
use bindery_sources::places::Places;
use bindery_sources::reading::Reader;
use bindery_sources::repository::Repository;
use bindery_sources::settings::{self, Flags};
use bindery_sources::tree::{Spelling, Tree};
use bindery_sources::{Position, Refused, variants};
use bindery_tokens::{Tokenizers, Windows};

use super::links::{links, target};
use super::subject::{Composed, Reading, Subject, SubjectText};
use super::{commands, paths};
use crate::here;

/// More files than this are not looked through; patterns and links are then not judged.
const MOST_FILES: usize = 500_000;
/// In so many directories below the one asked for, work is imagined.
const MOST_DIRECTORIES: usize = 512;
/// So many bytes of a section or settings file are read.
const MOST_BYTES: u64 = 1 << 20;

/// What to check.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The directory, absolute, links resolved.
    pub directory: PathBuf,
    /// The dialects, by name; none for each that has files here.
    pub dialects: Vec<String>,
    /// The home directory, if the user's own files are to be checked. Without it the result is the same on
    /// every machine.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, in the same case.
    pub config_home: Option<PathBuf>,
    /// Environment variables that dialects name, in the same case.
    pub environment: BTreeMap<String, String>,
}

/// Reads everything that a check looks at.
///
/// # Errors
/// Only for a dialect that is not there: what is wrong with files is in the subject.
pub fn gather(request: &Request, scanner: &Scanner) -> Result<Subject, CatalogueError> {
    let repository = Repository::discover(&request.directory);
    let root = repository
        .as_ref()
        .map_or_else(|| request.directory.clone(), |repository| repository.root.clone());
    let places = Places::new(
        request.home.as_deref(),
        request.config_home.as_deref(),
        root.clone(),
    );
    let tree = Tree::walk(&root, MOST_FILES);
    let mut reader = Reader::new();
    let mut bounds = Vec::new();
    if !tree.is_complete() {
        bounds.push(format!(
            "the project has more than {MOST_FILES} files; patterns and links are not judged"
        ));
    }
    let mut readings = Vec::new();
    for dialect in dialects(request, &tree)? {
        let mut directories = homes(&dialect, &tree);
        directories.retain(|home| home.starts_with(&request.directory));
        directories.remove(&request.directory);
        if directories.len() > MOST_DIRECTORIES {
            bounds.push(format!(
                "{} has files in {} directories; {MOST_DIRECTORIES} are checked, check the others by name",
                dialect.client,
                directories.len()
            ));
        }
        readings.extend(read(request, directories, &Arc::new(dialect), &mut reader));
    }
    let mut subject = Subject {
        servers: bindery_sources::mcp::problems(&places),
        agents: project_agents(&places, &mut reader),
        bounds,
        composed: composed(request, &places, repository.as_ref()),
        places: Some(places),
        tree,
        readings,
        ..Subject::default()
    };
    texts(&mut subject, &mut reader, scanner);
    subject.outside_tree = outside_tree(&subject);
    if let Some(text) = subject.texts.get("bindery.toml") {
        subject.silenced = settings::silenced(&text.text, "bindery.toml");
    }
    Ok(subject)
}

/// The definitions of agents that the project brings.
fn project_agents(places: &Places, reader: &mut Reader) -> Agents {
    let clients = Clients {
        claude: true,
        codex: true,
    };
    let mut roots = agents::roots(places, &BTreeMap::new(), clients);
    roots.retain(|root| root.scope == Scope::Project);
    Agents::read(&roots, reader)
}

/// The dialects asked for, or those that have files here.
fn dialects(request: &Request, tree: &Tree) -> Result<Vec<Dialect>, CatalogueError> {
    let catalogue = Catalogue::shipped();
    if !request.dialects.is_empty() {
        return request.dialects.iter().map(|name| catalogue.get(name)).collect();
    }
    let names: BTreeSet<&str> = catalogue
        .list()
        .into_iter()
        .map(|listed| listed.name.as_str())
        .collect();
    let mut found = Vec::new();
    for name in names.into_iter().filter(|name| *name != "auto") {
        let dialect = catalogue.get(name)?;
        let on_the_way = |directory: &PathBuf| {
            directory.starts_with(&request.directory) || request.directory.starts_with(directory)
        };
        if signs(&dialect, tree).iter().any(on_the_way) {
            found.push(dialect);
        }
    }
    if found.is_empty() {
        found.push(catalogue.get("auto")?);
    }
    Ok(found)
}

/// The directories that hold what only somebody has who uses the client; where a dialect names no such thing,
/// any of its files.
fn signs(dialect: &Dialect, tree: &Tree) -> BTreeSet<PathBuf> {
    if dialect.signs.is_empty() {
        return homes(dialect, tree);
    }
    let mut out = BTreeSet::new();
    for file in tree.files() {
        for above in file.ancestors() {
            let held = dialect.signs.iter().filter(|sign| above.ends_with(sign));
            let depth = |sign: &String| Path::new(sign).components().count();
            out.extend(held.filter_map(|sign| Some(tree.root().join(above.ancestors().nth(depth(sign))?))));
        }
    }
    out
}

/// The directories that hold a file of a dialect.
fn homes(dialect: &Dialect, tree: &Tree) -> BTreeSet<PathBuf> {
    let names = dialect.known_names();
    let folders: Vec<&str> = dialect
        .places
        .iter()
        .filter(|place| matches!(place.scope, Scope::Project | Scope::Local))
        .flat_map(|place| &place.files)
        .filter_map(|files| files.folder.as_deref())
        .collect();
    let mut out = BTreeSet::new();
    for file in tree.files() {
        let held = names
            .iter()
            .filter(|name| file.ends_with(name))
            .filter_map(|name| {
                let depth = Path::new(name).components().count();
                file.ancestors().nth(depth)
            });
        let in_folder = folders.iter().flat_map(|folder| {
            let above = file
                .ancestors()
                .skip(1)
                .filter(move |above| above.ends_with(folder));
            above.filter_map(move |above| above.ancestors().nth(Path::new(folder).components().count()))
        });
        out.extend(held.chain(in_folder).map(|directory| tree.root().join(directory)));
    }
    out
}

/// What a dialect makes of the directory and of those below.
fn read(
    request: &Request,
    below: BTreeSet<PathBuf>,
    dialect: &Arc<Dialect>,
    reader: &mut Reader,
) -> Vec<Reading> {
    let below = below.into_iter().take(MOST_DIRECTORIES);
    let directories = std::iter::once(request.directory.clone()).chain(below);
    let load = |directory: PathBuf| {
        let host = Host {
            cwd: directory,
            home: request.home.clone(),
            environment: request.environment.clone(),
            managed: None,
            options: Options {
                boundary: Some(Boundary::Project),
                ..Options::default()
            },
        };
        let manifest = Loader::new(dialect).load_with(&host, reader);
        Reading {
            dialect: dialect.clone(),
            manifest,
        }
    };
    directories.map(load).collect()
}

/// The bytes of every file that takes part, scanned.
fn texts(subject: &mut Subject, reader: &mut Reader, scanner: &Scanner) {
    let mut paths: BTreeMap<PathBuf, u64> = BTreeMap::new();
    for reading in &subject.readings {
        let files = reading.manifest.files.iter().filter(|file| file.hash.is_some());
        paths.extend(files.map(|file| (file.path.clone(), reading.dialect.text.read_at_most)));
    }
    if let Some(places) = &subject.places {
        let sections = [Some(places.project_sections()), places.user_sections()]
            .into_iter()
            .flatten();
        let inside = sections.flat_map(|folder| {
            std::fs::read_dir(folder)
                .into_iter()
                .flatten()
                .filter_map(Result::ok)
        });
        let sections = inside
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "md"));
        paths.extend(sections.map(|path| (path, MOST_BYTES)));
        paths.extend(notes(&places.project).into_iter().map(|path| (path, MOST_BYTES)));
        let settings = [Some(places.project_settings()), places.user_settings()]
            .into_iter()
            .flatten();
        paths.extend(settings.map(|path| (path, MOST_BYTES)));
    }
    let root = subject.tree.root().to_owned();
    paths.extend(commands::FILES.iter().map(|name| (root.join(name), MOST_BYTES)));
    for (path, bound) in paths {
        let Ok(contents) = reader.read(&path, bound) else {
            continue;
        };
        let mut text = SubjectText::new(path.clone(), contents.bytes.clone());
        text.is_link = path.is_symlink();
        text.scan = scan(&text.bytes, scanner);
        subject.texts.insert(subject.shown(&path).into(), text);
    }
}

/// What links, paths and commands name that is there although the tree has it not: ignored files, for example.
fn outside_tree(subject: &Subject) -> Vec<PathBuf> {
    let root = subject.tree.root();
    let all = subject.instructions().into_iter();
    let targets = all.flat_map(|(_, text)| {
        let named = paths::named(&text.text).into_iter();
        let named = named.flat_map(|named| paths::places(&named.written, &text.path, &subject.tree));
        let links = links(&text.text).into_iter();
        links.map(|link| target(&link, &text.path, root)).chain(named)
    });
    let run = commands::FILES
        .iter()
        .filter_map(|name| subject.text_of(&root.join(name)))
        .filter_map(|(_, text)| commands::runs(text, &subject.tree).ok())
        .flatten()
        .flat_map(|runs| runs.places);
    let targets = targets.chain(run);
    targets
        .filter(|target| subject.tree.spelling(target) != Spelling::Exact && target.exists())
        .collect()
}

/// The system prompt here, with every section of the project granted: a repository is checked as if it were
/// trusted.
fn composed(request: &Request, places: &Places, repository: Option<&Repository>) -> Composed {
    let mut composed = Composed::default();
    let folders = [
        places.user_sections().map(|folder| (folder, None)),
        Some((places.project_sections(), Some(places.project.as_path()))),
    ];
    let mut grants = Vec::new();
    for (folder, within) in folders.into_iter().flatten() {
        match read_folder(&folder, places, within) {
            Ok(files) => {
                if within.is_some() {
                    grants = files.iter().map(|file| file.key.to_string()).collect();
                }
                composed.sections.extend(files);
            }
            // Opening says the same of every layer at once.
            Err(_) => grants.clear(),
        }
    }
    let flags = Flags {
        instructions: Some("none".to_owned()),
        grants,
        ..Flags::default()
    };
    let mut question = here::Question {
        places: places.clone(),
        repository: repository.cloned(),
        paths_from: request.directory.clone(),
        touch: Vec::new(),
        surroundings: Surroundings {
            cwd: request.directory.clone(),
            home: request.home.clone(),
            ..Surroundings::default()
        },
        probe: None,
        environment: request.environment.clone(),
        request: settings::Request::default(),
    };
    composed.by_variant = by_variant(places);
    if let Err(refused) = here::dialect_of(&question) {
        composed.notices.extend(refused.0);
        return composed;
    }
    question.request.flags = flags;
    match here::open(&question) {
        Ok(here) => assemble(here, &mut composed),
        Err(Refused(notices)) => composed.notices.extend(notices),
    }
    composed
}

/// The sections that experiments choose among.
fn by_variant(places: &Places) -> BTreeSet<String> {
    let (experiments, _) = variants::experiments(places).unwrap_or_default();
    let variants = experiments.into_iter().flat_map(|experiment| experiment.variants);
    variants
        .flat_map(|variant| variant.sections.into_iter().chain(variant.without))
        .collect()
}

/// What a repository brings for memory, skills and styles: their texts are scanned as others are.
fn notes(project: &Path) -> Vec<PathBuf> {
    let inside = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.filter_map(Result::ok).map(|entry| entry.path())
    };
    let folders = [".bindery/memory", ".bindery/styles", ".claude/output-styles"];
    let texts = folders
        .into_iter()
        .flat_map(|folder| inside(project.join(folder)));
    let texts = texts.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let clients = [".bindery", ".claude", ".codex", ".agents"];
    let skills = clients
        .into_iter()
        .flat_map(|client| inside(project.join(client).join("skills")));
    let mut all: Vec<PathBuf> = texts.chain(skills.map(|skill| skill.join("SKILL.md"))).collect();
    all.retain(|path| path.is_file());
    all
}

fn assemble(mut here: here::Here, composed: &mut Composed) {
    composed.notices.append(&mut here.notices);
    for mode in [Mode::Full, Mode::Minimal] {
        here.options.mode = mode;
        match pollster::block_on(here.session.assemble(&here.options)) {
            Ok(assembly) => {
                let rendered = assembly.render_system(here.session.renders());
                match rendered {
                    Ok(system) if mode == Mode::Full => {
                        composed.tokens = tokens(&here.params.model, &system.full_text());
                    }
                    Ok(_) => {}
                    Err(error) => composed
                        .failures
                        .push((position(&error.place), error.problem.to_string())),
                }
                composed.assemblies.push(assembly);
            }
            Err(error) => composed
                .failures
                .push((None, SessionError::from(error).to_string())),
        }
    }
}

fn position(place: &Place) -> Option<Position> {
    match &place.source {
        Source::File { path, .. } => Some(Position {
            path: path.clone(),
            line: place.line,
            column: place.column,
        }),
        _ => None,
    }
}

/// Tokens of a text and of the model's window, where that is known.
fn tokens(model: &str, text: &str) -> Option<(u64, u64)> {
    let window = Windows::built_in().ok()?.tokens(model)?;
    // No text has more tokens than bytes, and counting is the slow part.
    if (text.len() as u64) < window / 10 {
        return None;
    }
    let tokenizers = Tokenizers::built_in().ok()?;
    Some((
        tokenizers
            .counter(model)
            .count(&Text::from(text.to_owned()))
            .value,
        window,
    ))
}
