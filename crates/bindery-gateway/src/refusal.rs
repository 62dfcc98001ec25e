//! Answers of the gateway's own: never the provider's, and they say so.

use bindery_cache::Format;
use hyper::header::{CONTENT_TYPE, HeaderValue, UPGRADE};
use hyper::{Response, StatusCode};
use serde_json::json;

use crate::body::{Body, whole};
use crate::operation::Operation;

/// What every answer of the gateway's own begins with.
const LABEL: &str = "bindery gateway: ";

/// A request that is not passed on, or that did not come through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    status: StatusCode,
    message: String,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The response, in the shape of errors that the asked protocol has.
    pub(crate) fn response(&self, asked: Option<Operation>) -> Response<Body> {
        let message = format!("{LABEL}{}", self.message);
        let kind = if self.status.is_server_error() {
            "api_error"
        } else {
            "invalid_request_error"
        };
        let body = match asked.map(Operation::format) {
            Some(Format::Anthropic) => json!({"type": "error", "error": {"type": kind, "message": message}}),
            _ => json!({"error": {"message": message, "type": kind, "param": null, "code": null}}),
        };
        let mut response = Response::new(whole(body.to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.status == StatusCode::UPGRADE_REQUIRED {
            headers.insert(UPGRADE, HeaderValue::from_static("HTTP/1.1"));
        }
        response
    }
}
