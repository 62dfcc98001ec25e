//! A server from the npm registry, where `BINDERY_MCP_SERVERS` names the folder that it is installed in.

use std::path::PathBuf;
use std::time::Duration;

use bindery_mcp::{Launch, Server, State};
use serde_json::json;

use crate::planned::{names, process, until};

#[tokio::test]
#[ignore = "`cargo xtask mcp` installs the server"]
async fn a_server_that_is_killed_says_the_same_when_it_is_back() {
    let folder = std::env::var_os("BINDERY_MCP_SERVERS").expect("`cargo xtask mcp` sets it");
    let program = PathBuf::from(folder).join("node_modules/.bin/mcp-server-everything");
    let server = Server::start(Launch {
        pause: Duration::from_millis(50),
        ..process(program.to_str().unwrap(), &["stdio"])
    });
    let first = server.settled().await;
    assert_eq!(first.state, State::Ready, "{first:?}");
    assert!(names(&first).contains(&"echo".to_owned()), "{:?}", names(&first));
    let input = json!({"message": "hello"});
    let echoed = server
        .call("echo", input.as_object().unwrap().clone())
        .await
        .unwrap();
    assert!(echoed.text.contains("hello"), "{echoed:?}");
    let pid = rustix::process::Pid::from_raw(first.process.unwrap().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let again = until(&server, |standing| {
        standing.connections == 2 && standing.state == State::Ready
    })
    .await;
    assert_eq!(again.listing, first.listing);
    server.close().await;
}
