//! `why`, `simulate`, `plan`, `import`, `diff` and `models`, as people and scripts meet them.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::place::Place;

/// A trace of two requests whose prompts begin with the time.
fn clock() -> String {
    let request = |second: u64, messages: Value| {
        let system = format!("It is 08:00:{second:02} now. {}", "You are careful. ".repeat(400));
        let body = json!({
            "model": "claude-opus-4-8",
            "system": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
            "messages": messages,
        });
        json!({"at_ms": 1_795_996_800_000_u64 + second * 1000, "body": body}).to_string()
    };
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let first = request(1, json!([{"role": "user", "content": text("hi")}]));
    let second = request(
        20,
        json!([{"role": "user", "content": text("hi")}, {"role": "assistant", "content": text("yes")},
               {"role": "user", "content": text("go on")}]),
    );
    format!("{first}\n{second}\n")
}

/// A transcript of Claude Code: two requests an hour apart, a torn line and one that is no object.
fn transcript() -> String {
    let line = |kind: &str, id: &str, parent: &str, at: &str, message: &Value| {
        let mut line = json!({"type": kind, "uuid": id, "parentUuid": parent, "isSidechain": false,
            "sessionId": "5F0C-one", "version": "2.1.197", "timestamp": at, "message": message});
        if kind == "assistant" {
            line["requestId"] = json!(format!("req_{id}"));
        }
        format!("{line}\n")
    };
    let answer = |id: &str, read: u64, written: u64| {
        json!({"id": id, "model": "claude-opus-4-8", "content": [{"type": "text", "text": "done"}],
            "usage": {"input_tokens": 3, "cache_read_input_tokens": read,
                "cache_creation_input_tokens": written, "output_tokens": 20,
                "cache_creation": {"ephemeral_5m_input_tokens": written}}})
    };
    [
        line(
            "user",
            "u1",
            "",
            "2026-11-30T08:00:00Z",
            &json!({"role": "user", "content": "fix it"}),
        ),
        line(
            "assistant",
            "a1",
            "u1",
            "2026-11-30T08:00:04Z",
            &answer("m1", 0, 30_000),
        ),
        "{\"type\":\"user\",\"uuid\":\"u2\",\"mess\n".to_owned(),
        "[]\n".to_owned(),
        line(
            "user",
            "u3",
            "a1",
            "2026-11-30T08:30:00Z",
            &json!({"role": "user", "content": "and the docs"}),
        ),
        line(
            "assistant",
            "a3",
            "u3",
            "2026-11-30T08:30:05Z",
            &answer("m2", 0, 30_050),
        ),
    ]
    .concat()
}

#[test]
fn a_miss_is_explained_on_a_page() {
    let place = Place::new();
    place.write("home/repo/t.jsonl", clock());
    let ran = place.bindery(&["why", "--all", "t.jsonl"]);
    assert_eq!((ran.code, &*ran.err), (1, ""));
    insta::assert_snapshot!(ran.out);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80));
    let worst = place.bindery(&["why", "--worst", "t.jsonl"]);
    assert!(worst.out.contains("request 2  system changed"), "{}", worst.out);
    let first = place.bindery(&["why", "--request", "1", "t.jsonl"]);
    assert_eq!(first.code, 0, "a cold start is nothing to mend");
    let colored = place.bindery(&["--color", "always", "why", "t.jsonl"]);
    assert!(colored.out.contains("\u{1b}["));
}

#[test]
fn two_bodies_are_a_trace_without_times() {
    let place = Place::new();
    let bodies: Vec<Value> = clock()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (name, line) in ["a.json", "b.json"].into_iter().zip(&bodies) {
        // Over several lines, as an editor saves it.
        place.write(
            &format!("home/repo/{name}"),
            serde_json::to_string_pretty(&line["body"]).unwrap(),
        );
    }
    let ran = place.bindery(&["why", "a.json", "b.json"]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!([ran.out, ran.err].join("---\n"));
    let list = serde_json::to_string(&bodies.iter().map(|line| &line["body"]).collect::<Vec<_>>()).unwrap();
    place.write("home/repo/list.json", list);
    let ran = place.bindery(&["why", "list.json"]);
    assert!(ran.out.contains("where     list.json[1]"), "{}", ran.out);
    let diff = place.bindery(&["diff", "a.json", "b.json"]);
    assert_eq!(diff.code, 1);
    insta::assert_snapshot!(diff.out);
    assert_eq!(place.bindery(&["diff", "a.json", "a.json"]).code, 0);
}

#[test]
fn a_transcript_becomes_a_session_that_says_what_is_unknown() {
    let place = Place::new();
    place.write("home/repo/logs/one.jsonl", transcript());
    let ran = place.bindery(&["import", "claude-code", "logs"]);
    assert_eq!(ran.code, 1, "two lines were passed over");
    insta::assert_snapshot!([ran.out, ran.err].join("---\n"));
    let why = place.bindery(&["why", "--all", "5f0c-one"]);
    insta::assert_snapshot!(why.out);
    let straight = place.bindery(&["why", "--all", "logs/one.jsonl"]);
    let table = |out: &str| {
        out.lines()
            .skip(1)
            .take_while(|line| !line.starts_with("request"))
            .count()
    };
    assert_eq!(
        table(&straight.out),
        table(&why.out),
        "a file is read as its session is"
    );
    // What a longer lifetime would have saved.
    let simulated = place.bindery(&["simulate", "5f0c-one", "--each"]);
    insta::assert_snapshot!(simulated.out);
    let again = place.bindery(&["import", "claude-code", "logs"]);
    assert!(
        again.err.contains("session 5f0c-one is there already"),
        "{}",
        again.err
    );
    let renamed = place.bindery(&["import", "claude-code", "logs/one.jsonl", "--to", "two"]);
    assert!(
        renamed.out.starts_with("session two: 2 requests"),
        "{}",
        renamed.out
    );
    let exported = place.bindery(&["log", "export", "two", "two.jsonl"]);
    assert_eq!(exported.code, 0);
    let read = place.bindery(&["why", "--all", "two.jsonl"]);
    assert!(read.out.contains("expired after 30 min"), "{}", read.out);
}

#[test]
fn a_drawing_has_a_bar_for_each_request() {
    let place = Place::new();
    place.write("home/repo/t.jsonl", clock());
    let ran = place.bindery(&["simulate", "t.jsonl", "--svg", "t.svg", "--policy", "as-recorded"]);
    assert_eq!(ran.code, 0);
    let svg = std::fs::read_to_string(place.path("home/repo/t.svg")).unwrap();
    assert_eq!(svg.matches("<g><title>request").count(), 2);
    insta::assert_snapshot!(svg);
    let nowhere = place.bindery(&["simulate", "t.jsonl", "--svg", "no/such/place.svg"]);
    assert_eq!(nowhere.code, 3, "{}", nowhere.err);
}

#[test]
fn a_plan_prices_what_may_come() {
    let place = Place::new();
    place.write("home/repo/t.jsonl", transcript());
    let arguments = [
        "plan",
        "t.jsonl",
        "--after",
        "1",
        "--compact",
        "--model",
        "claude-sonnet-5",
        "--effort",
        "low",
    ];
    insta::assert_snapshot!(place.bindery(&arguments).out);
    let late = place.bindery(&["plan", "t.jsonl", "--after", "10", "--resume"]);
    insta::assert_snapshot!([late.out, late.err].join("---\n"));
    let fresh: Value = serde_json::from_str(&place.bindery(&["plan", "--json"]).out).unwrap();
    assert_eq!(
        (&fresh["cases"][0]["case"], &fresh["requests"]),
        (&json!("first"), &json!(0))
    );
    assert!(fresh["cases"][0]["usage"]["write_5m"].as_u64().unwrap() > 512);
}

#[test]
fn a_session_of_ours_is_planned_and_explained() {
    let place = Place::new();
    place.write("home/repo/AGENTS.md", "# Rules\n\nBe brief.\n");
    assert_eq!(
        place.bindery(&["run", "--provider", "sim", "look around"]).code,
        0
    );
    let why: Value = serde_json::from_str(&place.bindery(&["why", "--all", "--json"]).out).unwrap();
    let verdicts: Vec<&Value> = why["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["verdict"])
        .collect();
    assert_eq!(verdicts.first(), Some(&&json!("cold")));
    assert!(
        verdicts.iter().skip(1).all(|verdict| *verdict == "hit"),
        "{verdicts:?}"
    );
    let plan: Value = serde_json::from_str(&place.bindery(&["plan", "--resume", "--json"]).out).unwrap();
    let of = |name: &str, class: &str| {
        let cases = plan["cases"].as_array().unwrap();
        let case = cases.iter().find(|case| case["case"] == name).unwrap();
        case["usage"][class].as_u64().unwrap()
    };
    assert!(of("resume_pinned", "read") > of("resume_pinned", "write_5m"));
    assert_eq!(
        of("resume_refreshed", "read"),
        of("resume_pinned", "read"),
        "nothing changed here"
    );
    place.write(
        "home/.config/bindery/sections/environment.md",
        "---\ngroup: dynamic\norder: 100\n---\nAnother.\n",
    );
    let plan: Value = serde_json::from_str(&place.bindery(&["plan", "--resume", "--json"]).out).unwrap();
    let read = |name: &str| {
        let cases = plan["cases"].as_array().unwrap();
        cases.iter().find(|case| case["case"] == name).unwrap()["usage"]["read"]
            .as_u64()
            .unwrap()
    };
    assert!(read("resume_refreshed") < read("resume_pinned"), "{plan}");
}

#[test]
fn prices_are_read_from_public_lists() {
    let place = Place::new();
    let list = json!({
        "sample_spec": {},
        "claude-opus-4-8": {"input_cost_per_token": 4e-06, "output_cost_per_token": 2e-05, "mode": "chat"},
        "embedder": {"input_cost_per_token": 1e-07, "output_cost_per_token": 0, "mode": "embedding"},
    });
    place.write("home/repo/list.json", list.to_string());
    let printed = place.bindery(&["models", "import", "list.json", "--source", "a list", "--print"]);
    insta::assert_snapshot!([printed.out, printed.err].join("---\n"));
    let saved = place.bindery(&["models", "import", "list.json", "--source", "a list"]);
    assert!(saved.out.contains("1 prices are in"), "{}", saved.out);
    let listed = place.bindery(&["models", "list", "opus-4-8"]);
    insta::assert_snapshot!(listed.out);
    assert_eq!(place.bindery(&["models", "list", "no-such"]).code, 1);
    place.write("home/repo/t.jsonl", clock());
    let with: Value = serde_json::from_str(&place.bindery(&["why", "t.jsonl", "--json"]).out).unwrap();
    assert_ne!(
        with["requests"][0]["cost"]["written"],
        json!("0"),
        "written costs what input costs"
    );
}

#[test]
fn windows_are_read_from_public_lists() {
    let place = Place::new();
    let model =
        json!({"input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06, "max_input_tokens": 777});
    let list = json!({"my-own-model": model, "azure/my-own-model": model, "claude-opus-4-8": model});
    place.write("home/repo/list.json", list.to_string());
    let import = ["models", "import", "list.json", "--source", "a list"];
    let printed = place.bindery(&[&import[..], &["--print", "windows", "--only", "my-"]].concat());
    insta::assert_snapshot!(printed.out, @r#"
    version = 1
    source = "a list"
    read = "2026-11-30"

    [[window]]
    tokens = 777
    prefixes = ["my-own-model"]
    "#);
    let saved = place.bindery(&import);
    assert!(saved.out.contains("2 windows are in"), "{}", saved.out);
    let listed = place.bindery(&["models", "list", "my-own", "--json"]);
    let listed: Value = serde_json::from_str(&listed.out).unwrap();
    assert_eq!(listed["models"][0]["window"], 777, "{listed}");
}

/// Every command that reads requests, with a place for the file.
fn readers(file: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["why", file],
        vec!["why", "--all", "--json", file],
        vec!["simulate", file],
        vec!["plan", file],
        vec!["diff", file, file],
        vec!["import", "jsonl", file],
        vec!["import", "claude-code", file],
        vec!["import", "codex", file],
        vec!["models", "import", file],
    ]
}

#[test]
fn bad_files_are_told_and_never_a_fall() {
    let place = Place::new();
    let whole = clock();
    place.write("home/repo/empty", "");
    place.write("home/repo/blank", "\n\n  \n");
    place.write("home/repo/zeros", [0_u8; 5000]);
    place.write(
        "home/repo/latin",
        b"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"\xe9\xff\"}]}\n",
    );
    place.write("home/repo/torn", &whole[..700]);
    place.write("home/repo/deep", "[".repeat(200_000));
    place.write("home/repo/number", "7\n");
    place.write("home/repo/words", "not json at all\nnor this\n");
    place.write("home/repo/bom", format!("\u{feff}{whole}"));
    place.write("home/repo/crlf", whole.replace('\n', "\r\n"));
    let mut told = String::new();
    for file in [
        "empty", "blank", "zeros", "latin", "torn", "deep", "number", "words", "bom", "crlf", "missing", ".",
    ] {
        for arguments in readers(file) {
            let ran = place.bindery(&arguments);
            assert!(
                (0..=3).contains(&ran.code),
                "{arguments:?}: {} {}",
                ran.code,
                ran.err
            );
            assert!(!ran.err.contains("panicked"), "{arguments:?}: {}", ran.err);
            assert!(
                ran.code == 0 || !ran.err.is_empty() || !ran.out.is_empty(),
                "{arguments:?} says nothing"
            );
            if arguments.len() == 2 && arguments[0] == "why" {
                let first = ran.err.lines().next().unwrap_or("-").to_owned();
                told.extend([file, ": ", &ran.code.to_string(), " ", &first, "\n"]);
            }
        }
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_reader_that_goes_away_and_two_at_once_are_no_trouble() {
    let place = Place::new();
    place.write("home/repo/t.jsonl", clock().repeat(200));
    let mut child = place
        .command("home/repo", &["why", "--all", "t.jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );

    let importing: Vec<_> = (0..2)
        .map(|_| {
            place
                .command("home/repo", &["import", "jsonl", "t.jsonl", "--to", "same"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let ended: Vec<_> = importing
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .collect();
    let won = ended.iter().filter(|out| out.status.success()).count();
    assert_eq!(
        won,
        1,
        "{:?}",
        ended
            .iter()
            .map(|out| String::from_utf8_lossy(&out.stderr))
            .collect::<Vec<_>>()
    );
    let shown = place.bindery(&["why", "same", "--json"]);
    assert!(shown.out.contains("\"requests_read\": 400"), "{}", shown.err);
}
