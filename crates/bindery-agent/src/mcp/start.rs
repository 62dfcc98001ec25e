//! From a declaration to a connection.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use bindery_mcp::{Launch, Transport};
use bindery_sources::mcp::{McpServer, Reach};

/// The first pause before a lost server is connected to again.
const PAUSE: Duration = Duration::from_millis(500);

/// Where servers run, and what they know.
#[derive(Debug, Clone)]
pub struct Started {
    /// The working directory.
    pub directory: std::path::PathBuf,
    /// The environment that commands get, without the keys of providers.
    pub environment: BTreeMap<OsString, OsString>,
}

/// How a declared server is reached.
pub fn launch(server: &McpServer, at: &Started) -> Launch {
    Launch {
        name: server.name.clone(),
        transport: match &server.reach {
            Reach::Stdio {
                command,
                args,
                env,
                cwd,
            } => Transport::Stdio {
                command: command.clone(),
                args: args.clone(),
                environment: environment_of(&at.environment, env),
                directory: cwd.as_deref().unwrap_or(Path::new(&at.directory)).to_owned(),
            },
            Reach::Http { url, headers } => Transport::Http {
                url: url.clone(),
                headers: headers.clone(),
            },
        },
        startup: server.startup,
        call: server.call,
        pause: PAUSE,
    }
}

/// The environment of commands with a server's own variables.
pub fn environment_of(
    all: &BTreeMap<OsString, OsString>,
    own: &BTreeMap<String, String>,
) -> BTreeMap<OsString, OsString> {
    let mut out = all.clone();
    out.extend(own.iter().map(|(name, value)| (name.into(), value.into())));
    out
}
