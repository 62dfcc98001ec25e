//! How a server is reached.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A server, and how long things may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// What it is called in settings.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// How long it may take to connect and to list its tools.
    pub startup: Duration,
    /// How long a call may take.
    pub call: Duration,
    /// The first pause before it is connected to again; it doubles up to half a minute.
    pub pause: Duration,
}

/// How a server is reached. Values of headers and variables may be secrets: they are not shown.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    /// A process that speaks on its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its complete environment.
        environment: BTreeMap<OsString, OsString>,
        /// Where it runs.
        directory: PathBuf,
    },
    /// Streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
    },
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, args, .. } => write!(f, "Stdio({command} and {} arguments)", args.len()),
            Self::Http { .. } => f.write_str("Http(…)"),
        }
    }
}
