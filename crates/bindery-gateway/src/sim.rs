//! A provider that needs no key: it answers every protocol, calls a tool once a turn so that an agent really runs
//! one, and bills by the simulators of prompt caches. What it says is made up and says so.

mod ask;
mod chat;
mod desk;
mod messages;
mod responses;
mod say;
mod schema;

use std::sync::Arc;
use std::sync::mpsc;

use bindery_cache::Format;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::body::{Body, Pieces, whole};
use crate::gateway::Clock;
use crate::operation::Operation;
use crate::refusal::Refusal;
use crate::upstream::{BoxFuture, Upstream, UpstreamError};
pub use desk::SimError;
use desk::{Desk, Question};

/// The calls that are built in.
const CALLS: &str = include_str!("../sim.toml");
/// The longest request that is answered.
const LONGEST: usize = 128 * 1024 * 1024;
/// The models that are listed: one of each family of rules.
const MODELS: [&str; 5] = [
    "claude-opus-5",
    "claude-sonnet-5",
    "gpt-6-sol",
    "gpt-5.5",
    "deepseek-flash",
];

/// The simulated provider.
pub struct SimUpstream {
    desk: mpsc::Sender<Question>,
    clock: Clock,
    route: Arc<str>,
}

/// An answer, before it is a response.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// One JSON value.
    Whole(Value),
    /// The events of a stream, framed.
    Stream(Vec<String>),
    /// A refusal.
    Refused(Refusal),
}

impl SimUpstream {
    /// A provider whose caches are empty.
    pub fn new(clock: Clock) -> Result<Self, SimError> {
        Self::with_calls(clock, CALLS)
    }

    /// One that calls other tools: a table like `sim.toml`. The agent really runs them.
    pub fn with_calls(clock: Clock, calls: &str) -> Result<Self, SimError> {
        Ok(Self {
            desk: Desk::start(calls)?,
            clock,
            route: "sim".into(),
        })
    }

    async fn answer(&self, request: Request<Body>) -> Response<Body> {
        let operation = Operation::of(request.method(), request.uri().path());
        match self.reply(request, operation).await {
            Answer::Whole(value) => response("application/json", whole(value.to_string())),
            Answer::Stream(events) => response("text/event-stream; charset=utf-8", Pieces::body(events)),
            Answer::Refused(refusal) => refusal.response(operation),
        }
    }

    async fn reply(&self, request: Request<Body>, operation: Option<Operation>) -> Answer {
        let at_ms = (self.clock)();
        let Some(operation) = operation else {
            return plain(&request);
        };
        if request.headers().contains_key(CONTENT_ENCODING) {
            let what = "the simulated provider reads no compressed requests; switch the compression off";
            return Answer::Refused(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
        }
        let body = match read(request.into_body()).await {
            Ok(body) => body,
            Err(refusal) => return Answer::Refused(refusal),
        };
        let (reply, answer) = oneshot::channel();
        let question = Question {
            operation,
            body,
            at_ms,
            reply,
        };
        let gone = || {
            Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "the simulated provider has stopped",
            )
        };
        if self.desk.send(question).is_err() {
            return Answer::Refused(gone());
        }
        answer.await.unwrap_or_else(|_| Answer::Refused(gone()))
    }
}

impl Upstream for SimUpstream {
    fn route(&self) -> &Arc<str> {
        &self.route
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn send(&self, request: Request<Body>) -> BoxFuture<'_, Result<Response<Body>, UpstreamError>> {
        Box::pin(async move { Ok(self.answer(request).await) })
    }
}

/// A body, whole.
async fn read(mut body: Body) -> Result<Bytes, Refusal> {
    let mut out = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            let what = format!("the request broke off: {error}");
            Refusal::new(StatusCode::BAD_REQUEST, what)
        })?;
        out.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
        if out.len() > LONGEST {
            let what = format!("the request is longer than {LONGEST} bytes");
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, what));
        }
    }
    Ok(out.into())
}

fn response(content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// What agents ask beside answers: whether somebody is there, and which models.
fn plain(request: &Request<Body>) -> Answer {
    let path = request.uri().path().trim_end_matches('/');
    let looks = matches!(*request.method(), Method::GET | Method::HEAD);
    match path.rsplit('/').next() {
        Some("models") if looks => Answer::Whole(models()),
        Some("") if looks => Answer::Whole(json!({"status": "ok", "simulated": true})),
        _ => {
            let what = format!(
                "the simulated provider has no `{path}`; it answers messages, responses, chat/completions and models"
            );
            Answer::Refused(Refusal::new(StatusCode::NOT_FOUND, what))
        }
    }
}

/// A list that both protocols' readers take.
fn models() -> Value {
    let model = |id: &&str| {
        json!({"id": id, "object": "model", "type": "model", "display_name": id, "owned_by": "simulated",
            "created": 0, "created_at": "1970-01-01T00:00:00Z"})
    };
    let data: Vec<Value> = MODELS.iter().map(model).collect();
    json!({"object": "list", "data": data, "has_more": false, "first_id": MODELS.first(), "last_id": MODELS.last()})
}

/// The name of a format's family of caches, for models that the rules do not know.
fn family(format: Format) -> bindery_cache::Family {
    use bindery_cache::Family;
    match format {
        Format::Anthropic => Family::Anthropic,
        Format::OpenaiResponses | Format::OpenaiChat => Family::OpenaiAutomatic,
        Format::Deepseek => Family::Deepseek,
        Format::Gemini => Family::Gemini,
    }
}
