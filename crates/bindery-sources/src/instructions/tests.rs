use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::dialect::{Catalogue, Dialect};

fn dialect(name: &str) -> Dialect {
    Catalogue::shipped().get(name).unwrap()
}

fn host(base: &Path) -> Host {
    Host {
        cwd: base.join("repo"),
        home: Some(base.join("home")),
        ..Host::default()
    }
}

fn lay(base: &Path, files: &[(&str, &str)]) {
    fs::create_dir_all(base.join("repo")).unwrap();
    for (path, text) in files {
        let path = base.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn sent(manifest: &Manifest, base: &Path) -> Vec<PathBuf> {
    let sent = manifest.files.iter().filter(|file| file.status.is_sent());
    sent.map(|file| file.path.strip_prefix(base).unwrap().to_owned())
        .collect()
}

#[test]
fn what_lies_behind_the_bound_of_reading_is_lost_with_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    lay(&base, &[("repo/.git/HEAD", "")]);
    let size = 9 << 20;
    std::fs::write(base.join("repo/AGENTS.md"), "rule\n".repeat(100)).unwrap();
    let file = std::fs::File::options()
        .write(true)
        .open(base.join("repo/AGENTS.md"))
        .unwrap();
    file.set_len(size).unwrap();
    let manifest = Loader::new(&dialect("codex")).load(&host(&base));
    let lost = manifest.files[0].lost.as_ref().unwrap();
    assert_eq!(lost.bytes, size - 32_768);
}

#[test]
fn a_file_that_many_want_is_opened_once() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    lay(
        &base,
        &[
            ("repo/CLAUDE.md", "@a.md @b.md"),
            ("repo/a.md", "@b.md @CLAUDE.md"),
            ("repo/b.md", "@a.md"),
            ("repo/.claude/CLAUDE.md", "@../b.md"),
        ],
    );
    let mut reader = Reader::new();
    let claude = dialect("claude");
    let first = Loader::new(&claude).load_with(&host(&base), &mut reader);
    let again = Loader::new(&claude).load_with(&host(&base), &mut reader);
    assert_eq!(reader.opened().len(), 4);
    assert_eq!(
        serde_json::to_string(&first).unwrap(),
        serde_json::to_string(&again).unwrap()
    );
}

#[test]
fn the_text_is_what_the_client_sends() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    lay(
        &base,
        &[("repo/CLAUDE.md", "---\na: b\n---\n\n# T\n<!-- note -->\nrule\n")],
    );
    let manifest = Loader::new(&dialect("claude")).load(&host(&base));
    let file = manifest.files.first().unwrap();
    assert_eq!(file.text.as_deref(), Some("# T\nrule"));
    let wrapped = file.wrapped().unwrap();
    assert!(
        wrapped.ends_with("CLAUDE.md (project instructions, checked into the codebase):\n\n# T\nrule"),
        "{wrapped}"
    );
}

#[test]
fn client_settings_are_read_where_the_client_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let excluded = format!("{{\"claudeMdExcludes\": [\"{}/repo/a.md\"]}}", base.display());
    lay(
        &base,
        &[
            ("repo/CLAUDE.md", "@a.md @b.md"),
            ("repo/a.md", "A"),
            ("repo/b.md", "B"),
            ("home/.claude/settings.json", &excluded),
            ("home/.claude.json", "{ broken"),
        ],
    );
    let manifest = Loader::new(&dialect("claude")).load(&host(&base));
    assert_eq!(
        sent(&manifest, &base),
        [Path::new("repo/CLAUDE.md"), Path::new("repo/b.md")]
    );
    assert!(
        manifest
            .diagnostics
            .iter()
            .any(|note| note.code == Code::Settings && note.line == Some(1))
    );
}

#[test]
fn a_link_in_the_project_may_not_smuggle_a_file_in() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    lay(
        &base,
        &[("repo/AGENTS.md", "@link.md @dir/x.md"), ("outside/x.md", "X")],
    );
    std::os::unix::fs::symlink(base.join("outside/x.md"), base.join("repo/link.md")).unwrap();
    std::os::unix::fs::symlink(base.join("outside"), base.join("repo/dir")).unwrap();
    let manifest = Loader::new(&dialect("auto")).load(&host(&base));
    assert_eq!(sent(&manifest, &base), [Path::new("repo/AGENTS.md")]);
    let refused = manifest
        .files
        .iter()
        .filter(|file| file.reason == Reason::OutsideImport);
    assert_eq!(refused.count(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever a project's file says, an unapproved import brings in nothing from outside the project.
    #[test]
    fn imports_never_leave_the_root(tokens in prop::collection::vec("(\\.\\./){0,4}(/)?(outside/|repo/|s/|~/)?[xyz]\\.md", 0..6)) {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let text = format!("@{}", tokens.join(" @"));
        lay(&base, &[("repo/AGENTS.md", &text), ("outside/x.md", "O"), ("home/y.md", "H"), ("x.md", "T"), ("repo/x.md", &text), ("repo/s/z.md", &text)]);
        let manifest = Loader::new(&dialect("auto")).load(&host(&base));
        for file in manifest.files.iter().filter(|file| file.status.is_sent()) {
            prop_assert!(file.path.canonicalize().unwrap().starts_with(base.join("repo")));
        }
    }
}
