//! Providers over HTTP.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use bindery_wire::{
    Failure, FailureKind, Interrupted, Provider, Reply, ReplyDecoder, ReplyEvent, decode_body,
};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Request as HttpRequest, Response, Url, redirect};
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::time::{Instant, timeout_at};

use crate::{BoxFuture, Endpoint, EventSource, Exchange, Model, Outgoing, Secret};

/// How long the end of a body may take to follow the end of the reply.
const CLOSING: Duration = Duration::from_millis(100);
/// What Claude Code 2.1.197 sends with an effort; models from Opus 4.8 on need it no more and take it.
const EFFORT_BETA: &str = "effort-2025-11-24";
/// The most of an error's body that is read.
const LONGEST_ERROR: usize = 64 * 1024;
/// The most of a reply that was not streamed.
const LONGEST_BODY: usize = 64 * 1024 * 1024;

/// A provider at an endpoint. Cheap to clone: clones share connections.
#[derive(Debug, Clone)]
pub struct HttpModel {
    provider: Provider,
    client: Client,
    endpoint: Endpoint,
    key: Option<Secret>,
}

impl HttpModel {
    /// A provider at an endpoint, with the key to use there; servers on one's own machine need none.
    ///
    /// Fails if the system offers no way to make connections, for instance no certificates.
    pub fn new(provider: Provider, endpoint: Endpoint, key: Option<Secret>) -> Result<Self, Failure> {
        let unreachable = |message: String| Failure::new(FailureKind::Unreachable, message);
        let client = Client::builder()
            .tls_backend_preconfigured(tls().map_err(|error| unreachable(error.to_string()))?)
            .connect_timeout(endpoint.timeouts.connect)
            // A redirect could carry the key elsewhere, and a POST would not survive it.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("bindery/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| unreachable(chain(error)))?;
        Ok(Self {
            provider,
            client,
            endpoint,
            key,
        })
    }

    /// The endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Asks the provider how many input tokens a request's body has. Nothing is generated.
    pub async fn count(&self, body: &[u8]) -> Result<u64, Failure> {
        let no_endpoint = || {
            let message = format!("{} has no endpoint that counts tokens", self.provider);
            Failure::new(FailureKind::InvalidRequest, message)
        };
        let asked = self.provider.count_body(body).ok_or_else(no_endpoint)?;
        let url = self.endpoint.count(self.provider).ok_or_else(no_endpoint)?;
        let request = self.post(url, "application/json", asked)?;
        let clock = Clock::start(&self.endpoint);
        let response = clock.run(self.client.execute(request)).await?;
        let response = response.map_err(|error| self.failure(error))?;
        let mut arriving = Arriving {
            model: self.clone(),
            response,
            clock,
        };
        if !arriving.response.status().is_success() {
            return Err(arriving.refusal().await);
        }
        let answer = arriving.body(LONGEST_ERROR).await?;
        self.provider
            .counted(&answer)
            .ok_or_else(|| Failure::new(FailureKind::Malformed, "the answer holds no count of tokens"))
    }

    fn request(&self, outgoing: Outgoing<'_>) -> Result<HttpRequest, Failure> {
        let accept = if outgoing.request.params.stream {
            "text/event-stream"
        } else {
            "application/json"
        };
        let url = self.endpoint.operation(self.provider);
        let mut request = self.post(url, accept, outgoing.encoded.body.clone())?;
        if self.provider == Provider::Anthropic && outgoing.request.params.effort.is_some() {
            let beta = HeaderValue::from_static(EFFORT_BETA);
            request.headers_mut().append("anthropic-beta", beta);
        }
        Ok(request)
    }

    fn post(&self, url: Url, accept: &'static str, body: Vec<u8>) -> Result<HttpRequest, Failure> {
        let mut headers = self.endpoint.headers(self.provider);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        if let Some(key) = &self.key {
            let (name, value) = match self.provider {
                Provider::Anthropic => ("x-api-key".parse().ok(), key.reveal().to_owned()),
                _ => (Some(AUTHORIZATION), format!("Bearer {}", key.reveal())),
            };
            let value = HeaderValue::from_str(&value).ok().zip(name);
            let Some((mut value, name)) = value else {
                let message = "the key has characters that no header may have; was it copied whole?";
                return Err(Failure::new(FailureKind::Auth, message));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        self.client
            .post(url)
            .headers(headers)
            .body(body)
            .build()
            .map_err(|error| self.failure(error))
    }

    /// What went wrong on the way. The address is left out: it stands in the configuration, and may
    /// have a token in its query.
    fn failure(&self, error: reqwest::Error) -> Failure {
        let kind = if error.is_timeout() {
            FailureKind::TimedOut
        } else if error.is_connect() {
            FailureKind::Unreachable
        } else if error.is_builder() {
            FailureKind::InvalidRequest
        } else {
            FailureKind::Disconnected
        };
        self.redacted(Failure::new(kind, chain(error)))
    }

    fn redacted(&self, mut failure: Failure) -> Failure {
        if let Some(key) = &self.key {
            failure.message = key.redact(&failure.message);
        }
        failure
    }

    fn redacted_events(&self, mut events: Vec<ReplyEvent>) -> Vec<ReplyEvent> {
        if let Some(ReplyEvent::Failed(failure)) = events.last_mut() {
            *failure = self.redacted(failure.clone());
        }
        events
    }

    fn redacted_end(&self, end: Result<Reply, Interrupted>) -> Result<Reply, Interrupted> {
        end.map_err(|mut interrupted| {
            interrupted.failure = self.redacted(interrupted.failure);
            interrupted
        })
    }
}

impl Model for HttpModel {
    fn provider(&self) -> Provider {
        self.provider
    }

    fn send<'a>(&'a self, outgoing: Outgoing<'a>) -> BoxFuture<'a, Result<Exchange, Failure>> {
        Box::pin(async move {
            let request = self.request(outgoing)?;
            let clock = Clock::start(&self.endpoint);
            let response = clock.run(self.client.execute(request)).await?;
            let response = response.map_err(|error| self.failure(error))?;
            let mut arriving = Arriving {
                model: self.clone(),
                response,
                clock,
            };
            if !arriving.response.status().is_success() {
                return Err(arriving.refusal().await);
            }
            if arriving.is_stream() {
                let decoder = ReplyDecoder::new(self.provider);
                return Ok(Exchange::new(Streaming { arriving, decoder }));
            }
            let body = arriving.body(LONGEST_BODY).await?;
            let (events, reply) = decode_body(self.provider, &body);
            let events = Some(self.redacted_events(events));
            let reply = self.redacted_end(reply);
            Ok(Exchange::new(Whole { events, reply }))
        })
    }
}

/// The limits of time of one exchange.
struct Clock {
    idle: Duration,
    total: Duration,
    end: Instant,
}

impl Clock {
    fn start(endpoint: &Endpoint) -> Self {
        let timeouts = endpoint.timeouts;
        Self {
            idle: timeouts.idle,
            total: timeouts.total,
            end: after(timeouts.total),
        }
    }

    /// Waits for something until the provider was silent for too long, or the reply took too long.
    async fn run<T>(&self, what: impl Future<Output = T>) -> Result<T, Failure> {
        let silent = after(self.idle);
        let (until, limit) = if silent < self.end {
            (silent, format!("nothing came for {:?}", self.idle))
        } else {
            (self.end, format!("the reply took longer than {:?}", self.total))
        };
        timeout_at(until, what)
            .await
            .map_err(|_| Failure::new(FailureKind::TimedOut, limit))
    }
}

/// The moment so long from now; for a limit that no clock reaches, one a lifetime away.
fn after(limit: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(limit)
        .unwrap_or(now + Duration::from_hours(24 * 365 * 30))
}

/// A response whose body is arriving.
struct Arriving {
    model: HttpModel,
    response: Response,
    clock: Clock,
}

impl Arriving {
    fn is_stream(&self) -> bool {
        let content_type = self.response.headers().get(CONTENT_TYPE);
        content_type.is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"))
    }

    async fn chunk(&mut self) -> Result<Option<bytes::Bytes>, Failure> {
        let chunk = self.clock.run(self.response.chunk()).await?;
        chunk.map_err(|error| self.model.failure(error))
    }

    async fn body(&mut self, most: usize) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            body.extend_from_slice(&chunk);
            if body.len() > most {
                let message = format!("the body is longer than {most} bytes");
                return Err(Failure::new(FailureKind::Malformed, message));
            }
        }
        Ok(body)
    }

    /// Reads the end of the body, which is on its way when the reply is over, so that the connection can
    /// be used again. A server that leaves it open is not waited for.
    async fn close(&mut self) {
        let rest = async { while let Ok(Some(_)) = self.response.chunk().await {} };
        let _left_open = tokio::time::timeout(CLOSING, rest).await;
    }

    /// The failure that a response with an error status is. A body that breaks off changes nothing
    /// about the status, so whatever came of it is used.
    async fn refusal(mut self) -> Failure {
        let status = self.response.status().as_u16();
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = self.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > LONGEST_ERROR {
                break;
            }
        }
        let headers: Vec<(&str, &str)> = self
            .response
            .headers()
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
            .collect();
        self.model
            .redacted(Failure::from_response(status, &headers, &body))
    }
}

/// A streamed reply.
struct Streaming {
    arriving: Arriving,
    decoder: ReplyDecoder,
}

impl EventSource for Streaming {
    fn more(&mut self) -> BoxFuture<'_, Option<Vec<ReplyEvent>>> {
        Box::pin(async move {
            if self.decoder.is_over() {
                self.arriving.close().await;
                return None;
            }
            let events = match self.arriving.chunk().await {
                Ok(Some(bytes)) => self.decoder.push(&bytes),
                Ok(None) => return None,
                Err(failure) => self.decoder.fail(failure),
            };
            Some(self.arriving.model.redacted_events(events))
        })
    }

    fn finish(self: Box<Self>) -> Result<Reply, Interrupted> {
        self.arriving.model.redacted_end(self.decoder.finish())
    }
}

/// A reply that came whole.
struct Whole {
    events: Option<Vec<ReplyEvent>>,
    reply: Result<Reply, Interrupted>,
}

impl EventSource for Whole {
    fn more(&mut self) -> BoxFuture<'_, Option<Vec<ReplyEvent>>> {
        Box::pin(async move { self.events.take() })
    }

    fn finish(self: Box<Self>) -> Result<Reply, Interrupted> {
        self.reply
    }
}

/// Trust as the system has it, cryptography of this client's own: `rustls` would else ask for a choice
/// that holds for the whole process.
fn tls() -> Result<ClientConfig, rustls::Error> {
    let cryptography = Arc::new(rustls::crypto::ring::default_provider());
    Ok(ClientConfig::builder_with_provider(cryptography)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth())
}

/// An error with its causes, outermost first, without the address.
fn chain(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut causes = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(inner) = cause {
        causes.push(inner.to_string());
        cause = inner.source();
    }
    causes.dedup();
    causes.join(": ")
}

#[cfg(test)]
mod tests;
