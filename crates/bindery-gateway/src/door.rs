//! Who may come in. A page in a browser can send requests to loopback, under a name of its own that it lets
//! point there (DNS rebinding); so requests must name this machine, and pages are refused.

use std::net::IpAddr;

use hyper::header::{HOST, ORIGIN, UPGRADE};
use hyper::{Method, Request, StatusCode, Uri};

use crate::refusal::Refusal;

/// Names under which the gateway may be called beside addresses and `localhost`, in lower case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Door {
    names: Vec<String>,
}

impl Door {
    pub(crate) fn new(names: &[String]) -> Self {
        Self {
            names: names.iter().map(|name| name.to_ascii_lowercase()).collect(),
        }
    }

    /// Why a request is not let in.
    pub(crate) fn check<B>(&self, request: &Request<B>) -> Option<Refusal> {
        if *request.method() == Method::CONNECT {
            return Some(Refusal::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "this is no forward proxy, and tunnels cannot be recorded: set the agent's base URL instead \
                 (`bindery gateway env AGENT` prints how)",
            ));
        }
        let host = request.headers().get(HOST).map(|value| value.to_str().ok());
        let target = request
            .uri()
            .authority()
            .map(|authority| Some(authority.as_str()));
        for name in [host, target].into_iter().flatten() {
            if !name.is_some_and(|name| self.knows(name)) {
                return Some(Refusal::new(
                    StatusCode::MISDIRECTED_REQUEST,
                    "the request names another host; call the gateway by its address or `localhost`, or start it \
                     with `--allow-host NAME`",
                ));
            }
        }
        if let Some(origin) = request.headers().get(ORIGIN)
            && !origin.to_str().is_ok_and(|origin| self.is_own_origin(origin))
        {
            return Some(Refusal::new(
                StatusCode::FORBIDDEN,
                "requests of web pages are not let in; start the gateway with `--allow-host NAME` for the page's host",
            ));
        }
        let upgrade = request
            .headers()
            .get(UPGRADE)
            .and_then(|value| value.to_str().ok());
        if upgrade.is_some_and(|value| value.to_ascii_lowercase().contains("websocket")) {
            return Some(Refusal::new(
                StatusCode::UPGRADE_REQUIRED,
                "WebSocket is not passed through, since it cannot be recorded; use HTTP with server-sent events",
            ));
        }
        None
    }

    /// Whether an authority (`host[:port]`) is this machine's. Addresses cannot be rebound.
    fn knows(&self, authority: &str) -> bool {
        let Ok(uri) = authority.parse::<Uri>() else {
            return false;
        };
        let Some(host) = uri.host() else { return false };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = host.trim_end_matches('.').to_ascii_lowercase();
        bare.parse::<IpAddr>().is_ok() || name == "localhost" || self.names.contains(&name)
    }

    /// A page of this machine, or an application that is no page of the web (`vscode-file://…`).
    fn is_own_origin(&self, origin: &str) -> bool {
        match origin.split_once("://") {
            Some(("http" | "https", authority)) => self.knows(authority),
            Some(_) => true,
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(build: impl FnOnce(hyper::http::request::Builder) -> hyper::http::request::Builder) -> u16 {
        let door = Door::new(&["Gateway.Internal".to_owned()]);
        let request = build(Request::builder()).body(()).unwrap();
        door.check(&request)
            .map_or(0, |refusal| refusal.status().as_u16())
    }

    #[test]
    fn only_this_machine_s_names_are_let_in() {
        for host in [
            "127.0.0.1:8484",
            "localhost",
            "[::1]:1",
            "gateway.internal:80",
            "10.1.2.3",
        ] {
            assert_eq!(refused(|request| request.header("host", host)), 0, "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8484",
            "localhost.evil.example",
            "",
            "a b",
            "127.0.0.1.nip.io",
        ] {
            assert_eq!(refused(|request| request.header("host", host)), 421, "{host}");
        }
        assert_eq!(refused(|request| request), 0);
        assert_eq!(
            refused(|request| request.uri("http://api.example/v1/messages")),
            421
        );
    }

    #[test]
    fn pages_tunnels_and_sockets_are_refused() {
        let of = |origin: &'static str| refused(move |request| request.header("origin", origin));
        assert_eq!(of("http://localhost:3000"), 0);
        assert_eq!(of("vscode-file://vscode-app"), 0);
        assert_eq!(of("https://evil.example"), 403);
        assert_eq!(of("null"), 403);
        assert_eq!(
            refused(|request| request.method("CONNECT").uri("api.example:443")),
            405
        );
        assert_eq!(refused(|request| request.header("upgrade", "WebSocket")), 426);
    }
}
