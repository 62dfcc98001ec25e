//! Settings: `bindery.toml` of the project, `config.toml` of the user, profiles, `-c` and flags, laid
//! over one another with the origin of every value kept.
//!
//! Precedence, farthest first (see [`Rank`]): built-in, user file, user profile, project file, project
//! profile, `-c KEY=VALUE`, flag. A nearer value takes the place of a farther one as a whole; lists
//! are not joined. The keys stand in one table, [`KEYS`]. Nothing here reads the environment.

mod command_line;
mod explain;
mod file;
mod key;
mod layer;
mod prompts;
mod silenced;
mod stricter;
mod typed;
mod value;

use std::path::Path;

pub use command_line::{Flags, PromptFlag};
pub use explain::{Explained, Shown};
pub use file::{Owner, SettingsFile, parse};
pub use key::{KEYS, Key, KeyInfo, Shape};
pub use layer::{Chosen, Layered, Origin, Rank};
pub use prompts::{prompt_sources, refused};
pub use silenced::{Silenced, silenced};
pub use typed::{CapacitySettings, Prompt, Settings};
pub use value::Value;

pub(crate) use key::near_miss;
use stricter::stricter;

use crate::notice::{Notice, Position, Refused};
use crate::places::Places;
use crate::strict_file;

/// What decides the settings, apart from files.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `--profile`
    pub profile: Option<String>,
    /// Each `-c KEY=VALUE`, in order; a later one wins.
    pub overrides: Vec<String>,
    /// The flags.
    pub flags: Flags,
}

/// Reads the settings files and lays everything over one another. `cwd` is where relative paths on the
/// command line start. Every problem is reported, not the first alone.
pub fn load(places: &Places, cwd: &Path, request: &Request) -> Result<Settings, Refused> {
    layered(places, cwd, request, Profile::Ours)
}

/// The same where a client whose dialect is read has a profile of the name that is asked for: our files need
/// not have one.
pub fn load_beside_client(places: &Places, cwd: &Path, request: &Request) -> Result<Settings, Refused> {
    layered(places, cwd, request, Profile::AlsoTheClients)
}

/// Who has to have a profile that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Profile {
    Ours,
    AlsoTheClients,
}

fn layered(places: &Places, cwd: &Path, request: &Request, profile: Profile) -> Result<Settings, Refused> {
    let mut problems = Vec::new();
    let mut keep = |result: Result<SettingsFile, Vec<Notice>>| {
        result.unwrap_or_else(|found| {
            problems.extend(found);
            SettingsFile::default()
        })
    };
    let user = match places.user_settings() {
        Some(path) => keep(read(&path, places, Owner::User)),
        None => SettingsFile::default(),
    };
    let project = keep(read(&places.project_settings(), places, Owner::Project));
    if problems.is_empty()
        && profile == Profile::Ours
        && let Some(problem) = missing_profile(request.profile.as_deref(), &user, &project)
    {
        problems.push(problem);
    }
    let overrides = command_line::overrides(&request.overrides, cwd);
    let flags = command_line::flags(&request.flags, cwd);
    let (overrides, flags) = match (overrides, flags) {
        (Ok(overrides), Ok(flags)) if problems.is_empty() => (overrides, flags),
        (overrides, flags) => {
            problems.extend(overrides.err().unwrap_or_default());
            problems.extend(flags.err().unwrap_or_default());
            return Err(Refused(problems));
        }
    };
    let selected = |file: &SettingsFile| {
        let name = request.profile.as_ref();
        name.and_then(|name| file.profiles.get(name))
            .cloned()
            .unwrap_or_default()
    };
    let (user_profile, project_profile) = (selected(&user), selected(&project));
    let own = builtin().under(user.base).under(user_profile);
    let (project, notices) = stricter(&own, project.base.under(project_profile));
    let layered = own.under(project).under(overrides).under(flags);
    Ok(Settings::new(layered, notices))
}

fn read(path: &Path, places: &Places, owner: Owner) -> Result<SettingsFile, Vec<Notice>> {
    let shown = places.shown(path);
    let within = match owner {
        Owner::User => None,
        Owner::Project => Some(places.project.as_path()),
    };
    match strict_file::read(path, &shown, within) {
        Ok(None) => Ok(SettingsFile::default()),
        Ok(Some(text)) => parse(&text, &shown, path.parent().unwrap_or(path), owner),
        Err(problem) => Err(vec![problem]),
    }
}

/// The layer of the built-in values, read from the table of keys.
fn builtin() -> Layered {
    let mut layer = Layered::default();
    for info in KEYS.iter().filter(|info| !info.default.is_empty()) {
        let parsed = toml::de::DeValue::parse(info.default).ok();
        let value = parsed.and_then(|value| Value::from_toml(info, value.get_ref(), Path::new("")).ok());
        if let Some(value) = value {
            let at = Position::whole("built-in");
            let rank = Rank::Builtin;
            layer.set(info.key, value, Origin { rank, at });
        }
    }
    layer
}

fn missing_profile(name: Option<&str>, user: &SettingsFile, project: &SettingsFile) -> Option<Notice> {
    let name = name?;
    if user.profiles.contains_key(name) || project.profiles.contains_key(name) {
        return None;
    }
    let known: std::collections::BTreeSet<&str> = user
        .profiles
        .keys()
        .chain(project.profiles.keys())
        .map(String::as_str)
        .collect();
    let mend = if let Some(near) = near_miss(name, known.iter().copied()) {
        format!("did you mean `{near}`?")
    } else if known.is_empty() {
        format!("add [profile.{name}] to your config.toml or to bindery.toml")
    } else {
        format!(
            "known profiles are {}",
            known.into_iter().collect::<Vec<_>>().join(", ")
        )
    };
    let message = format!("there is no profile `{}`", crate::visible::clipped(name, 60));
    Some(Notice::error("setting-profile", Position::whole("--profile"), message).mend(mend))
}

#[cfg(test)]
mod tests;
