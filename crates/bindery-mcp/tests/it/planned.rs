//! A server with a plan.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

use bindery_mcp::{Launch, Server, Standing, State, Transport};
use serde_json::{Value, json};

/// A folder with a plan in it.
pub(crate) struct Planned {
    folder: tempfile::TempDir,
}

impl Planned {
    pub(crate) fn new(plan: &Value) -> Self {
        let planned = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        planned.change(plan);
        planned
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Changes the plan, as a whole.
    pub(crate) fn change(&self, plan: &Value) {
        let mut plan = plan.clone();
        plan["log"] = json!(self.path("log"));
        fs::write(self.path("plan.new"), plan.to_string()).unwrap();
        fs::rename(self.path("plan.new"), self.path("plan.json")).unwrap();
    }

    /// Every message that the server got.
    pub(crate) fn log(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("log")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    pub(crate) fn launch(&self) -> Launch {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server.py");
        let plan = self.path("plan.json").to_string_lossy().into_owned();
        process("python3", &[script, &plan])
    }

    pub(crate) fn start(&self) -> Server {
        Server::start(self.launch())
    }

    /// The same over HTTP, with the process that serves it.
    pub(crate) fn serve(&self) -> (Launch, Served) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server.py");
        let port = self.path("port");
        let mut python = Command::new("python3");
        python
            .arg(script)
            .arg(self.path("plan.json"))
            .arg("--http")
            .arg(&port);
        let served = Served(python.spawn().unwrap());
        while !port.exists() {
            std::thread::yield_now();
        }
        let url = format!("http://127.0.0.1:{}/mcp", fs::read_to_string(&port).unwrap());
        let headers = BTreeMap::from([("Authorization".to_owned(), "Bearer secret".to_owned())]);
        let transport = Transport::Http { url, headers };
        (
            Launch {
                transport,
                ..self.launch()
            },
            served,
        )
    }
}

/// A process that ends with the test.
pub(crate) struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A process as a server.
pub(crate) fn process(command: &str, args: &[&str]) -> Launch {
    let environment = ["PATH", "HOME"]
        .into_iter()
        .filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
    Launch {
        name: "planned".to_owned(),
        transport: Transport::Stdio {
            command: command.to_owned(),
            args: args.iter().map(ToString::to_string).collect(),
            environment: environment.collect(),
            directory: std::env::temp_dir(),
        },
        startup: Duration::from_mins(1),
        call: Duration::from_mins(1),
        pause: Duration::from_millis(10),
    }
}

/// Waits until the server stands as wanted.
pub(crate) async fn until(server: &Server, wanted: impl Fn(&Standing) -> bool) -> Standing {
    let mut standing = server.standing();
    while !wanted(&standing) {
        standing = server.changed(&standing).await;
    }
    standing
}

pub(crate) fn is_away(standing: &Standing) -> bool {
    matches!(standing.state, State::Away { .. } | State::GivenUp { .. })
}

pub(crate) fn names(standing: &Standing) -> Vec<String> {
    let listing = standing.listing.as_ref().unwrap();
    listing.tools.iter().map(|tool| tool.name.clone()).collect()
}
