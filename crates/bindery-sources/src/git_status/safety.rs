//! What makes git safe to call in a repository that may be hostile.
//!
//! What a repository's own configuration can make `git status` run, and what stops it here:
//!
//! | configuration | stopped by |
//! |---|---|
//! | `core.fsmonitor` | `-c core.fsmonitor=false` |
//! | hooks (`post-index-change`) | `--no-optional-locks`: the index is not written; `-c core.hooksPath` |
//! | `filter.NAME.clean`, `.process` | each filter that the repository defines is emptied by name |
//! | promisor remotes (fetch of missing objects through any transport) | `GIT_NO_LAZY_FETCH`, `GIT_ALLOW_PROTOCOL` |
//! | submodules with configuration of their own | `--ignore-submodules=all` |
//! | a bare repository in the tree posing as one | `-c safe.bareRepository=explicit` |
//! | `core.worktree` elsewhere (names of the user's files) | `--work-tree` |
//! | pagers, external diffs, text conversion, aliases | not used by `status`; `--no-pager` |
//!
//! Git's own check of ownership (`safe.directory`) stays in force, since `--git-dir` is not given.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

/// A call of git.
pub(super) struct Request {
    pub(super) arguments: Vec<OsString>,
    /// Exit codes that mean success.
    pub(super) good_codes: &'static [i32],
}

/// Configuration that outranks the repository's.
const OVERRIDES: [&str; 7] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
    "status.submoduleSummary=false",
];

/// Variables for every call.
pub(super) fn environment(root: &Path) -> Vec<(OsString, OsString)> {
    let mut out: Vec<(OsString, OsString)> = [
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_ALLOW_PROTOCOL", "none"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_PAGER", "cat"),
        ("LC_ALL", "C"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into();
    // Should the repository vanish meanwhile, git must not take one further up for it.
    if let Some(parent) = root.parent() {
        out.push(("GIT_CEILING_DIRECTORIES".into(), parent.into()));
    }
    out
}

fn common() -> Vec<OsString> {
    let mut out: Vec<OsString> = vec!["--no-pager".into(), "--no-optional-locks".into()];
    for setting in OVERRIDES {
        out.extend(["-c".into(), setting.into()]);
    }
    out
}

/// Lists the filters that any configuration defines, each with where it is defined.
pub(super) fn list_filters() -> Request {
    let mut arguments = common();
    let rest = [
        "config",
        "-z",
        "--show-scope",
        "--name-only",
        "--get-regexp",
        r"^filter\.",
    ];
    arguments.extend(rest.map(OsString::from));
    Request {
        arguments,
        // 1: there are none.
        good_codes: &[0, 1],
    }
}

/// The filters that the repository itself defines, from the answer to [`list_filters`]. The user's own
/// (Git LFS, say) keep working. `None` where a filter's name cannot be overridden safely.
pub(super) fn own_filters(answer: &[u8], truncated: bool) -> Option<BTreeSet<String>> {
    if truncated {
        return None;
    }
    let mut fields = answer.split(|byte| *byte == 0);
    let mut out = BTreeSet::new();
    while let (Some(scope), Some(key)) = (fields.next(), fields.next()) {
        if !matches!(scope, b"local" | b"worktree") {
            continue;
        }
        let key = std::str::from_utf8(key).ok()?;
        let (name, _) = key.strip_prefix("filter.")?.rsplit_once('.')?;
        // `-c` cuts at the first `=`, so it cannot name such a filter.
        if name.contains('=') {
            return None;
        }
        out.insert(name.to_owned());
    }
    Some(out)
}

/// The status of the tree, machine-readable, without the contents of submodules.
pub(super) fn status(root: &Path, filters: &BTreeSet<String>) -> Request {
    let mut arguments = common();
    for name in filters {
        for (part, value) in [("clean", ""), ("process", ""), ("required", "false")] {
            arguments.extend(["-c".into(), format!("filter.{name}.{part}={value}").into()]);
        }
    }
    let mut work_tree = OsString::from("--work-tree=");
    work_tree.push(root);
    arguments.push(work_tree);
    let rest = [
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=normal",
        "--ignore-submodules=all",
        "--no-renames",
        "--no-ahead-behind",
    ];
    arguments.extend(rest.map(OsString::from));
    Request {
        arguments,
        good_codes: &[0],
    }
}
