//! The next request as one value, and as rows that people and machines read.

use std::sync::Arc;

use bindery_core::{
    Authority, ContentHash, CountTokens, Fragment, Group, Kind, Lane, Message, Part, Rendered, Source, Text,
    TokenCount, Tool, Trust, conversation,
};
use bindery_wire::{Encoded, Params, Provider, Request, WireError};
use serde::Serialize;

/// A request that could be sent as it is.
#[derive(Debug, Clone)]
pub struct NextRequest {
    /// Whose format it is in.
    pub provider: Provider,
    /// How it is to be answered.
    pub params: Params,
    /// What was assembled and rendered.
    pub rendered: Rendered,
    /// The messages, context included.
    pub messages: Vec<Message>,
    /// The body, its spans and notes.
    pub encoded: Encoded,
}

/// Where a row stands in the request, in the order of the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Tool schemas.
    Tools,
    /// The system prompt before the boundary.
    Static,
    /// The system prompt after the boundary.
    Dynamic,
    /// Lines after the system prompt.
    Tail,
    /// Messages.
    Messages,
}

/// Who can read a fragment from a cache when the next request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reuse {
    /// Every session with this composition.
    Shared,
    /// This session.
    Session,
    /// Nobody: it is gone or different in the next request.
    None,
}

/// A fragment of a request with its provenance and cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Where it stands.
    pub layer: Layer,
    /// Its key.
    pub key: Arc<str>,
    /// What it is.
    pub kind: Kind,
    /// How it travels.
    pub lane: Lane,
    /// Its group.
    pub group: Group,
    /// On whose authority it speaks.
    pub authority: Authority,
    /// How far it is trusted.
    pub trust: Trust,
    /// Where it came from.
    pub source: Source,
    /// The operator's grant, if its trust needed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<Source>,
    /// Bytes of its text.
    pub bytes: usize,
    /// Tokens of its text.
    pub tokens: TokenCount,
    /// Hash of its text.
    pub hash: ContentHash,
    /// Who can reuse it.
    pub reuse: Reuse,
}

impl NextRequest {
    /// Encodes what was rendered, with `history` after the context.
    pub fn new(
        provider: Provider,
        params: Params,
        rendered: Rendered,
        history: &[Message],
    ) -> Result<Self, WireError> {
        let messages = conversation(&rendered.context, history);
        let request = Request {
            system: &rendered.system,
            tools: &rendered.assembly.tools,
            messages: &messages,
            params: &params,
        };
        let encoded = provider.encode(&request)?;
        Ok(Self {
            provider,
            params,
            rendered,
            messages,
            encoded,
        })
    }

    /// One row a fragment, in the order of the prefix.
    pub fn rows(&self, counter: &dyn CountTokens) -> Vec<Row> {
        let system = &self.rendered.system;
        let mut rows: Vec<Row> = self
            .rendered
            .assembly
            .tools
            .iter()
            .map(|tool| tool_row(tool, counter))
            .collect();
        let mut add = |layer, reuse, fragments: &[Fragment]| {
            rows.extend(
                fragments
                    .iter()
                    .map(|fragment| fragment_row(layer, reuse, fragment, counter)),
            );
        };
        add(Layer::Static, Reuse::Shared, system.static_fragments());
        add(Layer::Dynamic, Reuse::Session, system.dynamic_fragments());
        add(Layer::Tail, Reuse::Session, system.tail());
        for part in self.messages.iter().flat_map(|message| &message.parts) {
            for fragment in part.fragments() {
                let reuse = if fragment.kind == Kind::Reminder {
                    Reuse::None
                } else {
                    Reuse::Session
                };
                let row = fragment_row(Layer::Messages, reuse, fragment, counter);
                // An image takes up what its pixels come to, whatever its description says.
                let tokens = match part {
                    Part::Media { media, .. } => media.tokens(),
                    _ => row.tokens,
                };
                rows.push(Row { tokens, ..row });
            }
        }
        rows
    }
}

fn fragment_row(layer: Layer, reuse: Reuse, fragment: &Fragment, counter: &dyn CountTokens) -> Row {
    Row {
        layer,
        key: fragment.key.clone(),
        kind: fragment.kind,
        lane: fragment.lane,
        group: fragment.group,
        authority: fragment.authority,
        trust: fragment.trust,
        source: fragment.source.clone(),
        grant: fragment.grant.clone(),
        bytes: fragment.text.len(),
        tokens: counter.count(&fragment.text),
        hash: fragment.text.hash(),
        reuse,
    }
}

fn tool_row(tool: &Tool, counter: &dyn CountTokens) -> Row {
    let text = Text::from(format!(
        "{}\n{}\n{}",
        tool.name(),
        tool.description(),
        tool.parameters().get()
    ));
    Row {
        layer: Layer::Tools,
        key: tool.fragment_key().clone(),
        kind: Kind::ToolSchema,
        lane: Lane::Tools,
        group: Group::Static,
        authority: Authority::System,
        trust: tool.trust(),
        source: tool.source().clone(),
        grant: None,
        bytes: text.len(),
        tokens: counter.count(&text),
        hash: text.hash(),
        reuse: Reuse::Shared,
    }
}
