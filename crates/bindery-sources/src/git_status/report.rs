//! What a look at a working tree found, and how it reads.

use std::fmt;
use std::time::Duration;

use crate::repository::Head;
use crate::visible::clipped;

/// A look at a working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What is checked out, read without git.
    pub head: Head,
    /// What git said.
    pub outcome: Outcome,
}

/// How asking git went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It answered.
    Read {
        /// The entries, in git's order.
        entries: Vec<Entry>,
        /// How many more there are; `None` if there are more than could be counted.
        more: Option<usize>,
    },
    /// It was stopped at its deadline.
    CutShort {
        /// The deadline.
        after: Duration,
    },
    /// There is no git program.
    NoGit,
    /// The repository defines content filters that cannot be switched off, so git was not asked.
    Refused,
    /// Git failed.
    Failed {
        /// What it said, on one line.
        why: String,
    },
}

/// A changed or untracked path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Two letters: state in the index, state in the working tree. `??` is untracked, `UU` and the like
    /// are conflicts.
    pub state: String,
    /// The path from the repository's root, escaped.
    pub path: String,
}

impl Report {
    /// Why the status is not complete, in a few words; `None` if it is.
    pub fn incomplete(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Read { more: Some(0), .. } => None,
            Outcome::Read {
                entries,
                more: Some(more),
            } => Some(format!("list cut after {} entries, {more} more", entries.len())),
            Outcome::Read { entries, more: None } => Some(format!(
                "list cut after {} entries, there are many more",
                entries.len()
            )),
            Outcome::CutShort { after } => Some(format!("cut short after {} ms", after.as_millis())),
            Outcome::NoGit => Some("no git program was found".to_owned()),
            Outcome::Refused => Some(
                "git was not asked: the repository defines content filters that cannot be switched off"
                    .to_owned(),
            ),
            Outcome::Failed { why } => Some(format!("git failed: {why}")),
        }
    }
}

impl Report {
    /// What to do about a status that is not complete; empty if it is.
    pub fn mend(&self) -> &'static str {
        match &self.outcome {
            Outcome::Read { more: Some(0), .. } => "",
            Outcome::Read { .. } => {
                "commit or ignore what is not worth telling; the model sees the list as it is cut here"
            }
            Outcome::CutShort { .. } => {
                "raise `git_status_deadline_ms`, or set it to 0 to leave the status out"
            }
            Outcome::NoGit => "install git or put its folder on PATH, or set `git_status_deadline_ms` to 0",
            Outcome::Refused => {
                "look at `git config --get-regexp filter`; set `git_status_deadline_ms` to 0 to leave the status out"
            }
            Outcome::Failed { .. } => {
                "run `git status` here to see why; set `git_status_deadline_ms` to 0 to leave the status out"
            }
        }
    }
}

/// What git complained of, as one line: its first, without the word `fatal`.
pub(super) fn reason(errors: &[u8], code: i32) -> String {
    let text = String::from_utf8_lossy(errors);
    match text.lines().next().map(str::trim).filter(|line| !line.is_empty()) {
        Some(line) => clipped(line.strip_prefix("fatal: ").unwrap_or(line), 200),
        None if code < 0 => "it was ended from outside".to_owned(),
        None => format!("exit code {code}"),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Branch: {}", self.head.shown())?;
        match &self.outcome {
            Outcome::Read { entries, more } if entries.is_empty() && *more == Some(0) => {
                f.write_str("\nStatus: clean")
            }
            Outcome::Read { entries, .. } => {
                f.write_str("\nStatus:")?;
                for entry in entries {
                    write!(f, "\n{} {}", entry.state, entry.path)?;
                }
                match self.incomplete() {
                    Some(why) => write!(f, "\n… ({why})"),
                    None => Ok(()),
                }
            }
            // Git's own words may quote the repository; the person who asked sees them, the model does not.
            Outcome::Failed { .. } => f.write_str("\nStatus: unknown (git failed)"),
            _ => write!(f, "\nStatus: unknown ({})", self.incomplete().unwrap_or_default()),
        }
    }
}
