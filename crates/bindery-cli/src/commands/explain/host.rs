//! The machine as the loader may know it, from the process's environment and the arguments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bindery::sources::dialect::{Catalogue, Files};
use bindery::sources::instructions::{Boundary, Bypass, CaseRule, Host, ListForeign, MustKeep, Options};

use super::ExplainArgs;
use crate::books;
use crate::status::UsageError;

/// Where users keep dialects of their own.
pub(super) fn dialect_directories(environment: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let set = |name: &str| environment.get(name).filter(|value| !value.is_empty());
    let config = set("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| Path::new(home).join(".config")));
    config
        .map(|config| config.join("bindery/dialects"))
        .into_iter()
        .collect()
}

/// Every name that some dialect reads, so that the others can say that they do not.
pub(super) fn known_names(catalogue: &Catalogue) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for listed in catalogue.list() {
        if let Ok(dialect) = catalogue.get(&format!("{}@{}", listed.name, listed.version)) {
            names.extend(dialect.known_names().into_iter().map(str::to_owned));
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Every folder of rules that some dialect reads, each once.
pub(super) fn known_folders(catalogue: &Catalogue) -> Vec<Files> {
    let mut folders: BTreeMap<String, Files> = BTreeMap::new();
    for listed in catalogue.list() {
        if let Ok(dialect) = catalogue.get(&format!("{}@{}", listed.name, listed.version)) {
            for files in dialect.known_folders() {
                let name = files.folder.clone().unwrap_or_default();
                folders.entry(name).or_insert_with(|| files.clone());
            }
        }
    }
    folders.into_values().collect()
}

/// The machine, and what this run asks for.
pub(super) fn host(args: &ExplainArgs, environment: BTreeMap<String, String>) -> anyhow::Result<Host> {
    let cwd =
        std::path::absolute(&args.dir).with_context(|| format!("cannot resolve {}", args.dir.display()))?;
    if !cwd.is_dir() {
        return Err(UsageError(format!("{} is no directory", cwd.display())).into());
    }
    let window = match &args.model {
        Some(model) => books::windows()?.tokens(model),
        None => None,
    };
    Ok(Host {
        home: environment
            .get("HOME")
            .filter(|home| !home.is_empty())
            .map(PathBuf::from),
        environment,
        managed: None,
        options: Options {
            touch: args.touch.clone(),
            boundary: args
                .boundary
                .as_deref()
                .map(|word| boundary(word, &cwd))
                .transpose()?,
            bypass: args.instructions.as_deref().map(bypass).transpose()?,
            max_hops: args.max_hops,
            context_window: window,
            mode: args.mode.clone(),
            must_keep: if args.must_keep {
                MustKeep::First
            } else {
                MustKeep::AsDialect
            },
            list_foreign: ListForeign::Yes,
            case: if cfg!(any(windows, target_os = "macos")) {
                CaseRule::Insensitive
            } else {
                CaseRule::Sensitive
            },
            ..Options::default()
        },
        cwd,
    })
}

fn boundary(word: &str, cwd: &Path) -> anyhow::Result<Boundary> {
    Ok(match word {
        "repo" => Boundary::Project,
        "cwd" => Boundary::Cwd,
        "none" => Boundary::None,
        path => {
            let directory = cwd.join(path);
            let real = directory.canonicalize().map_err(|error| {
                UsageError(format!(
                    "--boundary {path}: {error}; give `repo`, `cwd`, `none` or a directory"
                ))
            })?;
            Boundary::Directory(real)
        }
    })
}

fn bypass(what: &str) -> anyhow::Result<Bypass> {
    if what == "none" {
        return Ok(Bypass::Nothing);
    }
    let Some(path) = what.strip_prefix('@') else {
        return Ok(Bypass::Text {
            origin: "--instructions".to_owned(),
            text: what.to_owned(),
        });
    };
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    Ok(Bypass::Text {
        origin: path.to_owned(),
        text,
    })
}
