//! Whole turns with the simulated model.

use bindery_wire::{ReplyPart, Retry};

use super::*;
use crate::testing::{Talk, now};

/// A small repository.
fn tool(name: &str, input: &str) -> Result<String, String> {
    let input: serde_json::Value = serde_json::from_str(input).unwrap();
    match (name, input["path"].as_str(), input["file_path"].as_str()) {
        ("list", Some("."), _) => Ok("Cargo.toml\nREADME.md\ncrates/\n".to_owned()),
        ("list", Some("crates"), _) => Ok("one/\ntwo/\n".to_owned()),
        ("read", _, Some("crates/one/Cargo.toml")) => {
            Ok("[package]\nname = \"one\"\ndescription = \"Counts.\"\n".to_owned())
        }
        ("read", _, Some("Cargo.toml")) => Ok("[workspace]\n".to_owned()),
        ("read", _, Some("README.md")) => Ok("\n# A thing\n".to_owned()),
        _ => Err("no such file".to_owned()),
    }
}

/// Turns until the model calls no more tools.
fn run(model: &SimModel, talk: &mut Talk) -> Vec<Reply> {
    let mut replies = Vec::new();
    while replies.len() < 8 {
        let reply = talk.ask(model);
        let done = reply.stop != StopReason::ToolUse;
        if !done {
            talk.answer(&reply, tool);
        }
        replies.push(reply);
        if done {
            return replies;
        }
    }
    panic!("the simulated model never stops");
}

fn shown(replies: &[Reply]) -> String {
    let part = |part: &ReplyPart| match part {
        ReplyPart::Text { text } => text.clone(),
        ReplyPart::Reasoning { text, .. } => format!("({text})"),
        ReplyPart::ToolCall { name, input, .. } => format!("{name} {input}"),
    };
    let parts = replies.iter().flat_map(|reply| &reply.parts).map(part);
    parts.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_rules_look_where_the_prompt_points() {
    let model = SimModel::with_rules(Provider::Anthropic);
    let mut talk = Talk::new("claude-opus-5", 10, "list the crates and say what each does");
    insta::assert_snapshot!(shown(&run(&model, &mut talk)), @r#"
    [simulated] Looking around.
    list {"path":"."}
    [simulated] Looking closer.
    list {"path":"crates"}
    [simulated] Reading what describes it.
    read {"file_path":"crates/one/Cargo.toml"}
    read {"file_path":"crates/two/Cargo.toml"}
    [simulated] What the tools showed:
    - .: 3 entries
    - crates: 2 entries
    - crates/one/Cargo.toml: Counts.
    - crates/two/Cargo.toml: could not be read
    "#);
}

#[test]
fn the_rules_read_what_describes_the_directory() {
    let model = SimModel::with_rules(Provider::OpenaiChat);
    let mut talk = Talk::new("gpt-6-sol", 10, "what is this?");
    insta::assert_snapshot!(shown(&run(&model, &mut talk)), @r#"
    [simulated] Looking around.
    list {"path":"."}
    [simulated] Reading what describes it.
    read {"file_path":"Cargo.toml"}
    read {"file_path":"README.md"}
    [simulated] What the tools showed:
    - .: 3 entries
    - Cargo.toml: [workspace]
    - README.md: # A thing
    "#);
}

#[test]
fn the_same_requests_get_the_same_replies() {
    let replies = || {
        let model = SimModel::with_rules(Provider::Deepseek);
        run(&model, &mut Talk::new("deepseek-flash", 10, "crates?"))
    };
    assert_eq!(replies(), replies());
}

#[test]
fn every_request_after_the_first_reads_from_the_cache() {
    for provider in Provider::ALL {
        let model = SimModel::with_rules(provider);
        let mut talk = Talk::new(provider.default_model(), 3000, "what do the crates do?");
        let mut replies = run(&model, &mut talk);
        talk.say("and what is this?");
        replies.extend(run(&model, &mut talk));
        let reads: Vec<u64> = replies.iter().map(|reply| reply.usage.unwrap().read).collect();
        assert_eq!(
            reads.iter().filter(|read| **read == 0).count(),
            1,
            "{provider}: {reads:?}"
        );
        assert!(
            reads.iter().skip(1).all(|read| *read > 2000),
            "{provider}: {reads:?}"
        );
    }
}

#[test]
fn everything_is_labelled() {
    let model = SimModel::with_rules(Provider::Anthropic);
    assert!(model.is_simulated());
    let reply = Talk::new("claude-opus-5", 10, "hi").ask(&model);
    assert_eq!(reply.model.as_deref(), Some("simulated:claude-opus-5"));
    assert!(reply.text().starts_with("[simulated]"));
    assert!(reply.notes.iter().any(|note| note.code == "simulated"));
}

const SCRIPT: &str = r#"
[[reply]]
think = "Hm."
text = "Let me see."
calls = [{ tool = "read", input = { file_path = "README.md" } }, { tool = "list" }]

[[reply]]
fail = { kind = "overloaded", retry_after = 2 }

[[reply]]
text = "Half a sentence"
fail = { kind = "disconnected" }

[[reply]]
text = "Too much"
stop = "max-tokens"
"#;

#[test]
fn a_script_is_played_in_order_and_ends_with_an_error() {
    let model = SimModel::scripted(Provider::Anthropic, Script::parse(SCRIPT).unwrap());
    let mut talk = Talk::new("claude-opus-5", 10, "go");
    let encoded = talk.encode(Provider::Anthropic);
    let reply = talk.ask(&model);
    insta::assert_snapshot!(shown(&[reply]), @r#"
    (Hm.)
    Let me see.
    read {"file_path":"README.md"}
    list {}
    "#);
    let talk = Talk::new("claude-opus-5", 10, "go");
    let outgoing = Outgoing {
        encoded: &encoded,
        request: talk.request(),
    };
    let overloaded = now(model.send(outgoing)).unwrap_err();
    assert_eq!(
        overloaded.retry(),
        Retry::After(Some(std::time::Duration::from_secs(2)))
    );
    let interrupted = now(async { model.send(outgoing).await.unwrap().reply().await }).unwrap_err();
    assert_eq!(interrupted.failure.kind, FailureKind::Disconnected);
    assert_eq!(interrupted.parts.len(), 1);
    let reply = now(async { model.send(outgoing).await.unwrap().reply().await }).unwrap();
    assert_eq!(reply.stop, StopReason::MaxTokens);
    insta::assert_snapshot!(now(model.send(outgoing)).unwrap_err(), @"the provider calls the request invalid: the script of the simulated model has 4 replies and request 5 needs another; add a [[reply]]");
}

#[test]
fn a_wrong_script_says_where() {
    insta::assert_snapshot!(Script::parse("[[reply]]\ntxet = 'a'\n").unwrap_err(), @r#"
    the script of the simulated model cannot be read: TOML parse error at line 2, column 1
      |
    2 | txet = 'a'
      | ^^^^
    unknown field `txet`, expected one of `think`, `text`, `calls`, `stop`, `fail`
    "#);
}
