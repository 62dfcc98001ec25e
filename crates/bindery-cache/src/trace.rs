//! What was recorded of one account's requests.

use std::sync::Arc;

use bindery_core::Usage;

use crate::{Call, Diagnosis, Measured};

/// One request and what is known of its answer.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The request.
    pub request: Measured,
    /// When it was sent, in milliseconds since any moment that all of the trace share.
    pub at_ms: u64,
    /// When the response began.
    pub began_ms: Option<u64>,
    /// What keeps caches apart beside the request: workspace, deployment, base URL.
    pub route: Arc<str>,
    /// The session, where something else than the body names it.
    pub session: Option<Arc<str>>,
    /// What the provider reported.
    pub usage: Option<Usage>,
    /// The response's id.
    pub response_id: Option<Arc<str>>,
    /// What the provider said about the miss.
    pub diagnosis: Option<Diagnosis>,
}

/// Exchanges in the order of time.
pub type Trace = Vec<Exchange>;

impl Exchange {
    /// A request at a time, nothing more being known.
    pub fn new(request: Measured, at_ms: u64) -> Self {
        Self {
            request,
            at_ms,
            began_ms: None,
            route: "".into(),
            session: None,
            usage: None,
            response_id: None,
            diagnosis: None,
        }
    }

    /// The session it belongs to.
    pub fn session(&self) -> Option<&str> {
        self.session
            .as_deref()
            .or_else(|| self.request.request().session())
    }

    /// The request as a simulator takes it.
    pub fn call(&self) -> Call<'_> {
        Call {
            at_ms: self.at_ms,
            began_ms: self.began_ms,
            route: &self.route,
            request: &self.request,
        }
    }
}
