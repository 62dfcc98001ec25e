//! A call of a tool.

use std::fmt::Write as _;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ContentBlock, ResourceContents,
    ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Map, Value};

/// What a tool gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// Its texts, one after the other. What is no text is named.
    pub text: String,
    /// Whether the server says that it failed.
    pub is_error: bool,
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// There is no connection now.
    #[error("the server is not connected: {0}")]
    Away(String),
    /// The connection broke while the tool ran.
    #[error("the connection was lost while it ran: {0}; its effects may have happened")]
    Lost(String),
    /// It took too long.
    #[error("it did not answer within {0:?} and was told to stop")]
    TimedOut(Duration),
    /// The server answered with an error of the protocol.
    #[error("the server refused: {0}")]
    Refused(String),
}

/// Calls a tool. Dropping the future tells the server to stop.
pub(crate) async fn call(
    peer: &Peer<RoleClient>,
    tool: &str,
    input: Map<String, Value>,
    limit: Duration,
) -> Result<Called, CallError> {
    let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(input);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let sent = peer
        .send_cancellable_request(request, PeerRequestOptions::no_options())
        .await;
    let mut running = Running(Some(sent.map_err(|error| failed(&error))?));
    let Some(handle) = running.0.as_mut() else {
        return Err(CallError::Lost("it never ran".to_owned()));
    };
    let answer = tokio::time::timeout(limit, &mut handle.rx).await;
    let Ok(answer) = answer else {
        return Err(CallError::TimedOut(limit));
    };
    // It was answered: there is nothing to stop any more.
    running.0 = None;
    match answer {
        Ok(Ok(ServerResult::CallToolResult(result))) => Ok(Called::from(result)),
        Ok(Ok(_)) => Err(CallError::Refused("it answered something else".to_owned())),
        Ok(Err(error)) => Err(failed(&error)),
        Err(_) => Err(CallError::Lost("the connection was closed".to_owned())),
    }
}

/// A request that is on its way: the server is told if nobody waits for it any more.
struct Running(Option<RequestHandle<RoleClient>>);

impl Drop for Running {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            let told = async move { drop(handle.cancel(Some("nobody waits for it".to_owned())).await) };
            drop(runtime.spawn(told));
        }
    }
}

fn failed(error: &ServiceError) -> CallError {
    match error {
        ServiceError::McpError(said) => CallError::Refused(format!("{} ({})", said.message, said.code.0)),
        other => CallError::Lost(other.to_string()),
    }
}

impl From<CallToolResult> for Called {
    fn from(result: CallToolResult) -> Self {
        let mut text = String::new();
        for block in &result.content {
            if !text.is_empty() {
                text.push('\n');
            }
            add(&mut text, block);
        }
        if let (true, Some(structured)) = (text.is_empty(), &result.structured_content) {
            text = structured.to_string();
        }
        Self {
            text,
            is_error: result.is_error.unwrap_or(false),
        }
    }
}

/// A block as text. Writing to a string cannot fail.
fn add(text: &mut String, block: &ContentBlock) {
    let data = |text: &mut String, what: &str, kind: &str, base64: &str| {
        let bytes = base64.trim_end_matches('=').len() / 4 * 3;
        let _ = write!(
            text,
            "[{what} {kind}, about {bytes} bytes: left out, it is no text]"
        );
    };
    match block {
        ContentBlock::Text(said) => text.push_str(&said.text),
        ContentBlock::Image(image) => data(text, "image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => data(text, "audio", &audio.mime_type, &audio.data),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, text: said, .. } => {
                let _ = write!(text, "[resource {uri}]\n{said}");
            }
            ResourceContents::BlobResourceContents { uri, blob, .. } => data(text, "resource", uri, blob),
            _ => text.push_str("[a resource of a kind that is not known: left out]"),
        },
        ContentBlock::ResourceLink(link) => {
            let _ = write!(text, "[resource {} at {}]", link.name, link.uri);
        }
        _ => text.push_str("[a part of a kind that is not known: left out]"),
    }
}
