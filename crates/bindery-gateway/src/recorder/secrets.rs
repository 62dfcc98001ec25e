//! Keys stay out of the log: those that a request carries, wherever they stand, and whatever looks like one in
//! what providers say.

use hyper::HeaderMap;

/// What is written in place of a secret.
const GONE: &str = "[secret]";
/// Shorter values are no keys, and may stand in any text.
const SHORTEST: usize = 12;
/// Parts of names by which a header or a parameter tells that its value is secret.
const NAMES: [&str; 8] = [
    "key",
    "token",
    "auth",
    "cookie",
    "secret",
    "password",
    "credential",
    "signature",
];
/// How keys begin.
const BEGINNINGS: [&str; 9] = [
    "sk-", "sk_", "pk-", "gsk_", "ghp_", "xai-", "AIza", "eyJ", "xoxb-",
];

/// The secrets of one request.
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// Those in headers and in the query of a path.
    pub(super) fn of(headers: &HeaderMap, path: &str) -> Self {
        let values = headers
            .iter()
            .filter(|(name, _)| is_secret(name.as_str()))
            .filter_map(|(_, value)| value.to_str().ok());
        let mut found: Vec<String> = values.flat_map(parts).map(str::to_owned).collect();
        let query = path.split_once('?').map_or("", |(_, query)| query);
        found.extend(
            pairs(query)
                .filter(|(name, _)| is_secret(name))
                .map(|(_, value)| value.to_owned()),
        );
        found.retain(|value| value.len() >= SHORTEST);
        found.sort_by_key(|value| std::cmp::Reverse(value.len()));
        found.dedup();
        Self(found)
    }

    /// The bytes without them, if they hold any.
    pub(super) fn without(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut out: Option<Vec<u8>> = None;
        for secret in &self.0 {
            let now = out.as_deref().unwrap_or(bytes);
            let mut places = memchr::memmem::find_iter(now, secret).peekable();
            if places.peek().is_none() {
                continue;
            }
            let mut next = Vec::with_capacity(now.len());
            let mut from = 0;
            for place in places {
                next.extend_from_slice(now.get(from..place).unwrap_or_default());
                next.extend_from_slice(GONE.as_bytes());
                from = place + secret.len();
            }
            next.extend_from_slice(now.get(from..).unwrap_or_default());
            out = Some(next);
        }
        out
    }

    /// Text of a provider or of the system without them, and without what looks like a key.
    pub(super) fn scrub(&self, text: &str) -> String {
        let known = self.without(text.as_bytes());
        let text = known.map_or_else(
            || text.to_owned(),
            |bytes| String::from_utf8_lossy(&bytes).into_owned(),
        );
        let mut out = String::with_capacity(text.len());
        for piece in text.split_inclusive(|c: char| !is_of_key(c)) {
            let word = piece.trim_end_matches(|c: char| !is_of_key(c));
            let rest = piece.strip_prefix(word).unwrap_or_default();
            let is_key = word.len() >= 8 && BEGINNINGS.iter().any(|begins| word.starts_with(begins));
            out.push_str(if is_key { GONE } else { word });
            out.push_str(rest);
        }
        out
    }

    /// A path and query as it may be kept.
    pub(super) fn path(&self, path: &str) -> String {
        let (plain, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        let mut out = self.scrub(plain);
        if let Some(query) = query {
            let kept = query.split('&').map(|pair| match pair.split_once('=') {
                Some((name, _)) if is_secret(name) => format!("{name}={GONE}"),
                _ => self.scrub(pair),
            });
            out.push('?');
            out.push_str(&kept.collect::<Vec<_>>().join("&"));
        }
        out
    }
}

fn is_of_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*')
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.iter().any(|part| name.contains(part))
}

fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter_map(|pair| pair.split_once('='))
}

/// The parts of a value: a scheme's credentials, each cookie.
fn parts(value: &str) -> impl Iterator<Item = &str> {
    value.split([' ', ';', ',']).map(|part| {
        part.split_once('=')
            .map_or(part, |(_, value)| if value.is_empty() { part } else { value })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", "Bearer made-up-key-12345".parse().unwrap());
        headers.insert("x-api-key", "another-made-up-key".parse().unwrap());
        headers.insert("cookie", "a=made-up-cookie-1; b=2".parse().unwrap());
        headers.insert("x-claude-code-session-id", "00000000-0000-0000".parse().unwrap());
        Secrets::of(&headers, "/v1/x?key=made-up-in-query&beta=true")
    }

    #[test]
    fn keys_of_the_request_are_found_wherever_they_stand() {
        let body = b"{\"a\":\"made-up-key-12345\",\"b\":\"x another-made-up-key made-up-key-12345\"}";
        let clean = secrets().without(body).unwrap();
        assert_eq!(
            String::from_utf8(clean).unwrap(),
            r#"{"a":"[secret]","b":"x [secret] [secret]"}"#
        );
        assert_eq!(secrets().without(b"00000000-0000-0000 beta true"), None);
        assert_eq!(
            secrets().path("/v1/x?key=made-up-in-query&beta=true"),
            "/v1/x?key=[secret]&beta=true"
        );
    }

    #[test]
    fn what_looks_like_a_key_is_scrubbed_from_what_providers_say() {
        let said =
            "Incorrect API key provided: sk-proj-ab****cd. Also made-up-cookie-1, (AIzaSyMadeUp1) and sk-it.";
        assert_eq!(
            secrets().scrub(said),
            "Incorrect API key provided: [secret] Also [secret], ([secret]) and sk-it."
        );
        assert_eq!(secrets().path("/sk-made-up-0/v1"), "/[secret]/v1");
    }
}
