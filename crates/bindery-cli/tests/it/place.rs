//! A home, a repository in it, and the binary run there with nothing else in its environment.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder of its own with a home and a git repository.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

/// What a run printed and how it ended.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    /// A folder of its own with nothing in it.
    pub(crate) fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A home whose user section `environment` is the same on every machine, and an empty repository.
    pub(crate) fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let section = "---\ngroup: dynamic\norder: 100\n---\nYou work in a test.\n";
        place.write("home/.config/bindery/sections/environment.md", section);
        fs::create_dir_all(place.path("home/repo")).unwrap();
        place.git(&["init", "-q", "-b", "main"]);
        place
    }

    /// The absolute path of something in this place.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(relative)
    }

    /// Writes a file, and the folders it needs.
    pub(crate) fn write(&self, relative: &str, content: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Runs git in the repository.
    pub(crate) fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
            .args(arguments);
        git.current_dir(self.path("home/repo"))
            .env("HOME", self.path("home"));
        git.env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", "1700000000 +0000")
            .env("GIT_COMMITTER_DATE", "1700000000 +0000");
        let output = git.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Runs the binary in the repository.
    pub(crate) fn bindery(&self, arguments: &[&str]) -> Ran {
        self.bindery_in("home/repo", arguments)
    }

    /// Runs the binary in a folder. Paths of this place are shown as `[place]`.
    pub(crate) fn bindery_in(&self, folder: &str, arguments: &[&str]) -> Ran {
        self.ran(&mut self.command(folder, arguments))
    }

    /// The binary as it would be run in a folder.
    pub(crate) fn command(&self, folder: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bindery"));
        command.args(arguments).current_dir(self.path(folder)).env_clear();
        command
            .env("HOME", self.path("home"))
            .env("PATH", std::env::var_os("PATH").unwrap());
        // 2026-11-30; and git is given all the time it needs, so that no result depends on the machine's.
        command
            .env("SOURCE_DATE_EPOCH", "1796000000")
            .env("LANG", "C.UTF-8");
        command
    }

    /// Runs a command. Paths of this place are shown as `[place]`.
    pub(crate) fn ran(&self, command: &mut Command) -> Ran {
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().unwrap();
        let here = self.path("").to_string_lossy().trim_end_matches('/').to_owned();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(&here, "[place]");
        Ran {
            code: status.code().unwrap(),
            out: text(stdout),
            err: text(stderr),
        }
    }
}
