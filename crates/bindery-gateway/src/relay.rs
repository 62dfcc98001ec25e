//! One request: let in, watched, passed on, answered.
//!
//! A policy that rewrites requests belongs where the client's body is wrapped: it would take the whole body there
//! and give another one. Nothing does so now; what goes upstream is what came.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};

use crate::body::{Body, Seen};
use crate::copy::Budget;
use crate::door::Door;
use crate::gateway::Clock;
use crate::headers;
use crate::operation::Operation;
use crate::recorder::Inbox;
use crate::refusal::Refusal;
use crate::upstream::{Upstream, UpstreamError};
use crate::watch::{Asked, Side, Watch};

/// Which upstream answers what.
#[derive(Clone)]
pub struct Routes {
    default: Arc<dyn Upstream>,
    anthropic: Option<Arc<dyn Upstream>>,
}

impl Routes {
    /// Everything goes to one upstream.
    pub fn to(upstream: impl Upstream) -> Self {
        Self {
            default: Arc::new(upstream),
            anthropic: None,
        }
    }

    /// What speaks Anthropic's protocol goes to another one.
    #[must_use]
    pub fn anthropic(mut self, upstream: impl Upstream) -> Self {
        self.anthropic = Some(Arc::new(upstream));
        self
    }

    /// The upstreams' routes, for people.
    pub fn shown(&self) -> Vec<Arc<str>> {
        let routes = std::iter::once(&self.default).chain(&self.anthropic);
        routes.map(|upstream| upstream.route().clone()).collect()
    }

    /// The same for another thread.
    pub(crate) fn apart(&self) -> Self {
        let apart = |upstream: &Arc<dyn Upstream>| upstream.apart().unwrap_or_else(|| upstream.clone());
        Self {
            default: apart(&self.default),
            anthropic: self.anthropic.as_ref().map(apart),
        }
    }

    fn of<B>(&self, request: &Request<B>) -> &Arc<dyn Upstream> {
        // Every SDK of Anthropic's sends its version, with other paths as well.
        let speaks_anthropic = request.headers().contains_key("anthropic-version");
        match &self.anthropic {
            Some(anthropic) if speaks_anthropic => anthropic,
            _ => &self.default,
        }
    }
}

/// What all requests of a thread share.
#[derive(Clone)]
pub(crate) struct Relay {
    pub(crate) door: Door,
    pub(crate) routes: Routes,
    pub(crate) inbox: Inbox,
    pub(crate) budget: Arc<Budget>,
    pub(crate) clock: Clock,
    pub(crate) stopping: Arc<AtomicBool>,
    pub(crate) count: Arc<AtomicU64>,
}

impl Relay {
    /// Answers a request. What cannot be passed on is answered, too.
    pub(crate) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Infallible> {
        let operation = Operation::of(request.method(), request.uri().path());
        let upstream = self.routes.of(&request).clone();
        let watch = self.watch(&request, operation, &*upstream);
        if let Some(refusal) = self.door.check(&request) {
            watch.refused(&refusal);
            return Ok(refusal.response(operation));
        }
        let has_body = *request.method() != Method::HEAD;
        let (parts, body) = request.into_parts();
        let body = Seen::body(body, Side::Request, watch.clone());
        match upstream.send(Request::from_parts(parts, body)).await {
            Ok(response) => {
                if !has_body {
                    watch.end(Side::Response);
                }
                Ok(pass_back(response, watch))
            }
            Err(error) => {
                watch.failed(error.to_string());
                Ok(bad_gateway(&error).response(operation))
            }
        }
    }

    fn watch(
        &self,
        request: &Request<Incoming>,
        operation: Option<Operation>,
        upstream: &dyn Upstream,
    ) -> Arc<Watch> {
        let uri = request.uri();
        let path = uri
            .path_and_query()
            .map_or_else(|| uri.path(), |path| path.as_str());
        let asked = Asked {
            number: self.count.fetch_add(1, Ordering::Relaxed) + 1,
            at_ms: (self.clock)(),
            method: request.method().to_string(),
            path: path.to_owned(),
            headers: request.headers().clone(),
            operation,
            route: upstream.route().clone(),
            simulated: upstream.is_simulated(),
        };
        Watch::new(
            asked,
            self.inbox.clone(),
            self.clock.clone(),
            &self.budget,
            self.stopping.clone(),
        )
    }
}

fn pass_back(response: Response<Body>, watch: Arc<Watch>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    watch.began(parts.status, parts.headers.clone());
    parts.headers = headers::to_client(&parts.headers);
    Response::from_parts(parts, Seen::body(body, Side::Response, watch))
}

fn bad_gateway(error: &UpstreamError) -> Refusal {
    Refusal::new(StatusCode::BAD_GATEWAY, error.to_string())
}
