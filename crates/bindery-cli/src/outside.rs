//! What the process's environment says: read here, and nowhere else.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bindery::here::Question;
use bindery::sources::environment::gather;
use bindery::sources::git_status::Probe;
use bindery::sources::places::Places;
use bindery::sources::repository::Repository;
use bindery::sources::settings::Request;

/// Everything that decides a request in `dir`, an absolute path.
pub(crate) fn question(dir: PathBuf, request: Request) -> Question {
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let repository = Repository::discover(&dir);
    let project = repository
        .as_ref()
        .map_or_else(|| dir.clone(), |repository| repository.root.clone());
    let home = variable("HOME");
    let places = Places::new(home.as_deref(), variable("XDG_CONFIG_HOME").as_deref(), project)
        .with_state_home(variable("XDG_STATE_HOME").as_deref());
    let today = today();
    Question {
        places,
        repository,
        // If there is no such directory any more, relative paths lead nowhere, and say so.
        paths_from: std::env::current_dir().unwrap_or_default(),
        surroundings: gather(dir, Some(today), None),
        probe: Some(Probe::from_environment()),
        touch: Vec::new(),
        environment: environment(),
        request,
    }
}

/// Where this user's configuration lies.
pub(crate) fn config_home() -> Option<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))
}

/// The environment's variables, those that are text.
pub(crate) fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// The width that `COLUMNS` asks for: shells keep it to themselves, so whoever exports it means it.
pub(crate) fn columns() -> Option<usize> {
    std::env::var("COLUMNS")
        .ok()?
        .parse()
        .ok()
        .filter(|width| *width > 0)
}

/// The date here. `SOURCE_DATE_EPOCH` (seconds, as reproducible-builds.org defines it) takes the clock's
/// place, so that a request can be made again on another day.
pub(crate) fn today() -> jiff::civil::Date {
    let fixed = std::env::var("SOURCE_DATE_EPOCH")
        .ok()
        .and_then(|seconds| seconds.parse().ok());
    match fixed.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok()) {
        Some(instant) => instant.to_zoned_datetime(jiff::tz::TimeZone::UTC).date(),
        None => jiff::ZonedDateTime::now().date(),
    }
}
