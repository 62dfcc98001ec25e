//! Calls: results of every kind, limits, cancelling.

use std::time::Duration;

use bindery_mcp::{CallError, Launch, Server, State};
use serde_json::{Map, json};

use crate::planned::{Planned, is_away, until};

#[tokio::test]
async fn results_are_texts_and_what_is_no_text_is_named() {
    let planned = Planned::new(&json!({"tools": [
        {"name": "fail", "does": "fail"},
        {"name": "picture", "does": "picture"},
        {"name": "refuse", "does": "refuse"},
        {"name": "echo"},
    ]}));
    let server = planned.start();
    server.settled().await;
    let call = |tool: &'static str, input: Map<String, serde_json::Value>| server.call(tool, input);
    let failed = call("fail", Map::new()).await.unwrap();
    assert_eq!((failed.text.as_str(), failed.is_error), ("it went wrong", true));
    let picture = call("picture", Map::new()).await.unwrap();
    assert_eq!(
        picture.text,
        "[image image/png, about 6 bytes: left out, it is no text]"
    );
    let refused = call("refuse", Map::new()).await.unwrap_err();
    assert_eq!(refused.to_string(), "the server refused: no such tool (-32602)");
    let input = json!({"x": [1, "ä"]});
    let echoed = call("echo", input.as_object().unwrap().clone()).await.unwrap();
    assert_eq!(echoed.text, "{\"x\": [1, \"\\u00e4\"]}");
}

#[tokio::test]
async fn a_result_of_fifty_megabytes_comes_and_one_beyond_the_bound_ends_the_connection() {
    let planned = Planned::new(&json!({"tools": [
        {"name": "big", "does": "big", "with": 50_000_000},
        {"name": "huge", "does": "big", "with": 80_000_000},
    ]}));
    let server = planned.start();
    server.settled().await;
    let big = server.call("big", Map::new()).await.unwrap();
    assert!(big.text.len() > 49_000_000);
    let huge = server.call("huge", Map::new()).await.unwrap_err();
    assert!(matches!(huge, CallError::Lost(_)), "{huge}");
    let away = until(&server, |standing| standing.state != State::Ready).await;
    assert!(
        format!("{:?}", away.state).contains("a message of more than 64 MiB"),
        "{:?}",
        away.state
    );
}

#[tokio::test]
async fn a_call_has_a_limit_and_whoever_goes_away_stops_it() {
    let planned = Planned::new(&json!({"tools": [{"name": "sleep", "does": "sleep"}]}));
    let server = Server::start(Launch {
        call: Duration::from_millis(50),
        ..planned.launch()
    });
    server.settled().await;
    let late = server.call("sleep", Map::new()).await.unwrap_err();
    assert_eq!(late, CallError::TimedOut(Duration::from_millis(50)));
    let is_cancel = |message: &serde_json::Value| message["method"] == "notifications/cancelled";
    while !planned.log().iter().any(is_cancel) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_same_over_http_with_headers_of_our_own() {
    let planned = Planned::new(&json!({"authorization": "Bearer secret", "tools": [{"name": "echo"}]}));
    let (launch, process) = planned.serve();
    assert!(!format!("{launch:?}").contains("secret"));
    let server = Server::start(launch);
    let standing = server.settled().await;
    assert_eq!(standing.state, State::Ready, "{standing:?}");
    let echoed = server.call("echo", Map::new()).await.unwrap();
    assert_eq!(echoed.text, "{}");
    drop(process);
    server.call("echo", Map::new()).await.unwrap_err();
    until(&server, is_away).await;
}
