//! Requests for tests.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bindery_core::{
    AssembleOptions, Authority, Kind, Message, Part, Rendered, Role, Scope, Section, Session, Tool, ToolSet,
    Trust, said,
};
use bindery_wire::{CacheMarks, Encoded, Params, Provider, Reply, ReplyPart, Request};
use serde_json::json;

use crate::{Model, Outgoing};

/// Runs a future that never waits.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("this future waits"),
    }
}

/// A conversation with a model.
pub(crate) struct Talk {
    rendered: Rendered,
    pub(crate) messages: Vec<Message>,
    pub(crate) params: Params,
}

impl Talk {
    /// With a system prompt of about this many tokens, tools `list` and `read`, and a prompt.
    pub(crate) fn new(model: &str, system_tokens: usize, prompt: &str) -> Self {
        let scope = Scope::global();
        let tool = |name: &str, argument: &str| {
            Tool::new(
                name,
                "A tool.",
                &json!({"type": "object", "properties": {argument: {"type": "string"}}}),
            )
        };
        let text = "abc ".repeat(system_tokens);
        let _kept = [
            scope.section(Section::new("identity", text.as_str())).unwrap(),
            scope.tools(ToolSet {
                visible: vec![tool("list", "path"), tool("read", "file_path")],
                hidden: vec![],
            }),
        ];
        let rendered = now(Session::new(scope).render(&AssembleOptions::default())).unwrap();
        Self {
            rendered,
            messages: vec![Message::user("message:0.0", prompt)],
            params: Params {
                model: model.to_owned(),
                max_tokens: 100,
                stream: true,
                effort: None,
                tier: None,
                cache_key: None,
                marks: CacheMarks::default(),
            },
        }
    }

    pub(crate) fn request(&self) -> Request<'_> {
        Request {
            system: &self.rendered.system,
            tools: &self.rendered.assembly.tools,
            messages: &self.messages,
            params: &self.params,
        }
    }

    pub(crate) fn encode(&self, provider: Provider) -> Encoded {
        provider.encode(&self.request()).unwrap()
    }

    /// Asks a simulated model and takes its reply into the conversation.
    pub(crate) fn ask(&mut self, model: &impl Model) -> Reply {
        let encoded = self.encode(model.provider());
        let outgoing = Outgoing {
            encoded: &encoded,
            request: self.request(),
        };
        let reply = now(async { model.send(outgoing).await.unwrap().reply().await.unwrap() });
        self.messages
            .push(reply.message(&format!("message:{}", self.messages.len())));
        reply
    }

    /// Answers the calls of a reply.
    pub(crate) fn answer(&mut self, reply: &Reply, tool: impl Fn(&str, &str) -> Result<String, String>) {
        let at = self.messages.len();
        let parts = reply
            .tool_calls()
            .enumerate()
            .filter_map(|(index, part)| match part {
                ReplyPart::ToolCall { id, name, input, .. } => {
                    let result = tool(name, input);
                    let is_error = result.is_err();
                    let text = result.unwrap_or_else(|error| error);
                    let key = format!("message:{at}.{index}");
                    Some(Part::ToolResult {
                        id: id.as_str().into(),
                        content: said(key, Kind::ToolResult, Authority::Tool, Trust::External, text),
                        is_error,
                    })
                }
                _ => None,
            });
        let parts = parts.collect();
        self.messages.push(Message {
            role: Role::User,
            parts,
            is_meta: false,
        });
    }

    pub(crate) fn say(&mut self, prompt: &str) {
        let key = format!("message:{}.0", self.messages.len());
        self.messages.push(Message::user(key, prompt));
    }
}
