//! Sub-agents at the command line: lists, what one would be given, a session that sends one.

use bindery_loopback::{Protocol, Reply, Say, Server};
use serde_json::{Value, json};

use crate::place::Place;
use crate::run::{PATIENT, events, verify};

fn place() -> Place {
    let place = Place::new();
    place.write("home/repo/AGENTS.md", "# Rules\n\nNever push.\n");
    place.write(
        "home/repo/.claude/agents/reviewer.md",
        "---\nname: reviewer\ndescription: Reviews changes\ntools: Read, NoSuch\n---\nBe strict.\n",
    );
    place.write(
        "home/.claude/agents/reviewer.md",
        "---\nname: reviewer\ndescription: Mine\n---\nBe kind.\n",
    );
    place
}

#[test]
fn definitions_of_three_origins_are_listed_and_the_shadowed_ones_with_them() {
    let place = place();
    let list = place.bindery(&["agents", "list"]);
    assert_eq!(list.code, 0, "{}", list.err);
    insta::assert_snapshot!(list.out);
    let page = place.bindery(&["agents", "list", "--json"]);
    let page: Value = serde_json::from_str(&page.out).unwrap();
    assert_eq!(page["schema"], "bindery.agents/1");
    assert_eq!(page["shadowed"][0]["shadowed_by"], ".claude/agents/reviewer.md");
    std::os::unix::fs::symlink("/etc/passwd", place.path("home/repo/.claude/agents/x.md")).unwrap();
    let broken = place.bindery(&["agents", "list"]);
    assert_eq!(broken.code, 1);
    assert!(broken.err.contains("leads out of the project"), "{}", broken.err);
}

#[test]
fn what_a_child_would_be_given_is_shown_without_sending_it() {
    let place = place();
    let shown = place.bindery(&["agents", "show", "reviewer"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    insta::assert_snapshot!(shown.out);
    assert_eq!(place.bindery(&["agents", "show", "nobody"]).code, 2);
    assert_eq!(place.bindery(&["log"]).out, "", "a look stores nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_sends_a_child_whose_log_and_usage_are_its_own() {
    let place = place();
    let call = Say::call(
        "c1",
        "agent",
        &json!({"agent": "general", "task": "Look around."}),
    );
    let said = [call, Say::text("There is one file."), Say::text("One file.")];
    let replies = said
        .into_iter()
        .map(|say| Reply::stream(Protocol::Anthropic, &[say]));
    let server = Server::start(replies).await.unwrap();
    let url = server.url();
    let mut line = vec![
        "run",
        "go",
        "--session",
        "one",
        "--provider",
        "anthropic",
        "--base-url",
        &url,
    ];
    line.extend(PATIENT);
    let mut command = place.command("home/repo", &line);
    command.env("ANTHROPIC_API_KEY", "sk-test-key");
    let ran = tokio::task::block_in_place(|| place.ran(&mut command));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("session one, 2 requests: "), "{}", ran.err);
    assert!(ran.err.contains("1 sub-agent, 1 requests: "), "{}", ran.err);
    let child = events(&place, "one.a1");
    assert_eq!(child[0]["data"]["sent_by"]["session"], "one");
    let said: String = child
        .iter()
        .filter(|event| event["type"] == "user_message")
        .map(Value::to_string)
        .collect();
    assert!(said.contains("Never push."), "{said}");
    assert!(verify(&place, "one").starts_with("all 2 requests match"));
    assert!(verify(&place, "one.a1").starts_with("all 1 requests match"));
    let log = place.bindery(&["log", "show", "one"]);
    assert!(
        log.out
            .contains("sub-agent general in session one.a1: done after 1 requests"),
        "{}",
        log.out
    );
    // The newest session of the directory is the parent, not its child.
    let why = place.bindery(&["why"]);
    assert!(why.out.starts_with("session one "), "{}", why.out);
    let server = Server::start([Reply::stream(Protocol::Anthropic, &[Say::text("On.")])])
        .await
        .unwrap();
    let url = server.url();
    let mut command = place.command("home/repo", &["run", "on", "--continue", "--base-url", &url]);
    command.env("ANTHROPIC_API_KEY", "sk-test-key");
    let ran = tokio::task::block_in_place(|| place.ran(&mut command));
    assert!(ran.err.contains("session one, 3 requests"), "{}", ran.err);
}
