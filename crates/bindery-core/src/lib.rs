//! The pure core of a context engine: fragments, registry, scopes, assembly, rendering and views. No IO.
//!
//! Start at [`Scope`] to register, [`Session`] to assemble, [`SystemPrompt`] to read the result.
//!
//! ```
//! use bindery_core::{
//!     AssembleOptions, Block, Body, Cadence, Context, Delivery, Evaluation, Group, Kind, Scope, Section, Session,
//!     Source, Text, Tool, ToolSet, Trust,
//! };
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Register: one layer for everybody, one for this agent. A registration lives as long as its guard.
//! let global = Scope::global();
//! let agent = global.child("agent");
//! let _guards = [
//!     global.section(Section::new("identity", "You are {{name}}, a careful programmer."))?,
//!     global.section(Section::new("tone", "Be brief.").order(10))?,
//!     // Text that differs between sessions stands behind the cache boundary.
//!     agent.section(
//!         Section::new("workspace", Body::compute(|_: &Evaluation| Ok("You work in /srv/app.".to_owned())))
//!             .group(Group::Dynamic)
//!             .cadence(Cadence::Submission),
//!     )?,
//!     global.variable("name", Text::from("Folio"))?,
//!     // Facts about the world travel as messages, or as lines behind the prompt.
//!     agent.context(Context::new("git", "On branch main, clean."))?,
//!     agent.context(Context::new("date", "2025-06-01").delivery(Delivery::Tail))?,
//!     // Foreign text keeps its source and its trust: it is quoted to the model, and never commands.
//!     agent.context(Context::new("AGENTS.md", "Use tabs.").message(Kind::Instructions).from_source(
//!         Source::File { path: "AGENTS.md".into(), lines: None },
//!         Trust::Project,
//!     ))?,
//!     agent.tools(ToolSet {
//!         visible: vec![Tool::new("read", "Reads a file.", &json!({"type": "object"}))],
//!         hidden: Vec::new(),
//!     }),
//! ];
//!
//! // Assemble and render. Providers may be async; any runtime drives them.
//! let mut session = Session::new(agent);
//! session.begin_submission();
//! let rendered = block_on(session.render(&AssembleOptions::default()))?;
//!
//! // Three views of one value.
//! let system = &rendered.system;
//! assert_eq!(
//!     system.cacheable_prefix().as_str(),
//!     "You are Folio, a careful programmer.\n\nBe brief."
//! );
//! assert_eq!(
//!     system.full_text(),
//!     format!("{}\n\nYou work in /srv/app.\n\ndate: 2025-06-01", system.cacheable_prefix())
//! );
//! assert!(matches!(system.blocks()[..], [Block::Text { .. }, Block::Boundary, Block::Text { .. }]));
//!
//! // What travels beside the prompt: tools in order, the snapshot, messages of their own.
//! assert_eq!(rendered.assembly.tools[0].name(), "read");
//! assert!(rendered.context.snapshot.is_some());
//! assert_eq!(rendered.context.messages[0].trust, Trust::Project);
//! # Ok(())
//! # }
//! # fn block_on<F: Future>(future: F) -> F::Output {
//! #     let mut waking = std::task::Context::from_waker(std::task::Waker::noop());
//! #     let mut future = std::pin::pin!(future);
//! #     loop {
//! #         if let std::task::Poll::Ready(out) = future.as_mut().poll(&mut waking) {
//! #             return out;
//! #         }
//! #     }
//! # }
//! ```

pub mod assembly;
pub mod budget;
pub mod canonical;
pub mod compaction;
mod conversation;
mod difference;
pub mod digest;
#[cfg(test)]
mod fixtures;
mod fragment;
pub mod history;
pub mod ledger;
pub mod log;
pub mod marker;
mod media;
mod message;
mod mode;
mod prompt_sources;
pub mod registry;
mod render;
mod runtime_context;
mod session;
mod system_prompt;
pub mod telemetry;
mod template;
mod text;
mod tokens;
mod tool_order;
mod usage;
pub mod variant;
mod vocabulary;

pub use assembly::{AssembleError, AssembleOptions, Assembly};
pub use conversation::conversation;
pub use difference::{Change, Difference, differences};
pub use fragment::{Fragment, Kind};
pub use media::{Media, MediaSource};
pub use message::{Message, Part, Role, said};
pub use mode::{Mode, Modes};
pub use prompt_sources::{AgentMode, CustomMode, PromptSources, PromptText};
pub use registry::{
    Body, BoxFuture, Context, Delivery, Evaluation, Interpolation, Outside, ProviderError, RegisterError,
    Registration, Scope, Section, SourceVersion, TextProvider, Tool, ToolProvider, ToolSet, VariableProvider,
};
pub use render::RenderCache;
pub use runtime_context::{RuntimeContext, Snapshot};
pub use session::{Rendered, Session, SessionError};
pub use system_prompt::{Block, BlockScope, SEPARATOR, SystemPrompt};
pub use template::{Place, RenderError, RenderProblem, references};
pub use text::{ContentHash, ContentHasher, NotAHash, Text};
pub use tokens::{CountTokens, TokenCount};
pub use tool_order::{ToolOrder, ToolOrderError, UNLISTED};
pub use usage::{Counting, ReportedUsage, Usage, UsageContradiction};
pub use vocabulary::{Authority, Cadence, Group, Lane, Source, Trust};
