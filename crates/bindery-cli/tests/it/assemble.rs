//! `bindery assemble`.

use serde_json::Value;

use crate::place::{Place, Ran};

/// Waits for git however long it takes.
const PATIENT: [&str; 2] = ["-c", "git_status_deadline_ms=10000"];

/// A monorepo with instruction files at two depths and uncommitted work.
fn monorepo() -> Place {
    let place = Place::new();
    place.write(
        "home/repo/AGENTS.md",
        "# House rules\n\nRun `make test` before you commit. {{not a variable}}\n",
    );
    place.write(
        "home/repo/packages/api/AGENTS.md",
        "# API\n\nEvery endpoint has a contract test.\n",
    );
    place.write("home/repo/packages/api/src/main.rs", "fn main() {}\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "first"]);
    place.write("home/repo/packages/api/src/new.rs", "// new\n");
    place
}

fn assemble(place: &Place, arguments: &[&str]) -> Ran {
    let mut all = vec!["assemble", "--instructions", "codex"];
    all.extend(PATIENT);
    all.extend(arguments);
    place.bindery_in("home/repo/packages/api", &all)
}

fn json(ran: &Ran) -> Value {
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn the_table_reads_well_at_80_columns() {
    let ran = assemble(&monorepo(), &["--message", "Fix the failing test"]);
    assert_eq!(ran.code, 0);
    insta::assert_snapshot!(ran.err, @"note[section-shadowed]: sections/default/environment.md: section `environment` of ~/.config/bindery/sections/environment.md takes the place of this one");
    assert!(
        ran.out.lines().all(|line| line.chars().count() <= 80),
        "{}",
        ran.out
    );
    insta::assert_snapshot!(ran.out);
}

#[test]
fn every_provider_gets_a_body_twice_the_same() {
    let place = monorepo();
    for provider in ["anthropic", "openai-responses", "openai-chat", "deepseek"] {
        let arguments = ["--view", "request", "--message", "hi", "--provider", provider];
        let first = assemble(&place, &arguments);
        let body = json(&first);
        assert!(body["model"].is_string(), "{provider}");
        assert_eq!(assemble(&place, &arguments).out, first.out, "{provider}");
    }
}

#[test]
fn a_touched_file_changes_the_git_status_and_nothing_before_the_boundary() {
    let place = monorepo();
    let prefix = assemble(&place, &["--view", "prefix"]);
    let before = assemble(&place, &["--view", "json", "--message", "hi"]);
    place.write("before.json", &before.out);
    place.write("home/repo/packages/api/src/main.rs", "fn main() { }\n");
    assert_eq!(assemble(&place, &["--view", "prefix"]).out, prefix.out);
    let before = place.path("before.json");
    let after = json(&assemble(
        &place,
        &["--message", "hi", "--against", before.to_str().unwrap()],
    ));
    assert_eq!(
        after["changes"],
        serde_json::json!([{"key": "context:git", "change": "changed"}])
    );
}

#[test]
fn spans_cut_the_texts_out_of_the_body() {
    let place = monorepo();
    for provider in ["anthropic", "openai-responses", "openai-chat", "deepseek"] {
        let with = |view: &'static str| {
            [
                "--view",
                view,
                "--json",
                "--message",
                "hi",
                "--provider",
                provider,
            ]
        };
        let body = assemble(&place, &with("request")).out;
        let spans = json(&assemble(&place, &with("spans")));
        let fragments = json(&assemble(
            &place,
            &["--json", "--message", "hi", "--provider", provider],
        ));
        assert_eq!(spans["body_bytes"], body.len());
        let spans = spans["spans"].as_array().unwrap();
        assert_eq!(spans.len(), fragments["fragments"].as_array().unwrap().len());
        for span in spans {
            let at = |end: &str| usize::try_from(span["range"][end].as_u64().unwrap()).unwrap();
            let text: String =
                serde_json::from_str(&format!("\"{}\"", &body[at("start")..at("end")])).unwrap();
            let row = fragments["fragments"]
                .as_array()
                .unwrap()
                .iter()
                .find(|row| row["key"] == span["key"]);
            assert_eq!(row.unwrap()["bytes"], text.len(), "{}", span["key"]);
        }
    }
}

#[test]
fn blocks_show_the_boundary_that_no_body_has() {
    let place = monorepo();
    let boundary = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";
    assert!(assemble(&place, &["--view", "blocks"]).out.contains(boundary));
    for view in ["text", "prefix", "request"] {
        assert!(
            !assemble(&place, &["--view", view, "--message", "hi"])
                .out
                .contains(boundary),
            "{view}"
        );
    }
}

#[test]
fn a_custom_prompt_replaces_the_default_and_keeps_the_project() {
    let place = monorepo();
    let page = json(&assemble(
        &place,
        &[
            "--json",
            "--message",
            "hi",
            "--system-prompt",
            "Be X.",
            "--append-system-prompt",
            "And Y.",
        ],
    ));
    let keys: Vec<&str> = page["fragments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["key"].as_str().unwrap())
        .collect();
    let expected = [
        "prompt:custom",
        "prompt:append.0000",
        "context:AGENTS.md",
        "context:packages/api/AGENTS.md",
        "context:snapshot",
        "context:working-directory",
        "context:date",
        "context:git",
        "context:snapshot.end",
        "message:0.0",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn a_prompt_without_a_message_has_views_and_no_body() {
    let place = Place::new();
    let none = [
        "assemble",
        "--mode",
        "none",
        "--instructions",
        "none",
        "-c",
        "git_status_deadline_ms=0",
    ];
    let prefix = place.bindery_in("home/repo", &[&none[..], &["--view", "prefix"]].concat());
    assert_eq!((prefix.code, prefix.out.as_str()), (0, ""), "{}", prefix.err);
    let body = place.bindery_in("home/repo", &[&none[..], &["--view", "request"]].concat());
    assert_eq!(body.code, 2, "{}", body.out);
    assert!(body.err.contains("`--message TEXT`"), "{}", body.err);
}

#[test]
fn what_nobody_set_is_shown_as_it_is_used() {
    let place = Place::new();
    let shown = place.bindery_in(
        "home/repo",
        &["assemble", "--explain-config", "--provider", "deepseek"],
    );
    assert!(
        shown
            .out
            .contains("model = not set; \"deepseek-flash\" is used\n"),
        "{}",
        shown.out
    );
    assert!(
        shown.out.contains("max_tokens = not set; 32000 is used\n"),
        "{}",
        shown.out
    );
}

#[test]
fn another_makers_model_is_noted_and_a_pasted_boundary_refused() {
    let place = Place::new();
    let call = [
        "assemble",
        "--provider",
        "openai",
        "--model",
        "claude-opus-5",
        "--message",
        "hi",
    ];
    let noted = place.bindery_in("home/repo", &call);
    assert_eq!(noted.code, 0, "{}", noted.err);
    insta::assert_snapshot!(noted.err);
    let pasted = place.bindery_in(
        "home/repo",
        &[
            "assemble",
            "--append-system-prompt",
            "One.\n__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__\nTwo.",
        ],
    );
    assert_eq!(pasted.code, 2);
    insta::assert_snapshot!(pasted.err);
}
