//! Who watches the gateway: a terminal, later a dashboard.

use std::sync::Arc;

use bindery_cache::Why;
use bindery_core::Usage;
use bindery_core::log::UsageOrigin;
use bindery_store::SessionId;

/// Is told what happens, in the order in which exchanges end. It runs on the recorder's thread.
pub trait Observer: Send {
    /// An exchange is over, and what was to be written of it is written.
    fn seen(&mut self, summary: &Summary);

    /// Something is wrong with the recording. Traffic goes on.
    fn problem(&mut self, problem: &Problem);
}

/// An exchange in short.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Its number, from 1, in the order of arrival.
    pub number: u64,
    /// When it came, in milliseconds since 1970.
    pub at_ms: u64,
    /// How long it took, in milliseconds.
    pub elapsed_ms: u64,
    /// The program that asked, with its version, as its user agent says.
    pub client: Option<Arc<str>>,
    /// The session that it names.
    pub session: Option<Arc<str>>,
    /// The number of the conversation, from 1, where nothing names a session.
    pub conversation: Option<u64>,
    /// The method.
    pub method: String,
    /// Path and query, without secrets.
    pub path: String,
    /// The model that was asked.
    pub model: Option<Arc<str>>,
    /// The HTTP status; `None` where no response began.
    pub status: Option<u16>,
    /// How it went.
    pub outcome: Outcome,
    /// What was reported, or `None`.
    pub usage: Option<Usage>,
    /// Who counted.
    pub origin: Option<UsageOrigin>,
    /// Tokens counted, for a request that asked for no more.
    pub counted: Option<u64>,
    /// Why it read what it read.
    pub why: Option<Why>,
    /// Whether it is in the log.
    pub kept: Kept,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

/// How an exchange went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The upstream answered to the end, whatever it said.
    Answered,
    /// The client went away.
    ClientGone,
    /// The gateway did not let it in, and says why.
    Refused(String),
    /// The gateway was stopped.
    Stopped,
    /// The upstream could not be reached, or broke off.
    Failed(String),
}

/// Whether an exchange is in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// In this session of the log.
    Logged(SessionId),
    /// Nothing was asked to be kept, or there is nothing to keep.
    NotAsked,
    /// Passed through: a path that is not recorded.
    PassedThrough,
    /// It should have been, and is not.
    Lost(String),
}

/// Something that is wrong with the recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The log cannot be written.
    #[error("the log cannot be written: {cause}; traffic goes on, unrecorded until it can be")]
    Log {
        /// What the store said.
        cause: String,
    },
    /// Exchanges passed that nobody looked at.
    #[error(
        "{exchanges} exchanges passed unseen: more came than the recorder could follow, and its copies had no more \
         room; they are in no line and no log"
    )]
    Missed {
        /// How many.
        exchanges: u64,
    },
    /// The log can be written again.
    #[error("the log is written again; {lost} exchanges are missing from it")]
    LogAgain {
        /// How many exchanges were lost meanwhile.
        lost: u64,
    },
}
