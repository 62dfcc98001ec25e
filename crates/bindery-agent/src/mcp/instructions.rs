//! What servers want said of themselves: text from outside, in a message; in the system prompt only where the
//! user granted that by name.

use bindery_core::{Body, Cadence};
use bindery_core::{
    BoxFuture, Context, Evaluation, Group, Kind, ProviderError, RegisterError, Registration, Scope, Section,
    Source, Text, TextProvider, Trust,
};

use super::{McpTools, source_name};

/// Instructions stand behind the contexts of the session.
const ORDER: i32 = 900;

/// The instructions of one server.
struct Instructions {
    tools: McpTools,
    server: String,
}

impl TextProvider for Instructions {
    fn text<'a>(&'a self, _: &'a Evaluation) -> BoxFuture<'a, Result<Text, ProviderError>> {
        Box::pin(async move {
            self.tools.settle().await;
            let state = self.tools.0.lock();
            let shown = state.shown.get(&self.server);
            let text = shown.and_then(|shown| shown.instructions.clone());
            Ok(Text::from(text.unwrap_or_default()))
        })
    }
}

impl McpTools {
    /// Registers tools and instructions. `granted` gives the setting that lets a server's instructions stand in
    /// the system prompt, where one does.
    pub fn register(
        &self,
        scope: &Scope,
        granted: impl Fn(&str) -> Option<Source>,
    ) -> Result<Vec<Registration>, RegisterError> {
        let mut kept = vec![scope.tools(self.clone())];
        for server in self.servers() {
            let name = source_name(server);
            let source = Source::Plugin {
                name: name.as_str().into(),
            };
            let body = Body::provider(Instructions {
                tools: self.clone(),
                server: server.to_owned(),
            });
            kept.push(match granted(&name) {
                Some(setting) => scope.section(
                    Section::new(name, body)
                        .group(Group::Dynamic)
                        .order(ORDER)
                        .cadence(Cadence::Submission)
                        .from_source(source, Trust::External)
                        .granted_by(setting)
                        .literal(),
                )?,
                None => scope.context(
                    Context::new(name, body)
                        .message(Kind::McpInstructions)
                        .order(ORDER)
                        .from_source(source, Trust::External),
                )?,
            });
        }
        Ok(kept)
    }
}
