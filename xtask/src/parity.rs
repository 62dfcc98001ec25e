//! `cargo xtask parity`: runs the real clients on trees of instruction files, keeps what they loaded
//! as a corpus, and compares it with `bindery explain`.

#[path = "../../crates/bindery-sources/tests/parity/case.rs"]
mod case;
mod catalogue;
mod claude;
mod client;
mod codex;
mod compare;
pub(crate) mod control;
mod hermes;
mod install;
mod isolation;
mod methods;
mod mock;
mod owners;
mod process;
mod random;
pub(crate) mod through;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::{say, workspace};
use case::Case;
use client::{Bench, CLIENTS, Client};
use compare::Difference;
use install::Installed;
use mock::Mock;

/// Clients that run at once.
const AT_ONCE: usize = 2;

/// Where the corpus lies in the workspace.
const CORPUS: &str = "crates/bindery-sources/tests/parity";

/// What the command was asked for.
#[derive(Debug, Default)]
struct Wish {
    clients: Vec<Client>,
    /// Cases whose name contains this; the others keep the truth they have.
    only: Option<String>,
    /// Only cases that the corpus does not hold yet.
    new: bool,
    /// Trees and bodies stay on disk.
    keep: bool,
}

/// A case after its run.
struct Measured {
    case: Case,
    /// Whether the client ran, so that what the case expects is its truth.
    observed: bool,
    differences: Result<Vec<Difference>>,
}

/// Runs the command.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let wish = wish(arguments)?;
    let scratch = scratch()?;
    let installed = Installed::ensure(&scratch, &wish.clients)?;
    let bindery = bindery()?;
    if !isolation::is_inside() {
        if isolation::is_possible() {
            return isolation::run_again();
        }
        say("no network of our own here: the clients are only told to stay on loopback");
    }
    let trees = tempfile::Builder::new().prefix("parity-").tempdir()?;
    let base = fs::canonicalize(trees.path())?;
    let mock = Mock::start()?;
    let bench = Bench {
        installed: &installed,
        mock: &mock,
    };
    let mut report = Vec::new();
    for client in &wish.clients {
        let measured = measure(*client, &bench, &bindery, &base, &wish)?;
        write_corpus(*client, &measured)?;
        report.push((*client, measured));
    }
    if wish.keep {
        say(&format!("trees and logs are kept in {}", trees.keep().display()));
    }
    tell(&report, &scratch.join("differences.md"))
}

fn wish(arguments: &[&str]) -> Result<Wish> {
    let mut wish = Wish::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || {
            rest.next()
                .copied()
                .with_context(|| format!("{argument} needs a value"))
        };
        match *argument {
            "--client" => wish.clients.push(Client::named(value()?)?),
            "--only" => wish.only = Some(value()?.to_owned()),
            "--new" => wish.new = true,
            "--keep" => wish.keep = true,
            other => {
                bail!("unknown argument `{other}`; there are --client NAME, --only TEXT, --new, --keep")
            }
        }
    }
    if wish.clients.is_empty() {
        wish.clients = CLIENTS.to_vec();
    }
    Ok(wish)
}

/// `target/parity`, which git does not see.
pub(crate) fn scratch() -> Result<PathBuf> {
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => PathBuf::from(target),
        None => workspace::root()?.join("target"),
    };
    Ok(target.join("parity"))
}

/// The program to compare with: `$BINDERY`, else the workspace's own, built now.
fn bindery() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("BINDERY") {
        return fs::canonicalize(&named).with_context(|| format!("BINDERY={}", named.display()));
    }
    if !isolation::is_inside() {
        let status = Command::new("cargo")
            .args(["build", "--release", "--locked", "-p", "bindery-cli"])
            .current_dir(workspace::root()?)
            .status()
            .context("cargo could not be started")?;
        if !status.success() {
            bail!("`bindery` does not build; BINDERY=PATH names one that does");
        }
    }
    let target = scratch()?;
    let built = target.parent().unwrap_or(&target).join("release/bindery");
    fs::canonicalize(&built).with_context(|| format!("{}", built.display()))
}

/// Runs every case of a client, a few at once, and gives them back in order.
fn measure(
    client: Client,
    bench: &Bench<'_>,
    bindery: &Path,
    base: &Path,
    wish: &Wish,
) -> Result<Vec<Measured>> {
    let mut cases = client.cases()?;
    cases.retain(|case| wish.only.as_ref().is_none_or(|only| case.id.contains(only)));
    if wish.new {
        let known = corpus(client)?;
        cases.retain(|case| !known.iter().any(|known| known.id == case.id));
    }
    let total = cases.len();
    cases.reverse();
    let (waiting, done) = (Mutex::new(cases), Mutex::new(Vec::with_capacity(total)));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = locked(&waiting).pop() {
                    let measured = one(client, bench, bindery, base, case);
                    let mut done = locked(&done);
                    done.push(measured);
                    if done.len() % 20 == 0 {
                        say(&format!("{}: {} of {total}", client.name(), done.len()));
                    }
                }
            });
        }
    });
    let mut measured = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    measured.sort_by(|left, right| left.case.id.cmp(&right.case.id));
    Ok(measured)
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One case: a fresh tree for the client, and another one, untouched by it, for Bindery.
fn one(client: Client, bench: &Bench<'_>, bindery: &Path, base: &Path, mut case: Case) -> Measured {
    let folder = base.join(&case.id);
    let (root, logs) = (folder.join("t"), folder.join("logs"));
    let outcome = lay(&case, &root).and_then(|()| client.observe(bench, &case, &root, &logs));
    let observed = outcome.is_ok();
    let differences = outcome.and_then(|expected| {
        case.expected = expected;
        let own = folder.join("b");
        lay(&case, &own)?;
        compare::differences(bindery, &case, &own, &logs)
    });
    Measured {
        case,
        observed,
        differences,
    }
}

fn lay(case: &Case, root: &Path) -> Result<()> {
    fs::create_dir_all(root)?;
    case.lay(root)
        .with_context(|| format!("lay the tree of {}", case.id))
}

fn corpus_path(client: Client) -> Result<PathBuf> {
    Ok(workspace::root()?
        .join(CORPUS)
        .join(format!("{}.jsonl", client.name())))
}

/// What was kept of a client; nothing before its first run.
fn corpus(client: Client) -> Result<Vec<Case>> {
    let path = corpus_path(client)?;
    if !path.exists() {
        return Ok(Vec::new());
    }
    Case::read_all(&path).with_context(|| format!("read {}", path.display()))
}

/// Writes what a client did, and says how much of it is news. A case that was not run now keeps its
/// truth as long as the catalogue has it.
fn write_corpus(client: Client, measured: &[Measured]) -> Result<()> {
    let path = workspace::root()?
        .join(CORPUS)
        .join(format!("{}.jsonl", client.name()));
    let mut kept: BTreeMap<String, Case> = BTreeMap::new();
    let known: BTreeSet<String> = client.cases()?.into_iter().map(|case| case.id).collect();
    for case in corpus(client)? {
        if known.contains(&case.id) {
            kept.insert(case.id.clone(), case);
        }
    }
    let mut changed = 0;
    for Measured { case, .. } in measured.iter().filter(|one| one.observed) {
        let old = kept.insert(case.id.clone(), case.clone());
        if old.is_some_and(|old| old.expected != case.expected) {
            say(&format!("{}: the client now does something else", case.id));
            changed += 1;
        }
    }
    let mut text = String::new();
    for case in kept.values() {
        text.push_str(&serde_json::to_string(case)?);
        text.push('\n');
    }
    fs::write(&path, text)?;
    let (name, cases) = (client.name(), kept.len());
    say(&format!(
        "{name}: {cases} cases kept, {changed} changed since the last run"
    ));
    Ok(())
}

/// Prints the score and lists the differences in a file.
fn tell(report: &[(Client, Vec<Measured>)], list: &Path) -> Result<()> {
    let mut text = String::from("# Where `bindery explain` and the real client differ\n");
    let mut differing = 0;
    for (client, measured) in report {
        let mut same = 0;
        for Measured {
            case, differences, ..
        } in measured
        {
            match differences {
                Ok(found) if found.is_empty() => same += 1,
                Ok(found) => text.push_str(&section(case, found)),
                Err(error) => text.push_str(&failure(case, error)),
            }
        }
        differing += measured.len() - same;
        let version = client.version();
        say(&format!(
            "{version}: {same} of {} as the real client",
            measured.len()
        ));
    }
    fs::write(list, text)?;
    if differing > 0 {
        bail!("{differing} cases differ; see {}", list.display());
    }
    Ok(())
}

fn failure(case: &Case, error: &anyhow::Error) -> String {
    format!("\n## {}\n\nfailed: {error:#}\n", case.id)
}

fn section(case: &Case, found: &[Difference]) -> String {
    let mut lines = vec![format!("\n## {} (cwd {})\n\n{}\n", case.id, case.cwd, case.rule)];
    lines.extend(found.iter().map(|difference| {
        let Difference { at, client, bindery } = difference;
        format!("- {at}\n  - client:  {client}\n  - bindery: {bindery}")
    }));
    lines.join("\n") + "\n"
}
