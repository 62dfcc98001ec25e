//! Headers on their way: what concerns one connection stays behind, the rest goes on in its order and case.

use hyper::HeaderMap;
use hyper::header::{
    CONNECTION, EXPECT, HOST, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};

/// Fields of one connection (RFC 9110, section 7.6.1), and two old names for them.
const HOP_BY_HOP: [HeaderName; 7] = [
    CONNECTION,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];
const OLD_HOP_BY_HOP: [&str; 2] = ["keep-alive", "proxy-connection"];

/// The headers of a request as they go upstream, addressed to `host`. An expectation was met here: the body is
/// asked for when the upstream takes it.
pub(crate) fn to_upstream(headers: &HeaderMap, host: &HeaderValue) -> HeaderMap {
    let mut out = passed_on(headers, |name| *name == EXPECT);
    // In its place: only the value changes.
    if out.contains_key(HOST) {
        out.insert(HOST, host.clone());
    }
    out
}

/// The headers of a response as they go to the client.
pub(crate) fn to_client(headers: &HeaderMap) -> HeaderMap {
    passed_on(headers, |_| false)
}

fn passed_on(headers: &HeaderMap, stays: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let named = connection_options(headers);
    let mut out = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let hop = HOP_BY_HOP.contains(name)
            || OLD_HOP_BY_HOP.contains(&name.as_str())
            || named
                .iter()
                .any(|option| option.eq_ignore_ascii_case(name.as_str()));
        if !hop && !stays(name) {
            out.append(name, value.clone());
        }
    }
    out
}

/// What the `Connection` field names.
fn connection_options(headers: &HeaderMap) -> Vec<&str> {
    let values = headers.get_all(CONNECTION).into_iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        // These are no names of fields, or of fields that frame the message.
        .filter(|option| !["close", "keep-alive", "content-length", "host"].contains(option))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_concerns_the_connection_stays_behind_and_the_rest_keeps_its_order() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("host", "127.0.0.1:1"),
            ("connection", "keep-alive, X-Private"),
            ("x-z", "1"),
            ("x-private", "2"),
            ("authorization", "Bearer made-up"),
            ("expect", "100-continue"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("x-a", "3"),
            ("x-z", "4"),
        ] {
            headers.append(name, value.parse().unwrap());
        }
        let sent = to_upstream(&headers, &"api.example".parse().unwrap());
        let shown: Vec<String> = sent
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        host: api.example
        x-z: 1
        x-z: 4
        authorization: Bearer made-up
        x-a: 3
        ");
    }
}
