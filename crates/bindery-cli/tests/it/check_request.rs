//! `bindery check --request`: what a provider would refuse in anybody's body.

use serde_json::{Value, json};

use crate::place::Place;

fn place(body: &Value) -> Place {
    let place = Place::new();
    place.write("home/repo/body.json", body.to_string());
    place
}

/// A body with what users were refused for: a call without result, a mark that rises, blank text.
fn broken() -> Value {
    json!({
        "model": "claude-opus-5", "max_tokens": 64,
        "tools": [{"name": "read", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}],
        "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        "messages": [
            {"role": "user", "content": " "},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {}}]},
            {"role": "user", "content": [{"type": "text", "text": "and?"}]},
        ],
    })
}

#[test]
fn what_is_refused_is_told_with_place_and_mend() {
    let ran = place(&broken()).bindery(&["check", "--request", "body.json"]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(format!("{}---\n{}", ran.out, ran.err));
}

#[test]
fn a_sound_body_passes_by_its_shape_and_by_name() {
    let body = json!({"model": "m", "input": [{"role": "user", "content": "hi"}]});
    let ran = place(&body).bindery(&["check", "--request", "body.json"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert_eq!(
        ran.err,
        "body.json: nothing that is known to be refused (openai-responses, by its shape)\n"
    );
    // The same bytes under another provider's rules.
    let ran = place(&body).bindery(&[
        "check",
        "--request",
        "body.json",
        "--provider",
        "deepseek",
        "--json",
    ]);
    assert_eq!(ran.code, 1);
    let page: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(page["schema"], "bindery.check-request/1");
    assert_eq!(page["requests"][0]["problems"][0]["rule"], "request-no-messages");
    assert_eq!(page["requests"][0]["guessed"], false);
}

#[test]
fn machines_get_sarif_and_annotations() {
    let place = place(&broken());
    let ran = place.bindery(&["check", "--request", "body.json", "--format", "sarif"]);
    let page: Value = serde_json::from_str(&ran.out).unwrap();
    let results = page["runs"][0]["results"].as_array().unwrap();
    assert!(
        results.iter().any(|one| one["ruleId"] == "request-mark-order"),
        "{results:#?}"
    );
    let ran = place.bindery(&["check", "--request", "body.json", "--format", "github"]);
    assert!(
        ran.out.starts_with("::error file=body.json,title=request-"),
        "{}",
        ran.out
    );
}

#[test]
fn what_is_no_request_is_the_callers_to_mend() {
    let place = Place::new();
    place.write("home/repo/empty.json", "");
    place.write("home/repo/list.json", "[1]");
    place.write("home/repo/gemini.json", r#"{"contents": []}"#);
    place.write("home/repo/binary.json", b"\xff\xfe{}".as_slice());
    for (file, said) in [
        ("empty.json", "no JSON"),
        ("list.json", "not recognised"),
        ("gemini.json", "Gemini"),
        ("binary.json", "no UTF-8"),
    ] {
        let ran = place.bindery(&["check", "--request", file]);
        assert_eq!(ran.code, 2, "{file}: {}", ran.err);
        assert!(ran.err.contains(said), "{file}: {}", ran.err);
    }
    assert_eq!(place.bindery(&["check", "--request", "missing.json"]).code, 3);
    assert_eq!(place.bindery(&["check", "--provider", "openai"]).code, 2);
}

#[test]
fn every_code_has_its_row_in_the_page() {
    let page = include_str!("../../../../docs/requests.md");
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| `request-"))
        .collect();
    for rule in bindery_wire::ShapeRule::ALL {
        let row = format!("| `{}` |", rule.code());
        assert!(rows.iter().any(|line| line.starts_with(&row)), "{row}");
    }
    assert_eq!(rows.len(), bindery_wire::ShapeRule::ALL.len());
}
