//! Requests that are refused: a code of JSON-RPC, words for people, a code for machines.

use bindery_store::StoreError;
use serde_json::{Value, json};

use super::protocol::{ErrorCode, ErrorData};

/// A refused request.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// For people.
    pub message: String,
    /// For machines.
    pub data: ErrorData,
}

impl Refusal {
    /// Refuses.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            data: ErrorData {
                code,
                expected: None,
                actual: None,
                owner: None,
            },
        }
    }

    /// Something outside failed.
    pub fn failed(error: impl std::fmt::Display) -> Self {
        Self::new(ErrorCode::Failed, error.to_string())
    }

    /// A store's error; another writer is named.
    pub fn of_store(error: &StoreError) -> Self {
        let mut refusal = Self::failed(error);
        match error {
            StoreError::Busy { owner, .. } => {
                refusal.data.code = ErrorCode::WriterBusy;
                refusal.data.owner = Some(owner.clone());
            }
            StoreError::NotFound(_) => refusal.data.code = ErrorCode::UnknownThread,
            _ => {}
        }
        refusal
    }

    /// With what was expected and what is there.
    #[must_use]
    pub(super) fn but(mut self, expected: &str, actual: Option<&str>) -> Self {
        self.data.expected = Some(expected.to_owned());
        self.data.actual = actual.map(str::to_owned);
        self
    }

    /// As `error` of a response.
    pub(super) fn to_json(&self) -> Value {
        let code = match self.data.code {
            ErrorCode::UnknownMethod => -32601,
            ErrorCode::InvalidParams => -32602,
            ErrorCode::Failed => -32603,
            ErrorCode::NotInitialized => -32002,
            _ => -32600,
        };
        json!({"code": code, "message": self.message, "data": self.data})
    }
}
