//! Where an import leads, and whether it may.

use std::path::{Component, Path, PathBuf};

use crate::dialect::Imports;
use crate::places::lexical;

/// What a path is resolved against.
#[derive(Debug, Clone, Copy)]
pub(in crate::instructions) struct Base<'a> {
    /// Directory of the importing file, as the dialect counts it.
    pub(in crate::instructions) directory: &'a Path,
    /// Home directory.
    pub(in crate::instructions) home: Option<&'a Path>,
}

/// Why an import may not be followed, whatever a dialect says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::instructions) enum Refusal {
    /// Its extension may not be imported.
    Extension,
    /// It holds secrets.
    Secret,
    /// Version control's own files.
    GitMetadata,
}

/// The path an import token means, `.` and `..` resolved without looking at links.
pub(in crate::instructions) fn target_of(token: &str, base: Base<'_>) -> Option<PathBuf> {
    let path = match token.strip_prefix("~/") {
        Some(rest) => base.home?.join(rest),
        None => base.directory.join(token),
    };
    Some(lexical(&path))
}

/// Whether a path lies in a directory, both as written.
pub(in crate::instructions) fn inside(path: &Path, directory: &Path) -> bool {
    lexical(path).starts_with(directory)
}

/// Refusals that depend on the path alone: as written and where it really leads.
pub(in crate::instructions) fn check_kind(path: &Path, real: &Path, rules: &Imports) -> Result<(), Refusal> {
    if is_git_metadata(path) || is_git_metadata(real) {
        return Err(Refusal::GitMetadata);
    }
    if is_secret(path) || is_secret(real) {
        return Err(Refusal::Secret);
    }
    let Some(extension) = extension_of(path) else {
        return Ok(());
    };
    let allowed = rules.extensions.is_empty()
        || rules
            .extensions
            .iter()
            .any(|known| known.eq_ignore_ascii_case(&extension));
    if allowed { Ok(()) } else { Err(Refusal::Extension) }
}

/// What follows the last dot of a name that does not begin with it.
fn extension_of(path: &Path) -> Option<String> {
    Some(path.extension()?.to_string_lossy().into_owned())
}

/// Whether a path leads into version control's own directory.
fn is_git_metadata(path: &Path) -> bool {
    path.components()
        .any(|part| matches!(part, Component::Normal(name) if name == ".git"))
}

/// Whether a file by its name holds secrets: environment files, private keys, credentials.
pub fn is_secret(path: &Path) -> bool {
    let Some(name) = path
        .file_name()
        .map(|name| name.to_string_lossy().to_ascii_lowercase())
    else {
        return false;
    };
    if let Some(rest) = name.strip_prefix(".env") {
        let harmless = [".example", ".sample", ".template", ".dist", ".md"];
        return rest.is_empty() || (rest.starts_with('.') && !harmless.iter().any(|end| rest.ends_with(end)));
    }
    let names = [
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        ".netrc",
        ".pgpass",
        ".npmrc",
        ".pypirc",
        ".git-credentials",
        "credentials",
        "credentials.json",
        ".htpasswd",
    ];
    let endings = [".pem", ".key", ".p12", ".pfx", ".keystore", ".jks", ".kdbx"];
    names.contains(&name.as_str()) || endings.iter().any(|end| name.ends_with(end))
}
