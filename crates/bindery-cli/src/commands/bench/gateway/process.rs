//! The proxies, each a process of its own, and what it uses.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};

/// How long a proxy may take to start.
const START: Duration = Duration::from_mins(4);
/// Clock ticks a second in `/proc`: fixed in the interface of Linux.
const TICKS: u64 = 100;

/// A proxy that runs. It ends with this value.
pub(super) struct Proxy {
    pub(super) url: String,
    child: Child,
    /// Where it keeps what it records.
    _scratch: tempfile::TempDir,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        for process in tree(self.child.id()).into_iter().rev() {
            // What has ended needs no end.
            let _gone = Command::new("kill")
                .arg(process.to_string())
                .stderr(Stdio::null())
                .status();
        }
        let _ended = self.child.wait();
    }
}

impl Proxy {
    /// This program, as a gateway.
    pub(super) fn bindery(upstream: &str, record: bool) -> anyhow::Result<Self> {
        let scratch = tempfile::tempdir()?;
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["gateway", "--listen", "127.0.0.1:0", "--upstream", upstream])
            .args(record.then_some("--record"))
            .env("XDG_STATE_HOME", scratch.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let stderr = child.stderr.take().context("its messages")?;
        let mut lines = BufReader::new(stderr).lines();
        let first = lines.next().context("the gateway says nothing")??;
        let url = first.split_whitespace().find(|word| word.starts_with("http://"));
        let url = url.with_context(|| first.clone())?.to_owned();
        // What else it says is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.count());
        Ok(Self {
            url,
            child,
            _scratch: scratch,
        })
    }

    /// LiteLLM's proxy.
    pub(super) async fn litellm(program: &Path, workers: u32, upstream: &str) -> anyhow::Result<Self> {
        let scratch = tempfile::tempdir()?;
        let config = scratch.path().join("config.yaml");
        let text = format!(
            "model_list:\n  - model_name: gpt-5.5\n    litellm_params:\n      model: openai/gpt-5.5\n      \
             api_base: {upstream}/v1\n      api_key: sk-made-up-0123456789\nlitellm_settings:\n  telemetry: false\n"
        );
        fs::write(&config, text)?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = Command::new(program);
        command
            .args([
                "--host",
                "127.0.0.1",
                "--port",
                &port.to_string(),
                "--num_workers",
                &workers.to_string(),
                "--config",
            ])
            .arg(&config)
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .env("LITELLM_MODE", "PRODUCTION")
            .env("LITELLM_LOG", "ERROR")
            .env("LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY", "true")
            .env("HOME", scratch.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().with_context(|| program.display().to_string())?;
        let mut proxy = Self {
            url: format!("http://127.0.0.1:{port}"),
            child,
            _scratch: scratch,
        };
        proxy.wait().await?;
        Ok(proxy)
    }

    async fn wait(&mut self) -> anyhow::Result<()> {
        let load = super::load::Load::new(super::load::Shape::Whole);
        let started = std::time::Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                bail!("the proxy ended with {status}");
            }
            match load.flood(&self.url, 1, 1).await {
                Ok(_) => return Ok(()),
                Err(error) if started.elapsed() > START => {
                    return Err(error.context("the proxy does not answer"));
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
            }
        }
    }

    /// What its processes have used so far.
    pub(super) fn used(&self) -> Used {
        let mut used = Used::default();
        for process in tree(self.child.id()) {
            let Some(fields) = stat(process) else { continue };
            let field = |place: usize| {
                fields
                    .get(place)
                    .and_then(|field| field.parse::<u64>().ok())
                    .unwrap_or(0)
            };
            // Fields 14 and 15 of proc_pid_stat(5); these begin with the third.
            used.ticks += field(11) + field(12);
            used.resident_kib += resident_kib(process);
            used.known = true;
        }
        used
    }
}

/// Processor time and memory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Used {
    ticks: u64,
    resident_kib: u64,
    known: bool,
}

impl Used {
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            ticks: self.ticks.saturating_sub(before.ticks),
            ..*self
        }
    }

    /// Processor time for each of so many requests.
    pub(super) fn per(&self, requests: u32) -> String {
        if !self.known {
            return "unknown".to_owned();
        }
        let micros = self.ticks * (1_000_000 / TICKS) / u64::from(requests.max(1));
        format!("{micros} µs")
    }

    pub(super) fn memory(&self) -> String {
        if self.known {
            format!("{} MB resident", self.resident_kib / 1024)
        } else {
            "memory unknown".to_owned()
        }
    }
}

/// A process and those that it started, parents first. Where there is no `/proc`, the process alone.
fn tree(root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
        let parent = stat(process).and_then(|fields| fields.get(1)?.parse().ok());
        children.entry(parent.unwrap_or(0)).or_default().push(process);
    }
    let mut out = vec![root];
    let mut at = 0;
    while let Some(process) = out.get(at).copied() {
        out.extend(children.get(&process).into_iter().flatten());
        at += 1;
    }
    out
}

/// The fields of `/proc/PID/stat` behind the name.
fn stat(process: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

fn resident_kib(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}
