//! Where a provider is, and how long it may take.

use std::time::Duration;

use bindery_wire::Provider;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// The version of the Messages API that requests are written for.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Limits of time. Models may think for minutes before the first word, so what matters is silence:
/// providers send keep-alives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect: Duration,
    /// Between two pieces of the reply, and until its first.
    pub idle: Duration,
    /// For the whole reply.
    pub total: Duration,
}

impl Default for Timeouts {
    /// 10 seconds, 5 minutes, 1 hour.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(5),
            total: Duration::from_hours(1),
        }
    }
}

/// An address that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Not a URL of the web.
    #[error("`{url}` is no base URL: {cause}. Write it as https://HOST or https://HOST/PATH")]
    BaseUrl {
        /// What was given.
        url: String,
        /// What is wrong with it.
        cause: String,
    },
    /// Not a header.
    #[error("header `{name}` cannot be sent: {cause}")]
    Header {
        /// Its name; its value may be secret and is not shown.
        name: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// A header that the client sets.
    #[error("header `{name}` is set by the client; {instead}")]
    Reserved {
        /// Its name.
        name: String,
        /// How to say what was meant.
        instead: &'static str,
    },
}

/// Where and how to reach a provider.
#[derive(Debug, Clone)]
pub struct Endpoint {
    base: Url,
    headers: HeaderMap,
    /// Limits of time.
    pub timeouts: Timeouts,
}

impl Endpoint {
    /// The address that the provider publishes.
    pub fn published_url(provider: Provider) -> &'static str {
        match provider {
            Provider::Anthropic => "https://api.anthropic.com",
            Provider::OpenaiResponses | Provider::OpenaiChat => "https://api.openai.com/v1",
            Provider::Deepseek => "https://api.deepseek.com",
        }
    }

    /// The environment variable that holds the key. This crate never reads it: its reader passes a
    /// [`crate::Secret`].
    pub fn key_variable(provider: Provider) -> &'static str {
        match provider {
            Provider::Anthropic => "ANTHROPIC_API_KEY",
            Provider::OpenaiResponses | Provider::OpenaiChat => "OPENAI_API_KEY",
            Provider::Deepseek => "DEEPSEEK_API_KEY",
        }
    }

    /// The environment variable that moves the provider elsewhere, as its own SDK names it.
    pub fn url_variable(provider: Provider) -> &'static str {
        match provider {
            Provider::Anthropic => "ANTHROPIC_BASE_URL",
            Provider::OpenaiResponses | Provider::OpenaiChat => "OPENAI_BASE_URL",
            Provider::Deepseek => "DEEPSEEK_BASE_URL",
        }
    }

    /// An endpoint at a base URL, as the provider's SDK takes it: without the operation's path.
    pub fn new(base: &str) -> Result<Self, EndpointError> {
        let wrong = |cause: String| EndpointError::BaseUrl {
            url: without_credentials(base),
            cause,
        };
        let url = Url::parse(base.trim()).map_err(|error| wrong(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong(format!("its scheme is `{}`", url.scheme())));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("it holds a user name or password".to_owned()));
        }
        Ok(Self {
            base: url,
            headers: HeaderMap::new(),
            timeouts: Timeouts::default(),
        })
    }

    /// Adds a header to every request. Values are treated as secret and never shown.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, EndpointError> {
        let wrong = |cause| EndpointError::Header {
            name: name.to_owned(),
            cause,
        };
        let known = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("this is no header's name"))?;
        let reserved = match known.as_str() {
            "content-type" | "content-length" | "host" | "transfer-encoding" | "connection" => {
                Some("leave it out")
            }
            "authorization" | "x-api-key" => Some("pass the key as the key"),
            _ => None,
        };
        if let Some(instead) = reserved {
            let name = name.to_owned();
            return Err(EndpointError::Reserved { name, instead });
        }
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| wrong("its value has characters that headers may not have"))?;
        value.set_sensitive(true);
        self.headers.append(known, value);
        Ok(self)
    }

    /// The same endpoint with other limits of time.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// The base URL.
    pub fn base(&self) -> &str {
        self.base.as_str()
    }

    /// The address of the provider's operation. A base that ends in it already is taken as it is, and
    /// the version may stand in the base or not: people copy both forms.
    pub(crate) fn operation(&self, provider: Provider) -> Url {
        let (version, operation) = match provider {
            Provider::Anthropic => ("v1", "messages"),
            Provider::OpenaiResponses => ("", "responses"),
            Provider::OpenaiChat | Provider::Deepseek => ("", "chat/completions"),
        };
        let base = self.base.path().trim_end_matches('/');
        let path = if base.ends_with(&format!("/{operation}")) {
            base.to_owned()
        } else if version.is_empty() || base.ends_with(&format!("/{version}")) {
            format!("{base}/{operation}")
        } else {
            format!("{base}/{version}/{operation}")
        };
        let mut url = self.base.clone();
        url.set_path(&path);
        url
    }

    /// The address where the provider counts tokens; `None` for one that does not.
    pub(crate) fn count(&self, provider: Provider) -> Option<Url> {
        let mut url = self.operation(provider);
        let path = format!("{}/{}", url.path(), provider.count_path()?);
        url.set_path(&path);
        Some(url)
    }

    /// The headers of every request, but for the key. What the endpoint sets goes before our own.
    pub(crate) fn headers(&self, provider: Provider) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if provider == Provider::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
        }
        for name in self.headers.keys() {
            headers.remove(name);
        }
        for (name, value) in &self.headers {
            headers.append(name.clone(), value.clone());
        }
        headers
    }
}

/// What may be shown of a URL: nothing before the last `@`.
fn without_credentials(url: &str) -> String {
    match url.rsplit_once('@') {
        None => url.to_owned(),
        Some((_, host)) => format!("…@{host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(provider: Provider, base: &str) -> String {
        Endpoint::new(base).unwrap().operation(provider).into()
    }

    #[test]
    fn every_form_of_a_base_url_leads_to_the_operation() {
        for base in [
            "http://h",
            "http://h/",
            "http://h/v1",
            "http://h/v1/",
            "http://h/v1/messages",
        ] {
            assert_eq!(address(Provider::Anthropic, base), "http://h/v1/messages");
        }
        assert_eq!(
            address(Provider::OpenaiResponses, "http://h/v1/"),
            "http://h/v1/responses"
        );
        assert_eq!(
            address(Provider::OpenaiChat, "http://h/x?y=1"),
            "http://h/x/chat/completions?y=1"
        );
        for provider in Provider::ALL {
            Endpoint::new(Endpoint::published_url(provider)).unwrap();
        }
    }

    #[test]
    fn wrong_addresses_and_headers_say_what_to_do_and_show_no_secret() {
        let say = |result: Result<Endpoint, EndpointError>| result.unwrap_err().to_string();
        let endpoint = || Endpoint::new("http://h").unwrap();
        let said = [
            say(Endpoint::new("h:8080/x y")),
            say(Endpoint::new("example.org")),
            say(Endpoint::new("https://me:sk-1@h")),
            say(endpoint().header("Authorization", "Bearer sk-1")),
            say(endpoint().header("x y", "1")),
            say(endpoint().header("x-key", "sk-1\n")),
        ];
        assert!(!said.concat().contains("sk-1"));
        insta::assert_snapshot!(said.join("\n"), @r#"
    `h:8080/x y` is no base URL: its scheme is `h`. Write it as https://HOST or https://HOST/PATH
    `example.org` is no base URL: relative URL without a base. Write it as https://HOST or https://HOST/PATH
    `…@h` is no base URL: it holds a user name or password. Write it as https://HOST or https://HOST/PATH
    header `Authorization` is set by the client; pass the key as the key
    header `x y` cannot be sent: this is no header's name
    header `x-key` cannot be sent: its value has characters that headers may not have
    "#);
    }

    #[test]
    fn header_values_are_not_shown() {
        let endpoint = Endpoint::new("http://h")
            .unwrap()
            .header("x-team", "sk-1")
            .unwrap();
        assert!(!format!("{endpoint:?}").contains("sk-1"));
        assert_eq!(endpoint.headers(Provider::Anthropic).len(), 2);
    }

    #[test]
    fn the_version_header_can_be_replaced() {
        let endpoint = Endpoint::new("http://h")
            .unwrap()
            .header("anthropic-version", "x")
            .unwrap();
        let headers = endpoint.headers(Provider::Anthropic);
        assert_eq!(headers.get_all("anthropic-version").iter().count(), 1);
    }
}
