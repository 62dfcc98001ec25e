//! Where requests go.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::{HOST, HeaderValue};
use hyper::http::uri::{PathAndQuery, Scheme};
use hyper::{Request, Response, Uri, Version};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;

use crate::body::Body;
use crate::headers;
use crate::watch::chain;

/// How long a connection may take. Answers may take as long as they do.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an unused connection is kept.
const IDLE: Duration = Duration::from_mins(1);

/// A future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Somewhere that requests go.
pub trait Upstream: Send + Sync + 'static {
    /// What caches are kept apart by, and what the log says: scheme, host and base path, never credentials.
    fn route(&self) -> &Arc<str>;

    /// Whether the answers are made up.
    fn is_simulated(&self) -> bool {
        false
    }

    /// The same with connections of its own, for another thread; `None` where one serves all threads.
    fn apart(&self) -> Option<Arc<dyn Upstream>> {
        None
    }

    /// Sends a request, whose target is what the client wrote.
    fn send(&self, request: Request<Body>) -> BoxFuture<'_, Result<Response<Body>, UpstreamError>>;
}

/// Why there is no response, or why there can be none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpstreamError {
    /// Not a URL to send requests to.
    #[error("`{url}` is no base URL: {cause}. Write it as https://HOST or https://HOST/PATH, or `sim`")]
    BaseUrl {
        /// What was given, without credentials.
        url: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// No certificates, or no cryptography.
    #[error("TLS cannot be used here: {0}")]
    Tls(String),
    /// It cannot be reached.
    #[error("{route} cannot be reached: {cause}")]
    Unreachable {
        /// Where.
        route: Arc<str>,
        /// What the system said.
        cause: String,
    },
    /// The connection ended before the response.
    #[error("{route} gave no answer: {cause}")]
    NoAnswer {
        /// Where.
        route: Arc<str>,
        /// What happened.
        cause: String,
    },
}

/// A provider, or another gateway, over HTTP.
pub struct HttpUpstream {
    connector: HttpsConnector<HttpConnector>,
    client: Client<HttpsConnector<HttpConnector>, Body>,
    scheme: Scheme,
    host: HeaderValue,
    authority: hyper::http::uri::Authority,
    /// Without a slash at its end.
    base_path: String,
    route: Arc<str>,
}

impl HttpUpstream {
    /// An upstream at a base URL, as the provider's SDK takes it: with or without its version's path.
    pub fn new(url: &str) -> Result<Self, UpstreamError> {
        let wrong = |cause| UpstreamError::BaseUrl {
            url: shown(url).to_owned(),
            cause,
        };
        let uri: Uri = url.trim().parse().map_err(|_| wrong("it is no URL"))?;
        let scheme = match uri.scheme_str() {
            Some("http") => Scheme::HTTP,
            Some("https") => Scheme::HTTPS,
            _ => return Err(wrong("it has neither the scheme http nor https")),
        };
        let authority = uri.authority().ok_or_else(|| wrong("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong(
                "it holds a user name or password; agents send their own keys",
            ));
        }
        if uri.query().is_some() {
            return Err(wrong("it has a query"));
        }
        let base_path = uri.path().trim_end_matches('/').to_owned();
        let host = HeaderValue::from_str(authority.as_str()).map_err(|_| wrong("its host cannot be sent"))?;
        let connector = connector()?;
        Ok(Self {
            client: client(connector.clone()),
            connector,
            route: format!("{scheme}://{authority}{base_path}").into(),
            host,
            authority: authority.clone(),
            scheme,
            base_path,
        })
    }

    /// The host and port.
    pub fn authority(&self) -> &str {
        self.authority.as_str()
    }

    /// The target upstream. Where base and request both begin with the API's version it stands once: people
    /// write it in either.
    fn target(&self, target: &Uri) -> Option<Uri> {
        let asked = target.path_and_query().map_or("/", PathAndQuery::as_str);
        let version = self.base_path.rsplit('/').next().filter(|last| is_version(last));
        let rest = version
            .and_then(|version| asked.strip_prefix('/')?.strip_prefix(version))
            .filter(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
            .unwrap_or(asked);
        let path: PathAndQuery = if self.base_path.is_empty() {
            target.path_and_query().cloned()?
        } else {
            format!("{}{rest}", self.base_path).parse().ok()?
        };
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(path)
            .build()
            .ok()
    }
}

/// What may be shown of a URL: nothing before the last `@`, and no query.
fn shown(url: &str) -> &str {
    let plain = url.split_once('?').map_or(url, |(plain, _)| plain);
    plain.rsplit_once('@').map_or(plain, |(_, host)| host)
}

/// `v1`, `v4`, …
fn is_version(segment: &str) -> bool {
    segment
        .strip_prefix('v')
        .is_some_and(|rest| rest.bytes().next().is_some_and(|byte| byte.is_ascii_digit()))
}

impl Upstream for HttpUpstream {
    fn route(&self) -> &Arc<str> {
        &self.route
    }

    fn apart(&self) -> Option<Arc<dyn Upstream>> {
        Some(Arc::new(Self {
            connector: self.connector.clone(),
            client: client(self.connector.clone()),
            scheme: self.scheme.clone(),
            host: self.host.clone(),
            authority: self.authority.clone(),
            base_path: self.base_path.clone(),
            route: self.route.clone(),
        }))
    }

    fn send(&self, request: Request<Body>) -> BoxFuture<'_, Result<Response<Body>, UpstreamError>> {
        let (mut parts, body) = request.into_parts();
        parts.headers = headers::to_upstream(&parts.headers, &self.host);
        if !parts.headers.contains_key(HOST) {
            parts.headers.insert(HOST, self.host.clone());
        }
        parts.version = Version::HTTP_11;
        let target = self.target(&parts.uri);
        Box::pin(async move {
            let Some(target) = target else {
                let cause = "the path that was asked for cannot be sent".to_owned();
                let route = self.route.clone();
                return Err(UpstreamError::NoAnswer { route, cause });
            };
            parts.uri = target;
            let response = self.client.request(Request::from_parts(parts, body)).await;
            response
                .map(|response| response.map(boxed))
                .map_err(|error| self.failure(&error))
        })
    }
}

fn boxed(body: hyper::body::Incoming) -> Body {
    use http_body_util::BodyExt as _;
    body.map_err(Into::into).boxed_unsync()
}

impl HttpUpstream {
    fn failure(&self, error: &hyper_util::client::legacy::Error) -> UpstreamError {
        let (route, cause) = (self.route.clone(), chain(error));
        if error.is_connect() {
            UpstreamError::Unreachable { route, cause }
        } else {
            UpstreamError::NoAnswer { route, cause }
        }
    }
}

fn connector() -> Result<HttpsConnector<HttpConnector>, UpstreamError> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT));
    // One version of HTTP on both sides keeps the case of names and each event its own write.
    Ok(HttpsConnectorBuilder::new()
        .with_tls_config(tls().map_err(|error| UpstreamError::Tls(error.to_string()))?)
        .https_or_http()
        .enable_http1()
        .wrap_connector(tcp))
}

/// A client with connections of its own.
fn client(connector: HttpsConnector<HttpConnector>) -> Client<HttpsConnector<HttpConnector>, Body> {
    Client::builder(TokioExecutor::new())
        .http1_preserve_header_case(true)
        .pool_idle_timeout(IDLE)
        .pool_timer(TokioTimer::new())
        .build(connector)
}

/// Trust as the system has it, cryptography of this client's own: `rustls` would else ask for a choice that
/// holds for the whole process.
fn tls() -> Result<ClientConfig, rustls::Error> {
    let cryptography = Arc::new(rustls::crypto::ring::default_provider());
    Ok(ClientConfig::builder_with_provider(cryptography)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_and_request_may_both_name_the_version() {
        let target = |base: &str, asked: &str| {
            let upstream = HttpUpstream::new(base).unwrap();
            upstream.target(&asked.parse().unwrap()).unwrap().to_string()
        };
        assert_eq!(
            target("http://h", "/v1/messages?beta=true"),
            "http://h/v1/messages?beta=true"
        );
        assert_eq!(target("http://h/", "/"), "http://h/");
        assert_eq!(target("http://h/v1", "/v1/responses"), "http://h/v1/responses");
        assert_eq!(target("http://h/v1/", "/responses"), "http://h/v1/responses");
        assert_eq!(
            target("http://h/v1", "/v10/responses"),
            "http://h/v1/v10/responses"
        );
        assert_eq!(target("http://h/api/v1", "/v1?x=/"), "http://h/api/v1?x=/");
        assert_eq!(target("http://h:1/x", "/v1/models"), "http://h:1/x/v1/models");
        assert_eq!(target("http://h/x", "http://other/y?z"), "http://h/x/y?z");
    }

    #[test]
    fn wrong_base_urls_say_what_to_do_and_show_no_secret() {
        let said: Vec<String> = ["ftp://h", "h", "http://me:sk-1@h", "http://h?key=sk-1", ""]
            .map(|url| HttpUpstream::new(url).err().unwrap().to_string())
            .to_vec();
        insta::assert_snapshot!(said.join("\n"), @r"
        `ftp://h` is no base URL: it has neither the scheme http nor https. Write it as https://HOST or https://HOST/PATH, or `sim`
        `h` is no base URL: it has neither the scheme http nor https. Write it as https://HOST or https://HOST/PATH, or `sim`
        `h` is no base URL: it holds a user name or password; agents send their own keys. Write it as https://HOST or https://HOST/PATH, or `sim`
        `http://h` is no base URL: it has a query. Write it as https://HOST or https://HOST/PATH, or `sim`
        `` is no base URL: it is no URL. Write it as https://HOST or https://HOST/PATH, or `sim`
        ");
    }
}
