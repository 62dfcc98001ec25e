//! The command line.

use clap::{Parser, Subcommand};

use crate::commands::agents::AgentsArgs;
use crate::commands::app_server::AppServerArgs;
use crate::commands::assemble::AssembleArgs;
use crate::commands::bench::BenchArgs;
use crate::commands::check::CheckArgs;
use crate::commands::diff::DiffArgs;
use crate::commands::experiment::ExperimentArgs;
use crate::commands::explain::ExplainArgs;
use crate::commands::gateway::GatewayArgs;
use crate::commands::hook::HookArgs;
use crate::commands::import::ImportArgs;
use crate::commands::lock::LockArgs;
use crate::commands::log::LogArgs;
use crate::commands::mcp::McpArgs;
use crate::commands::memory::MemoryArgs;
use crate::commands::models::ModelsArgs;
use crate::commands::plan::PlanArgs;
use crate::commands::policy::PolicyArgs;
use crate::commands::replay::ReplayArgs;
use crate::commands::run::RunArgs;
use crate::commands::scan::ScanArgs;
use crate::commands::simulate::SimulateArgs;
use crate::commands::skills::SkillsArgs;
use crate::commands::why::WhyArgs;
use crate::terminal::Color;

/// The context engine of LLM agents: which bytes the model sees, in which order, on whose authority,
/// from which source, at what price.
#[derive(Debug, Parser)]
#[command(
    name = "bindery",
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 success, 1 a finding, 2 wrong usage, 3 a failure outside (disk, process, network)."
)]
pub(crate) struct Cli {
    /// When to colour output
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the next request here: layers, blocks, text, prefix, body, spans
    Assemble(Box<AssembleArgs>),
    /// Find lost rules, dead links and globs, volatile text, hostile text and more
    Check(CheckArgs),
    /// Find hostile and hidden text in files, folders or standard input
    Scan(Box<ScanArgs>),
    /// Drive an agent session here; simulated where there is no key
    Run(Box<RunArgs>),
    /// Serve sessions to a client in any language: JSON-RPC over standard input and output, or a socket
    AppServer(AppServerArgs),
    /// Turn an edited policy file into settings updates of an app server's sessions
    Policy(PolicyArgs),
    /// Look at sessions: list, show, tail, recover, export, import
    Log(LogArgs),
    /// Rebuild the requests of a session from its log alone
    Replay(ReplayArgs),
    /// What was noted in earlier sessions: list, show, search, add
    Memory(MemoryArgs),
    /// Skills here: which the model is offered, which are shadowed, and why
    Skills(SkillsArgs),
    /// Approve texts of a repository by content hash, and see what changed since
    Lock(LockArgs),
    /// Hooks and gates: what they mean, which run, what nobody looks at; and a hook for other agents
    Hook(HookArgs),
    /// Sub-agents: which can be sent here, and what each would be given
    Agents(AgentsArgs),
    /// MCP servers: which are declared here, which may be started, whether they answer, what they offer
    Mcp(McpArgs),
    /// Show every instruction file of a client here: loaded, cut, shadowed, refused, waiting, and why
    Explain(Box<ExplainArgs>),
    /// Pass requests on, record them, and say for each why the cache read what it read
    Gateway(Box<GatewayArgs>),
    /// Say why a request missed the cache: what changed, where, what it cost, what would have avoided it
    Why(WhyArgs),
    /// Say what the next request, a resume, another model or a compaction will read, write and cost
    Plan(PlanArgs),
    /// Price a recorded trace under a provider's cache rules and other policies
    Simulate(SimulateArgs),
    /// Read transcripts of Claude Code and Codex, or traces, into session logs
    Import(ImportArgs),
    /// Compare two requests, fragment by fragment
    Diff(DiffArgs),
    /// Show prices and windows of models, with their sources; read them from public lists
    Models(ModelsArgs),
    /// Compare what policies keep and cost when a window fills up
    Experiment(ExperimentArgs),
    /// Read a document from standard input: what `--attach` starts, so that none can harm it
    #[command(name = crate::documents::DOCUMENT_TEXT, hide = true)]
    DocumentText {
        /// Its format
        format: String,
    },
    /// Measure speed side by side with a rival, in one run
    Bench(BenchArgs),
}
