//! What the loader may know of the machine. Everything comes in as a value.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::dialect::{ConfigHome, Files, Scope};

/// The machine as a run sees it.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// Working directory.
    pub cwd: PathBuf,
    /// Home directory, where there is one.
    pub home: Option<PathBuf>,
    /// Environment variables that dialects name (`CODEX_HOME`, `HERMES_HOME`, …).
    pub environment: BTreeMap<String, String>,
    /// Where an administrator lays down files for this client.
    pub managed: Option<PathBuf>,
    /// What this run asks for.
    pub options: Options,
}

/// What a run asks for.
#[derive(Debug, Clone)]
pub struct Options {
    /// Files the agent touches, in order; a pattern with `*` stands for the files it matches.
    pub touch: Vec<PathBuf>,
    /// A boundary instead of the dialect's.
    pub boundary: Option<Boundary>,
    /// Instructions switched off or replaced for this run.
    pub bypass: Option<Bypass>,
    /// Imports a person approved.
    pub approvals: BTreeSet<Approval>,
    /// Hops of imports instead of the dialect's.
    pub max_hops: Option<u32>,
    /// The model's context window in tokens, for limits that depend on it.
    pub context_window: Option<u64>,
    /// The run mode: `full` for the main agent, otherwise a dialect's word for sub-agents and the like.
    pub mode: String,
    /// Who makes cuts: the client, which knows nothing of sections that must be kept, or Bindery.
    pub must_keep: MustKeep,
    /// Whether known names of other clients are listed as not read.
    pub list_foreign: ListForeign,
    /// Names to look for as foreign.
    pub foreign_names: Vec<String>,
    /// Folders of rules to look for as foreign.
    pub foreign_folders: Vec<Files>,
    /// How the file system compares names.
    pub case: CaseRule,
}

/// What a cut does with sections that must be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MustKeep {
    /// As the dialect says: what the client does. One that it loses is an error.
    #[default]
    AsDialect,
    /// They are kept first, and other text gives way. It is an error if they alone are over the limit.
    First,
}

/// How a file system compares names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CaseRule {
    /// `A` and `a` are two files.
    #[default]
    Sensitive,
    /// `A` and `a` are one file.
    Insensitive,
}

/// What two names of one file have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PathKey(OsString);

impl PathKey {
    /// The key of a path. Separators are alike; letters are where the file system takes them so.
    pub(super) fn new(path: &Path, case: CaseRule) -> Self {
        Self(match case {
            CaseRule::Sensitive => path.as_os_str().to_owned(),
            CaseRule::Insensitive => path.to_string_lossy().replace('\\', "/").to_lowercase().into(),
        })
    }
}

/// Whether known names of other clients are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListForeign {
    /// They are not looked for.
    #[default]
    No,
    /// Each directory on the way is searched for them.
    Yes,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            touch: Vec::new(),
            boundary: None,
            bypass: None,
            approvals: BTreeSet::new(),
            max_hops: None,
            context_window: None,
            mode: "full".to_owned(),
            must_keep: MustKeep::default(),
            list_foreign: ListForeign::No,
            foreign_names: Vec::new(),
            foreign_folders: Vec::new(),
            case: CaseRule::default(),
        }
    }
}

/// Up to where files are looked for, above the working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Boundary {
    /// Up to the project's root.
    Project,
    /// The working directory alone.
    Cwd,
    /// Up to the file system's root.
    None,
    /// Up to this directory.
    Directory(PathBuf),
}

/// Instructions switched off or replaced for one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bypass {
    /// None at all.
    Nothing,
    /// Only this text; the name says where it came from.
    Text {
        /// A flag or a file.
        origin: String,
        /// The text.
        text: String,
    },
}

/// A person's approval of one import: for files of one scope, and one target, and where given for one
/// importing file. Never stored in a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Approval {
    /// Scope of the importing file.
    pub scope: Scope,
    /// The importing file, or any of the scope.
    pub importer: Option<PathBuf>,
    /// What is imported.
    pub target: PathBuf,
}

impl Host {
    /// A path of a dialect, with `~` as the home directory; `None` without a home.
    pub(super) fn expand(&self, path: &str) -> Option<PathBuf> {
        match path.strip_prefix("~/") {
            Some(rest) => Some(self.home.as_ref()?.join(rest)),
            None if path == "~" => self.home.clone(),
            None => Some(self.cwd.join(path)),
        }
    }

    /// The client's configuration directory.
    pub fn config_home(&self, rule: Option<&ConfigHome>) -> Option<PathBuf> {
        let rule = rule?;
        let moved = rule
            .env
            .as_ref()
            .and_then(|name| self.environment.get(name))
            .filter(|path| !path.is_empty());
        match moved {
            Some(path) => Some(self.cwd.join(Path::new(path))),
            None => self.expand(&rule.default),
        }
    }

    /// Whether a person approved an import.
    pub(super) fn approves(&self, scope: Scope, importer: &Path, target: &Path) -> bool {
        self.options.approvals.iter().any(|approval| {
            approval.scope == scope
                && approval.target == target
                && approval.importer.as_deref().is_none_or(|path| path == importer)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_file_have_one_key_where_case_does_not_count() {
        let [first, second] = [r"C:\U\.claude\CLAUDE.md", r"c:\u\.claude\CLAUDE.md"].map(Path::new);
        assert_eq!(
            PathKey::new(first, CaseRule::Insensitive),
            PathKey::new(second, CaseRule::Insensitive)
        );
        assert_ne!(
            PathKey::new(first, CaseRule::Sensitive),
            PathKey::new(second, CaseRule::Sensitive)
        );
    }

    #[test]
    fn an_approval_holds_for_its_scope_and_target_alone() {
        let target = PathBuf::from("/home/me/common.md");
        let mut host = Host::default();
        host.options.approvals.insert(Approval {
            scope: Scope::User,
            importer: None,
            target: target.clone(),
        });
        let importer = Path::new("/p/CLAUDE.md");
        assert!(host.approves(Scope::User, importer, &target));
        assert!(!host.approves(Scope::Project, importer, &target));
        assert!(!host.approves(Scope::User, importer, Path::new("/etc/passwd")));
    }
}
