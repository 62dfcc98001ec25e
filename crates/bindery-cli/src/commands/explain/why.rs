//! Why one client sees nothing of a file that another one loads.

use bindery::sources::dialect::{Dialect, Scope, SettingUse};
use bindery::sources::instructions::{Candidate, Manifest, Reason};

use super::names::Names;

/// A client, and what it makes of the directory.
pub(super) struct Side {
    /// Its rules.
    pub(super) dialect: Dialect,
    /// What it loads.
    pub(super) manifest: Manifest,
}

/// Why `other` does not see `file`, which another client loads; `there` is what became of it there. The
/// sentence says "it" of the client.
pub(super) fn why(file: &Candidate, there: Option<&Candidate>, other: &Side, names: &Names<'_>) -> String {
    if let Some(there) = there.filter(|there| there.reason != Reason::NotRead) {
        return names.sentence(&there.detail);
    }
    if let Some(importer) = file.imported_by.last() {
        let line = file
            .import_line
            .map_or_else(String::new, |line| format!(":{line}"));
        let importer = names.file(importer);
        return match &other.dialect.imports {
            None => format!(
                "{importer}{line} imports it, and {} follows no imports",
                other.dialect.client
            ),
            Some(_) => format!(
                "{importer}{line} imports it, and {} does not read that",
                other.dialect.client
            ),
        };
    }
    if matches!(file.scope, Scope::User | Scope::Managed) {
        return own_files(file, other, names);
    }
    if let Some(touched) = file
        .attached_by
        .as_deref()
        .filter(|_| other.dialect.touch.is_none())
    {
        return format!("it attaches nothing when {} is touched", names.file(touched));
    }
    let root = other
        .manifest
        .project_root
        .as_ref()
        .unwrap_or(&other.manifest.cwd);
    if !file.path.starts_with(root) {
        return "above the project's root, where it does not look".to_owned();
    }
    reads_instead(file, other)
}

fn own_files(file: &Candidate, other: &Side, names: &Names<'_>) -> String {
    let is_own = |own: &&Candidate| own.scope == file.scope && own.status.is_sent();
    match (
        other.manifest.files.iter().find(is_own),
        &other.dialect.config_home,
    ) {
        (Some(own), _) => format!("it has {} in its place", names.file(&own.path)),
        (None, Some(home)) => format!("it looks for the user's files in {}", home.default),
        (None, None) => "it has no files of the user's".to_owned(),
    }
}

/// What a client reads in a project, and how it is told to read more.
fn reads_instead(file: &Candidate, other: &Side) -> String {
    let dialect = &other.dialect;
    let known = read_in_order(dialect);
    let reads = match known.as_slice() {
        [] => "it reads no files of a project".to_owned(),
        [only] => format!("it reads {only} only"),
        [first @ .., last] if first.len() < 3 => format!("it reads {} and {last} only", first.join(", ")),
        [first, second, ..] => format!("it reads {first}, {second} and {} others", known.len() - 2),
    };
    let is_on_the_way = file
        .path
        .parent()
        .is_some_and(|parent| other.manifest.cwd.starts_with(parent));
    let more = dialect
        .settings
        .iter()
        .find(|setting| setting.sets == SettingUse::FallbackNames);
    if let Some(key) = more
        .filter(|_| is_on_the_way)
        .and_then(|setting| setting.key.last())
    {
        return format!("{reads}; `{key}` in its settings adds names");
    }
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    match known.iter().find(|name| !name.contains('/')) {
        Some(own) if dialect.imports.is_some() => {
            format!("{reads}; a line `@{name}` in a {own} beside it brings it in")
        }
        _ => reads,
    }
}

/// The names and folders that a client reads in a project, in its order.
fn read_in_order(dialect: &Dialect) -> Vec<String> {
    let own = dialect
        .places
        .iter()
        .filter(|place| matches!(place.scope, Scope::Project | Scope::Local));
    let mut known: Vec<String> = Vec::new();
    for files in own.flat_map(|place| &place.files) {
        let folder = files.folder.as_deref().map(|folder| format!("{folder}/"));
        for name in files.names.iter().cloned().chain(folder) {
            if !known.contains(&name) {
                known.push(name);
            }
        }
    }
    known
}
