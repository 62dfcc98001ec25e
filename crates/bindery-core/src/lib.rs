//! The pure core of a context engine: fragments, registry, scopes, assembly, rendering and views. No IO.
//!
//! Start at [`Scope`] to register, [`Session`] to assemble, [`SystemPrompt`] to read the result.

pub mod assembly;
pub mod canonical;
mod conversation;
mod difference;
mod fragment;
pub mod log;
pub mod marker;
mod message;
mod mode;
mod prompt_sources;
pub mod registry;
mod render;
mod runtime_context;
mod session;
mod system_prompt;
mod template;
mod text;
mod tool_order;
mod vocabulary;

pub use assembly::{AssembleError, AssembleOptions, Assembly};
pub use conversation::conversation;
pub use difference::{Change, Difference, differences};
pub use fragment::{Fragment, Kind};
pub use message::{Message, Part, Role, said};
pub use mode::{Mode, Modes};
pub use prompt_sources::{AgentMode, CustomMode, PromptSources, PromptText};
pub use registry::{
    Body, BoxFuture, Context, Delivery, Evaluation, Interpolation, ProviderError, RegisterError,
    Registration, Scope, Section, SourceVersion, TextProvider, Tool, ToolProvider, ToolSet, VariableProvider,
};
pub use render::RenderCache;
pub use runtime_context::{RuntimeContext, Snapshot};
pub use session::{Rendered, Session, SessionError};
pub use system_prompt::{Block, BlockScope, SEPARATOR, SystemPrompt};
pub use template::{Place, RenderError, RenderProblem, references};
pub use text::{ContentHash, NotAHash, Text};
pub use tool_order::{ToolOrder, ToolOrderError, UNLISTED};
pub use vocabulary::{Authority, Cadence, Group, Lane, Source, Trust};
