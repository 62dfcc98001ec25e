//! The real clients, where they are installed: `cargo xtask clients` installs them and runs this. Nothing of what
//! they send is kept.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use bindery_cache::typing::Typing;
use bindery_cache::{Form, RequestReader, Verdict, WireRequest};
use bindery_core::Kind;
use bindery_gateway::sim::SimUpstream;
use bindery_gateway::{HttpUpstream, Outcome};
use bindery_store::MemoryStore;
use tokio::process::Command;

use crate::place::{Place, clock, recorded};
use crate::tap::{Asked, Tap};

/// Turns of a run; each is a request that is answered with a call, and one with its result.
const TURNS: usize = 3;

/// A tree with everything that the clients put into requests.
struct Tree {
    scratch: tempfile::TempDir,
}

impl Tree {
    fn lay() -> Self {
        let tree = Self {
            scratch: tempfile::tempdir().unwrap(),
        };
        let hooks = |event: &str| {
            let hook = format!(r#"[{{"hooks":[{{"type":"command","command":"echo from {event}"}}]}}]"#);
            format!(r#""{event}":{hook}"#)
        };
        let hooks = format!(
            r#"{{"hooks":{{{},{}}}}}"#,
            hooks("SessionStart"),
            hooks("UserPromptSubmit")
        );
        let developer = "developer_instructions = \"Answer in one line.\"\n";
        for (path, text) in [
            ("home/.claude/CLAUDE.md", "Home rule.\n"),
            ("p/CLAUDE.md", "Project rule. @more.md\n"),
            ("p/more.md", "Imported rule.\n"),
            ("p/CLAUDE.local.md", "Local rule.\n"),
            ("p/.claude/rules/r.md", "Rule of rules.\n"),
            ("p/.claude/settings.json", &hooks),
            (
                "p/.claude/skills/greet/SKILL.md",
                "---\nname: greet\ndescription: greets\n---\nGreet.\n",
            ),
            (
                "p/.claude/agents/rev.md",
                "---\nname: rev\ndescription: reviews\n---\nReview.\n",
            ),
            ("p/sub/CLAUDE.md", "Nested rule.\n"),
            ("p/sub/a.txt", "text\n"),
            ("p/AGENTS.md", "Agents rule.\n"),
            ("codex/AGENTS.md", "Home agents rule.\n"),
            ("codex/hooks.json", &hooks),
            ("codex/developer.toml", developer),
        ] {
            let path = tree.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let git = |arguments: &[&str]| {
            let names = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
            let mut git = std::process::Command::new("git");
            git.args(names)
                .args(arguments)
                .current_dir(tree.path("p"))
                .stdout(Stdio::null());
            assert!(git.status().unwrap().success());
        };
        git(&["init", "-q"]);
        git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        tree
    }

    fn path(&self, inner: &str) -> PathBuf {
        fs::canonicalize(self.scratch.path()).unwrap().join(inner)
    }

    /// A client with nothing of our environment.
    fn command(&self, client: &str) -> Command {
        let root = PathBuf::from(std::env::var_os("BINDERY_CLIENTS").expect("`cargo xtask clients` sets it"));
        let mut command = Command::new(root.join(client).join("node_modules/.bin").join(client));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LANG", "C.UTF-8")
            .env("HOME", self.path("home"))
            .env("NO_PROXY", "127.0.0.1,localhost")
            .current_dir(self.path("p"))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env(name, "http://127.0.0.1:9");
        }
        command
    }

    fn claude(&self, url: &str, model: &str, turn: usize) -> Command {
        let mut command = self.command("claude");
        command
            .args(["-p", &prompt(turn), "--model", model, "--allowedTools", "Read"])
            .args(["--append-system-prompt", "Be brief."])
            .env("ANTHROPIC_BASE_URL", url)
            .env("ANTHROPIC_API_KEY", "sk-ant-made-up-0123456789")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_TELEMETRY", "1");
        if turn > 1 {
            command.arg("--continue");
        }
        command
    }

    fn codex(&self, url: &str, model: &str, turn: usize) -> Command {
        let config = format!(
            "model = \"{model}\"\nmodel_provider = \"bindery\"\ndeveloper_instructions = \"Answer in one line.\"\n\
             [model_providers.bindery]\nname = \"b\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n\
             env_key = \"OPENAI_API_KEY\"\n"
        );
        fs::write(self.path("codex/config.toml"), config).unwrap();
        let mut command = self.command("codex");
        command.arg("exec");
        if turn > 1 {
            command.args(["resume", "--last"]);
        }
        command
            .args([
                "--skip-git-repo-check",
                "--dangerously-bypass-hook-trust",
                &prompt(turn),
            ])
            .env("CODEX_HOME", self.path("codex"))
            .env("OPENAI_API_KEY", "sk-made-up-0123456789");
        command
    }
}

fn prompt(turn: usize) -> String {
    format!("Turn {turn}: look around")
}

/// What a client asked: at both ends of the gateway, and as the log has it.
struct Run {
    requests: Vec<WireRequest>,
    keys: BTreeSet<String>,
}

async fn run(calls: &str, command: impl Fn(&str, usize) -> Command) -> Run {
    let sim = SimUpstream::with_calls(clock(), calls).unwrap();
    let provider = Place::with(sim, Arc::new(MemoryStore::default()), |_| {}).await;
    let behind = Tap::to(provider.address).await;
    let upstream = HttpUpstream::new(&behind.url()).unwrap();
    let mut place = Place::with(upstream, Arc::new(MemoryStore::default()), |_| {}).await;
    let before = Tap::to(place.address).await;
    for turn in 1..=TURNS {
        let output = command(&before.url(), turn).output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(said.contains("[simulated] The tool returned"), "{said}");
    }
    let (sent, arrived) = (before.asked(), behind.asked());
    assert_eq!(
        sent.iter().map(Asked::comparable).collect::<Vec<_>>(),
        arrived.iter().map(Asked::comparable).collect::<Vec<_>>()
    );
    let mut explained = Vec::new();
    for _ in &sent {
        let summary = place.summary().await;
        assert_eq!(summary.outcome, Outcome::Answered);
        explained.extend(summary.why);
    }
    let logs = recorded(&*place.store);
    let exchanges: Vec<_> = logs.iter().flat_map(|(_, exchanges)| exchanges).collect();
    assert_eq!(logs.len(), 1, "one session");
    let bodies: Vec<&[u8]> = exchanges.iter().map(|exchange| &*exchange.body).collect();
    let posted: Vec<&[u8]> = sent
        .iter()
        .filter(|asked| asked.is_post())
        .map(|asked| &*asked.body)
        .collect();
    assert_eq!(bodies, posted, "the log holds each request as it was sent");
    assert_eq!(bodies.len(), TURNS * 2);
    assert!(
        exchanges
            .iter()
            .all(|exchange| exchange.ended.as_ref().is_some_and(|ended| ended.usage.is_some()))
    );
    assert_eq!(explained.len(), bodies.len());
    for (at, why) in explained.iter().enumerate() {
        let expected = if at == 0 { Verdict::Cold } else { Verdict::Hit };
        assert_eq!(why.verdict, expected, "request {at}: {why:#?}");
    }
    let reader = RequestReader::new(Typing::built_in().unwrap());
    let requests: Vec<WireRequest> = exchanges
        .iter()
        .map(|exchange| {
            reader
                .read(exchange.started.format.parse().unwrap(), &exchange.body)
                .unwrap()
        })
        .collect();
    let pieces = requests
        .iter()
        .flat_map(WireRequest::segments)
        .flat_map(|segment| segment.pieces.iter());
    let keys = pieces.map(bindery_cache::typing::Piece::key).collect();
    Run { requests, keys }
}

impl Run {
    /// Everything that was said in the user's name is what the user said.
    fn check_prompts(&self, allowed: &[&str]) {
        for request in &self.requests {
            for segment in request
                .segments()
                .iter()
                .filter(|segment| segment.form == Form::Text)
            {
                let text = request.text(segment);
                for piece in segment
                    .pieces
                    .iter()
                    .filter(|piece| piece.kind == Kind::UserPrompt)
                {
                    let said = text.get(piece.range.clone()).unwrap().trim();
                    let known = (1..=TURNS).any(|turn| said == prompt(turn)) || allowed.contains(&said);
                    assert!(
                        known,
                        "typed as the user's words: {} bytes in {:?}",
                        said.len(),
                        segment.range
                    );
                }
            }
        }
    }

    fn check_keys(&self, expected: &[String]) {
        let missing: Vec<&String> = expected.iter().filter(|key| !self.keys.contains(*key)).collect();
        assert!(
            missing.is_empty(),
            "not typed: {missing:#?}; there are {:#?}",
            self.keys
        );
    }
}

fn read_call(path: &Path) -> String {
    format!("version = 1\n[[call]]\ntool = \"Read\"\ninput = {{ file_path = {path:?} }}\n")
}

fn claude_keys(tree: &Tree) -> Vec<String> {
    let mut keys: Vec<String> = [
        "billing-header",
        "identity",
        "system",
        "environment",
        "git-status",
        "date",
        "agents",
        "skills",
        "hook:SessionStart:startup",
        "hook:UserPromptSubmit",
        "tool:Bash",
        "tool:Read",
        "tool-call:Read",
        "tool-result",
        "user-prompt",
        "assistant-text",
        "instructions-heading",
    ]
    .map(str::to_owned)
    .to_vec();
    for file in [
        "home/.claude/CLAUDE.md",
        "p/CLAUDE.md",
        "p/more.md",
        "p/.claude/rules/r.md",
        "p/CLAUDE.local.md",
        "p/sub/CLAUDE.md",
    ] {
        keys.push(format!("instructions:{}", tree.path(file).display()));
    }
    keys
}

#[tokio::test]
#[ignore = "needs the clients: cargo xtask clients"]
async fn claude_code_goes_through() {
    for model in ["claude-sonnet-4-6", "claude-opus-4-8"] {
        let tree = Tree::lay();
        let run = run(&read_call(&tree.path("p/sub/a.txt")), |url, turn| {
            tree.claude(url, model, turn)
        })
        .await;
        run.check_keys(&claude_keys(&tree));
        run.check_prompts(&[]);
    }
}

#[tokio::test]
#[ignore = "needs the clients: cargo xtask clients"]
async fn codex_goes_through() {
    for model in ["gpt-5.5", "gpt-6.2-sol"] {
        let tree = Tree::lay();
        // Models from GPT-6 on are given one tool, which takes a program.
        let calls = "version = 1\n[[call]]\ntool = \"exec_command\"\ninput = { cmd = \"ls\" }\n\
                     [[call]]\ntool = \"exec\"\ntext = \"text(await tools.exec_command({ cmd: 'ls' }));\"\n";
        let tool = if model == "gpt-5.5" {
            "exec_command"
        } else {
            "exec"
        };
        let run = run(calls, |url, turn| tree.codex(url, model, turn)).await;
        let mut keys: Vec<String> = [
            "skills",
            "permissions",
            "environment",
            "date",
            "tool-result",
            "user-prompt",
            "assistant-text",
        ]
        .map(str::to_owned)
        .to_vec();
        keys.push(format!("instructions:{}", tree.path("p").display()));
        keys.push(format!("tool-call:{tool}"));
        run.check_keys(&keys);
        run.check_prompts(&[]);
    }
}
