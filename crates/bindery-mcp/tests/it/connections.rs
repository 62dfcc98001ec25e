//! Connections that are made, lost and made again; servers that do not behave.

use std::time::Duration;

use bindery_mcp::{Launch, MOST_TOOLS, Server, State};
use serde_json::json;

use crate::planned::{Planned, is_away, names, process, until};

fn why(state: &State) -> String {
    match state {
        State::Away { why } | State::GivenUp { why } => why.clone(),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn tools_are_listed_by_name_whatever_the_servers_order() {
    let planned = Planned::new(&json!({
        "instructions": "Ask me first.",
        "greeting": 3,
        "tools": [{"name": "b"}, {"name": "a", "description": "first"}, {"name": "a", "description": "second"}],
    }));
    let server = planned.start();
    let standing = server.settled().await;
    assert_eq!(standing.state, State::Ready);
    let listing = standing.listing.unwrap();
    assert_eq!(listing.server, "planned 1");
    assert_eq!(listing.instructions.as_deref(), Some("Ask me first."));
    let tools: Vec<(&str, &str)> = listing
        .tools
        .iter()
        .map(|tool| (&*tool.name, &*tool.description))
        .collect();
    assert_eq!(tools, [("a", "first"), ("b", "Does something.")]);
    assert_eq!((listing.repeated, listing.cut), (1, false));
    server.close().await;
}

#[tokio::test]
async fn a_server_that_dies_is_started_again_and_says_the_same() {
    let planned = Planned::new(&json!({"tools": [{"name": "end", "does": "die"}, {"name": "echo"}]}));
    let server = planned.start();
    let first = server.settled().await;
    let failed = server.call("end", serde_json::Map::new()).await.unwrap_err();
    assert!(
        failed
            .to_string()
            .contains("the connection was lost while it ran"),
        "{failed}"
    );
    let again = until(&server, |standing| {
        standing.connections == 2 && standing.state == State::Ready
    })
    .await;
    assert_eq!(again.listing, first.listing);
    assert_ne!(again.process, first.process);
    let called = server.call("echo", serde_json::Map::new()).await.unwrap();
    assert_eq!(called.text, "{}");
}

#[tokio::test]
async fn a_list_that_changes_is_read_again() {
    let planned = Planned::new(&json!({"tools": [{"name": "more", "does": "changed"}]}));
    let server = planned.start();
    server.settled().await;
    planned.change(&json!({"tools": [{"name": "more", "does": "changed"}, {"name": "other"}]}));
    server.call("more", serde_json::Map::new()).await.unwrap();
    let now = until(&server, |standing| standing.lists == 2).await;
    assert_eq!(names(&now), ["more", "other"]);
    assert_eq!(now.connections, 1);
}

#[tokio::test]
async fn what_does_not_start_says_why() {
    let gone = Server::start(process("/nowhere/server", &[]));
    let standing = gone.settled().await;
    assert!(
        why(&standing.state).starts_with("`/nowhere/server` could not be started"),
        "{:?}",
        standing.state
    );

    let planned = Planned::new(&json!({"exit": 3, "greeting": 2, "complaint": "no database"}));
    let server = planned.start();
    let standing = server.settled().await;
    insta::assert_snapshot!(
        why(&standing.state),
        @"it ended with exit status: 3; 2 lines on its standard output were no messages, the first: Welcome to the planned server!; it said: no database"
    );
    // Nobody tries for ever; a call wakes it up.
    let given_up = until(&server, |standing| {
        matches!(standing.state, State::GivenUp { .. })
    })
    .await;
    assert_eq!(given_up.connections, 0);
    planned.change(&json!({"tools": [{"name": "a"}]}));
    server.call("a", serde_json::Map::new()).await.unwrap_err();
    until(&server, |standing| standing.state == State::Ready).await;
}

#[tokio::test]
async fn one_that_answers_nothing_is_given_its_time() {
    let planned = Planned::new(&json!({"hang": true}));
    let server = Server::start(Launch {
        startup: Duration::from_millis(300),
        ..planned.launch()
    });
    let standing = server.settled().await;
    assert_eq!(why(&standing.state), "it was not ready within 300ms");
    assert!(is_away(&standing));
}

#[tokio::test]
async fn a_list_without_an_end_is_cut() {
    let planned = Planned::new(&json!({"count": 15_000}));
    let listing = planned.start().settled().await.listing.unwrap();
    assert_eq!((listing.tools.len(), listing.cut), (MOST_TOOLS, true));
    let planned = Planned::new(&json!({"tools": [{"name": "a"}], "endless": true}));
    let listing = planned.start().settled().await.listing.unwrap();
    assert_eq!(
        (listing.tools.len(), listing.cut, listing.repeated),
        (1, true, 999)
    );
}

#[tokio::test]
async fn the_process_ends_with_its_holder() {
    let planned = Planned::new(&json!({"tools": []}));
    let server = planned.start();
    let process = server.settled().await.process.unwrap();
    server.close().await;
    assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());
}
