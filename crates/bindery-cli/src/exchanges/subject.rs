//! What a person names: a session, files, one request of either.

use std::path::{Path, PathBuf};

use bindery_store::{LogReader, SessionId, SqliteStore, Store};

use super::{Take, file, session};
use crate::sessions;
use crate::status::UsageError;
use crate::terminal::Terminal;

/// Where requests are read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A session of this user's store.
    Session(SessionId),
    /// Files, one after another; `-` is standard input.
    Files(Vec<PathBuf>),
}

/// One request: `SESSION#3`, `FILE#3`, or the last where no number is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) subject: Subject,
    pub(crate) number: Option<u64>,
}

impl Subject {
    /// What the arguments name; without any, the newest session of this directory.
    pub(crate) fn of(named: &[String], directory: &Path) -> anyhow::Result<Self> {
        match named {
            [] => {
                let latest = sessions::latest(&sessions::store()?, directory)?;
                latest.map(Self::Session).ok_or_else(|| {
                    let message = format!(
                        "no session works in {}: name one (`bindery log list`), or a file with requests",
                        directory.display()
                    );
                    UsageError(message).into()
                })
            }
            [one] => Self::of_one(one),
            many => Ok(Self::Files(many.iter().map(PathBuf::from).collect())),
        }
    }

    fn of_one(name: &str) -> anyhow::Result<Self> {
        let path = Path::new(name);
        if name == "-" || path.exists() {
            if path.is_dir() {
                let message = format!(
                    "{name} is a directory: name a session or a file; `bindery import` reads directories"
                );
                return Err(UsageError(message).into());
            }
            return Ok(Self::Files(vec![path.to_owned()]));
        }
        let store = sessions::store()?;
        match name.parse::<SessionId>() {
            Ok(id) if exists(&store, &id) => Ok(Self::Session(id)),
            _ => Err(UsageError(format!(
                "`{name}` is neither a file nor a session; `bindery log list` shows the sessions"
            ))
            .into()),
        }
    }

    /// What is named, for people.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Session(id) => format!("session {id}"),
            Self::Files(files) => {
                let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
                names.join(", ")
            }
        }
    }

    /// Gives every request, in order. What cannot be read is told on stderr and passed over.
    pub(crate) fn each(&self, terminal: &mut Terminal, take: &mut Take<'_>) -> anyhow::Result<()> {
        match self {
            Self::Session(id) => session::each(id, &*log(id)?, terminal, take),
            Self::Files(files) => {
                let mut number = 0;
                for path in files {
                    file::each(path, terminal, &mut |mut sent, terminal| {
                        number += 1;
                        sent.number = number;
                        take(sent, terminal)
                    })?;
                }
                Ok(())
            }
        }
    }
}

fn log(id: &SessionId) -> anyhow::Result<Box<dyn LogReader>> {
    Ok(sessions::store()?.read(id)?)
}

fn exists(store: &SqliteStore, id: &SessionId) -> bool {
    store.path(id).exists()
}

impl Numbered {
    /// Reads `NAME` or `NAME#N`; a file of the whole name comes first.
    pub(crate) fn of(name: &str) -> anyhow::Result<Self> {
        let numbered = name.rsplit_once('#').and_then(|(name, number)| {
            let number: u64 = number.parse().ok()?;
            (number > 0).then_some((name, number))
        });
        match numbered {
            Some((subject, number)) if !Path::new(name).exists() => Ok(Self {
                subject: Subject::of_one(subject)?,
                number: Some(number),
            }),
            _ => Ok(Self {
                subject: Subject::of_one(name)?,
                number: None,
            }),
        }
    }
}
