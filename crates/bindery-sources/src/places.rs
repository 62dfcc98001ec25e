//! Where things lie: the user's configuration folder, the project's files, and paths as people read them.

use std::path::{Component, Path, PathBuf};

/// The folders that settings and sections come from. Values from outside: nothing here reads the
/// environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The home directory, if there is one.
    pub home: Option<PathBuf>,
    /// The user's configuration folder for Bindery, if there can be one.
    pub user: Option<PathBuf>,
    /// The user's state folder for Bindery, if there can be one: approvals lie there.
    pub state: Option<PathBuf>,
    /// The project's root: the repository's, or the working directory outside any.
    pub project: PathBuf,
}

impl Places {
    /// From the values of `HOME` and `XDG_CONFIG_HOME`, and the project's root. As the XDG base
    /// directory specification says, a relative `XDG_CONFIG_HOME` is ignored.
    pub fn new(home: Option<&Path>, xdg_config_home: Option<&Path>, project: impl Into<PathBuf>) -> Self {
        let home = home.filter(|home| home.is_absolute());
        let base = xdg_config_home
            .filter(|folder| folder.is_absolute())
            .map(Path::to_path_buf)
            .or_else(|| home.map(|home| home.join(".config")));
        Self {
            home: home.map(Path::to_path_buf),
            user: base.map(|base| base.join("bindery")),
            state: home.map(|home| home.join(".local").join("state").join("bindery")),
            project: project.into(),
        }
    }

    /// With the value of `XDG_STATE_HOME`; a relative one is ignored.
    #[must_use]
    pub fn with_state_home(mut self, xdg_state_home: Option<&Path>) -> Self {
        if let Some(folder) = xdg_state_home.filter(|folder| folder.is_absolute()) {
            self.state = Some(folder.join("bindery"));
        }
        self
    }

    /// `$XDG_CONFIG_HOME/bindery/config.toml`.
    pub fn user_settings(&self) -> Option<PathBuf> {
        self.user.as_ref().map(|folder| folder.join("config.toml"))
    }

    /// `bindery.toml` in the project's root.
    pub fn project_settings(&self) -> PathBuf {
        self.project.join("bindery.toml")
    }

    /// `$XDG_CONFIG_HOME/bindery/sections`.
    pub fn user_sections(&self) -> Option<PathBuf> {
        self.user.as_ref().map(|folder| folder.join("sections"))
    }

    /// `.bindery/sections` in the project's root.
    pub fn project_sections(&self) -> PathBuf {
        self.project.join(".bindery").join("sections")
    }

    /// A path as people read it: relative to the project, or to `~`, or whole; control characters escaped.
    pub fn shown(&self, path: &Path) -> String {
        let text = if path == self.project {
            ".".to_owned()
        } else if let Ok(inner) = path.strip_prefix(&self.project) {
            inner.to_string_lossy().into_owned()
        } else if let Some(inner) = self.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            format!("~/{}", inner.to_string_lossy())
        } else {
            path.to_string_lossy().into_owned()
        };
        crate::visible::escaped(&text)
    }
}

/// A path without `.` and `..`, links not looked at.
pub fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => {
                    out.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => out.push(".."),
            },
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_xdg_folder_is_ignored() {
        let places = |xdg: &str| Places::new(Some(Path::new("/h")), Some(Path::new(xdg)), "/p").user;
        assert_eq!(places("x"), Some("/h/.config/bindery".into()));
        assert_eq!(places("/x"), Some("/x/bindery".into()));
        assert_eq!(Places::new(None, None, "/p").user, None);
    }

    #[test]
    fn paths_are_shown_from_where_the_reader_stands() {
        let places = Places::new(Some(Path::new("/h")), None, "/h/p");
        assert_eq!(places.shown(Path::new("/h/p/bindery.toml")), "bindery.toml");
        assert_eq!(places.shown(Path::new("/h/p")), ".");
        assert_eq!(places.shown(Path::new("/h/.config/x")), "~/.config/x");
        assert_eq!(places.shown(Path::new("/etc/a\nb")), "/etc/a\\nb");
    }
}
