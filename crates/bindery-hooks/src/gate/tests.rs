use serde_json::{Map, Value, json};

use super::*;

fn gates() -> Gates {
    let settings = json!({
        "gate": [
            {"name": "memory before edits", "require": "memory.loaded", "tools": "edit|write", "paths": ["src/**"],
             "message": "Read what is known first."},
            {"name": "tests before the end", "require": ["tests.passed"], "stop": true}
        ],
        "state": [
            {"name": "memory.loaded", "retrieve": ["memory/*.md"], "when": "refused"},
            {"name": "tests.passed", "tool": "shell", "input": "cargo test", "expires": {"tools": "edit|write"}}
        ]
    });
    Gates::parse(Owner::User, "bindery.toml", &settings).unwrap()
}

fn call<'a>(name: &'a str, input: &'a Map<String, Value>) -> Action<'a> {
    Action::Tool {
        name,
        input,
        cwd: "/p",
        root: "/p",
    }
}

fn fields(input: &Value) -> Map<String, Value> {
    input.as_object().unwrap().clone()
}

#[test]
fn a_gate_keeps_back_what_it_names_under_every_clients_name_and_nothing_else() {
    let gates = gates();
    let source = fields(&json!({"file_path": "/p/src/a.rs"}));
    let other = fields(&json!({"path": "docs/a.md"}));
    let patch = fields(&json!({"command": "*** Begin Patch\n*** Update File: src/x.rs\n"}));
    let unknown = fields(&json!({"whatever": 1}));
    for (name, input, refused) in [
        ("edit", &source, true),
        ("Edit", &source, true),
        ("NotebookEdit", &source, true),
        ("apply_patch", &patch, true),
        ("edit", &unknown, true),
        ("edit", &other, false),
        ("read", &source, false),
        ("Bash", &source, false),
    ] {
        let refusing = gates.refusing(call(name, input), |_| false);
        assert_eq!(!refusing.is_empty(), refused, "{name} {input:?}");
        assert!(gates.refusing(call(name, input), |_| true).is_empty());
    }
    let stop = gates.refusing(Action::Stop, |_| false);
    assert_eq!(stop.len(), 1);
    let told = refusal(&gates, &gates.refusing(call("edit", &source), |_| false));
    insta::assert_snapshot!(format!("{told}\n{}", refusal(&gates, &stop)), @"
    `memory before edits` requires `memory.loaded`: it holds once memory/*.md was shown.
    Read what is known first.
    `tests before the end` requires `tests.passed`: it holds once a call of `shell` matching `cargo test` succeeded.
    ");
}

#[test]
fn tools_set_states_when_they_succeed_and_end_them() {
    let gates = gates();
    let test = fields(&json!({"command": "cargo test -q"}));
    let edit = fields(&json!({"path": "src/a.rs"}));
    let changes = |action, failed, holds: bool| -> Vec<(String, bool)> {
        let changes = gates.after(action, failed, |_| holds);
        changes.into_iter().map(|one| (one.state, one.holds)).collect()
    };
    let passed = || vec![("tests.passed".to_owned(), true)];
    assert_eq!(changes(call("Bash", &test), false, false), passed());
    assert_eq!(changes(call("Bash", &test), true, false), []);
    assert_eq!(
        changes(call("Edit", &edit), true, true),
        [("tests.passed".to_owned(), false)]
    );
    assert_eq!(changes(call("Edit", &edit), false, false), []);
}

#[test]
fn the_harness_retrieves_what_is_asked_for_when_it_is() {
    let gates = gates();
    let names = |when, missing: Option<&[&str]>, holds: bool| -> Vec<String> {
        let all = gates.retrievals(when, missing, |_| holds);
        all.iter().map(|one| one.state.name.clone()).collect()
    };
    assert_eq!(names(When::Start, None, false), [""; 0]);
    assert_eq!(
        names(When::Refused, Some(&["memory.loaded"]), false),
        ["memory.loaded"]
    );
    assert_eq!(names(When::Refused, Some(&["tests.passed"]), false), [""; 0]);
    assert_eq!(names(When::Refused, None, true), [""; 0]);
}

#[test]
fn what_is_no_gate_is_an_error_with_its_place() {
    let settings = json!({
        "gate": [{"require": "x"}, {"require": [], "stop": true}, {"require": "a b", "stop": true},
                 {"require": "x", "tools": "("}, {"require": "x", "paths": "a{", "stop": true},
                 {"require": "x", "stop": true, "colour": 1}],
        "state": [{"name": "x", "retrieve": "a", "tool": "b"}, {"name": "x", "expires": "soon"}, {"name": ""}]
    });
    let bad = Gates::parse(Owner::User, "bindery.toml", &settings).unwrap_err();
    let told: Vec<String> = bad.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(told.join("\n"));
    assert!(Gates::parse(Owner::User, "f", &json!({"gate": 1})).is_err());
}
