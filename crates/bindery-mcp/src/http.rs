//! Streamable HTTP, with cryptography of this client's own and bounded answers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, redirect};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rustls_platform_verifier::BuilderVerifierExt;

use crate::MOST_MESSAGE;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// A transport to an address.
pub(crate) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<Client>, String> {
    let tls = || {
        let cryptography = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(cryptography);
        Ok::<_, rustls::Error>(
            builder
                .with_safe_default_protocol_versions()?
                .with_platform_verifier()?
                .with_no_client_auth(),
        )
    };
    let client = Client::builder()
        .tls_backend_preconfigured(tls().map_err(|error| error.to_string())?)
        .connect_timeout(CONNECT)
        // A redirect could carry credentials elsewhere.
        .redirect(redirect::Policy::none())
        .user_agent(concat!("bindery/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.without_url().to_string())?;
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(table(headers)?)
        .max_json_response_size(MOST_MESSAGE)
        .max_sse_event_size(MOST_MESSAGE);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// The SDK takes headers in this map; nothing reads its order.
fn table(headers: &BTreeMap<String, String>) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let pair = |(name, value): (&String, &String)| {
        let wrong = || format!("the header `{name}` cannot be sent: its name or value is none of HTTP");
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        Ok((
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?,
            value,
        ))
    };
    headers.iter().map(pair).collect()
}
