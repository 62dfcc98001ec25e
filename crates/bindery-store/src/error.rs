//! Why a store could not do what it was asked.

use std::io;
use std::path::PathBuf;

use bindery_core::log::{DecodeError, FoldError, Seq};

use crate::{BlobError, SessionId};

/// A store's refusal or failure. Whatever it is, what was acknowledged before is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No such session.
    #[error("there is no session `{0}` here")]
    NotFound(SessionId),
    /// The id is taken.
    #[error("a session `{0}` exists already; choose another id")]
    Exists(SessionId),
    /// Somebody else writes to the session.
    #[error("session `{session}` is being written by {owner}; wait for it, or read or fork the session")]
    Busy {
        /// The session.
        session: SessionId,
        /// Who holds it, in their own words.
        owner: String,
    },
    /// The log grew although this writer holds the lease.
    #[error(
        "session `{session}` was written by somebody without the lease: {found} follows, {expected} was \
         expected; open it again"
    )]
    Fenced {
        /// The session.
        session: SessionId,
        /// The place that this writer was going to fill.
        expected: Seq,
        /// The place that is free.
        found: Seq,
    },
    /// Records that do not follow the last one.
    #[error("event {found} cannot be appended to session `{session}`: {expected} is next")]
    OutOfOrder {
        /// The session.
        session: SessionId,
        /// The place that is free.
        expected: Seq,
        /// The place that the record has.
        found: Seq,
    },
    /// A payload with a line break between its tokens.
    #[error("the payload of event {0} spans several lines; it has to be JSON on one line")]
    NotOneLine(Seq),
    /// A file of somebody else.
    #[error("{path} is not a session log: {what}", path = path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is, or lacks.
        what: String,
    },
    /// A file of a newer version.
    #[error(
        "{path} has log format {found}; formats up to {known} are known: use a newer version",
        path = path.display()
    )]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest that is known.
        known: i64,
    },
    /// Stored data is not what was stored.
    #[error("{place} is damaged{}: {what}; `bindery log recover` saves what is readable", at(*seq))]
    Corrupt {
        /// The file or session.
        place: String,
        /// The first event concerned, where that is known.
        seq: Option<Seq>,
        /// What is wrong.
        what: String,
    },
    /// An exported file that is not whole.
    #[error(
        "{path}:{line}: {what}; nothing was imported: keep what is readable instead, or export it again",
        path = path.display()
    )]
    NotWhole {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// No room.
    #[error("no room to write {path}: {cause}; nothing of this batch was written", path = path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// No permission to write.
    #[error("{path} cannot be written: {cause}; nothing of this batch was written", path = path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// SQLite failed otherwise.
    #[error("{doing} {path}: {cause}", path = path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What SQLite said.
        #[source]
        cause: rusqlite::Error,
    },
    /// The file system failed.
    #[error("{doing} {path}: {cause}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// A blob failed.
    #[error("event {seq} of `{place}`: {cause}")]
    Blob {
        /// The file or session.
        place: String,
        /// The event whose payload it is.
        seq: Seq,
        /// What happened.
        #[source]
        cause: BlobError,
    },
    /// An event means nothing to this version.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// An event does not fit those before it.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

fn at(seq: Option<Seq>) -> String {
    seq.map(|seq| format!(" at event {seq}")).unwrap_or_default()
}

impl StoreError {
    pub(crate) fn io(path: impl Into<PathBuf>, doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| match cause.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::Full {
                    path,
                    cause: cause.to_string(),
                }
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly {
                path,
                cause: cause.to_string(),
            },
            _ => Self::Io { path, doing, cause },
        }
    }
}
