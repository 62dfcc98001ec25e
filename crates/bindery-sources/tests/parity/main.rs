//! Parity with the real clients, without them: what they loaded is kept beside this file.
//!
//! `cargo xtask parity` writes the corpus; docs/parity.md says how. The trees hold symbolic links and
//! raw bytes, which not every system can lay.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a broken corpus or disk is a failed test")]

mod case;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use bindery_sources::dialect::{Catalogue, Dialect};
use bindery_sources::instructions::{Host, Loader, Manifest, Options, Status};

use case::{BASE, Case};

/// Fewer cases than these were never kept.
const FEWEST: [(&str, usize); 3] = [("claude", 100), ("codex", 80), ("hermes", 40)];

#[test]
fn claude_loads_what_claude_code_loads() {
    check("claude");
}

#[test]
fn codex_loads_what_codex_loads() {
    check("codex");
}

#[test]
fn hermes_loads_what_hermes_loads() {
    check("hermes");
}

#[test]
fn the_corpus_is_large_and_names_its_clients() {
    for (name, fewest) in FEWEST {
        let cases = corpus(name);
        assert!(cases.len() >= fewest, "{name} has {} cases", cases.len());
        let ids: BTreeSet<&String> = cases.iter().map(|case| &case.id).collect();
        assert_eq!(ids.len(), cases.len(), "{name} names a case twice");
        for case in &cases {
            assert!(case.client.contains(' '), "{} names no version", case.id);
            assert!(!case.rule.is_empty(), "{} names no rule", case.id);
        }
    }
}

fn corpus(name: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parity");
    Case::read_all(&folder.join(format!("{name}.jsonl"))).unwrap()
}

/// Every case gives what the client loaded, but for those that are open: they must still differ.
fn check(name: &str) {
    let dialect = Catalogue::shipped().get(name).unwrap();
    let open = open_cases();
    let mut wrong = Vec::new();
    let cases = corpus(name);
    for case in &cases {
        let tree = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(tree.path()).unwrap();
        case.lay(&root).unwrap();
        let found = differences(&dialect, case, &root);
        match (open.contains(&case.id), found.is_empty()) {
            (false, _) => wrong.extend(found),
            (true, true) => wrong.push(format!("{} agrees now: take it out of open.txt", case.id)),
            (true, false) => {}
        }
    }
    let total = cases.len();
    assert!(
        wrong.is_empty(),
        "{} differences in {total} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The cases that are known to differ.
fn open_cases() -> BTreeSet<String> {
    let listed = include_str!("open.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    listed
        .filter_map(|line| Some(line.split_once(':')?.0.to_owned()))
        .collect()
}

fn differences(dialect: &Dialect, case: &Case, root: &Path) -> Vec<String> {
    let expected = &case.expected;
    let start = Seen::of(dialect, case, root, &[]);
    let mut wrong = Vec::new();
    let mut compare = |at: &str, client: Vec<String>, own: Vec<String>| {
        let (client, own) = (in_order(case, client), in_order(case, own));
        if client != own {
            wrong.push(format!(
                "{} {at}\n  client:  {client:?}\n  bindery: {own:?}",
                case.id
            ));
        }
    };
    compare("start", case.wanted(&expected.loaded), start.paths.clone());
    let cuts =
        |cut: &BTreeMap<String, u64>| cut.iter().map(|(path, kept)| format!("{path} {kept}")).collect();
    compare("cut", cuts(&expected.cut), cuts(&start.cut));
    let (mut before, mut own_before) = (expected.loaded.clone(), start.paths.clone());
    let mut texts = start.texts;
    let mut touched = Vec::new();
    for step in &expected.after_touch {
        touched.push(root.join(&step.touch));
        let seen = Seen::of(dialect, case, root, &touched);
        let at = format!("touch {}", step.touch);
        compare(
            &at,
            without(&case.wanted(&step.loaded), &before),
            without(&seen.paths, &own_before),
        );
        before.extend(step.loaded.iter().cloned());
        own_before = seen.paths;
        texts.extend(seen.texts);
    }
    for (path, text) in &expected.rendered {
        let own = texts.get(path).map(|own| own.trim_end_matches('\n').to_owned());
        compare(
            &format!("text of {path}"),
            vec![text.clone()],
            own.into_iter().collect(),
        );
    }
    if !expected.body.is_empty() {
        compare("body", vec![expected.body.clone()], vec![start.body]);
    }
    wrong
}

/// As the client gives them, or sorted where it has no order.
fn in_order(case: &Case, mut paths: Vec<String>) -> Vec<String> {
    if case.expected.unordered {
        paths.sort();
    }
    paths
}

fn without(paths: &[String], before: &[String]) -> Vec<String> {
    paths
        .iter()
        .filter(|path| !before.contains(path))
        .cloned()
        .collect()
}

/// What the loader sends.
struct Seen {
    paths: Vec<String>,
    cut: BTreeMap<String, u64>,
    texts: BTreeMap<String, String>,
    /// All texts as Codex joins them: the home file stands before a line of its own.
    body: String,
}

impl Seen {
    fn of(dialect: &Dialect, case: &Case, root: &Path, touched: &[PathBuf]) -> Self {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let host = Host {
            cwd: root.join(&case.cwd),
            home: Some(root.join("home")),
            environment: BTreeMap::from([
                ("CODEX_HOME".to_owned(), text(case.codex_home(root))),
                ("HERMES_HOME".to_owned(), text(root.join("home/.hermes"))),
            ]),
            managed: None,
            options: Options {
                touch: touched.to_vec(),
                ..Options::default()
            },
        };
        Self::from(&Loader::new(dialect).load(&host), root)
    }

    fn from(manifest: &Manifest, root: &Path) -> Self {
        let mut sent: Vec<_> = manifest
            .files
            .iter()
            .filter(|file| file.status.is_sent())
            .collect();
        sent.sort_by_key(|file| file.order);
        let mut seen = Self {
            paths: Vec::new(),
            cut: BTreeMap::new(),
            texts: BTreeMap::new(),
            body: String::new(),
        };
        let mut last = None;
        for file in sent {
            let path = file
                .path
                .strip_prefix(root)
                .unwrap_or(&file.path)
                .to_string_lossy()
                .into_owned();
            if file.status == Status::Cut {
                seen.cut.insert(path.clone(), file.bytes_loaded);
            }
            let text = file.text.as_deref().unwrap_or_default();
            let text = text.replace(&*root.to_string_lossy(), BASE);
            seen.body.push_str(match last {
                None => "",
                Some(scope) if scope != file.scope => "\n\n--- project-doc ---\n\n",
                Some(_) => "\n\n",
            });
            seen.body.push_str(&text);
            last = Some(file.scope);
            seen.texts.insert(path.clone(), text);
            seen.paths.push(path);
        }
        seen
    }
}
