//! Sessions that outgrow their window, at the command line.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::process::{Command, Stdio};

use bindery_loopback::{Piece, Protocol, Reply, Say, Server};
use serde_json::{Value, json};
use wait4::Wait4 as _;

use crate::place::{Place, Ran};
use crate::run::{events, kinds, run_beside, verify};

/// A place with a file that no conversation can hold, and a line in its middle.
fn place() -> Place {
    let place = Place::new();
    let mut log = String::new();
    for line in 0..30_000 {
        let _ = writeln!(log, "{line} INFO building unit {line} of the tree");
        if line == 15_000 {
            log.push_str("needle: port 8081 was taken\n");
        }
    }
    place.write("home/repo/README.md", log);
    place
}

#[test]
fn a_large_file_is_read_by_reference_and_what_was_summarised_can_be_read() {
    let place = place();
    let run = |arguments: &[&str]| {
        let base = ["run", "--provider", "sim", "--session", "s", "--window", "16000"];
        place.bindery(&[&base[..], arguments].concat())
    };
    let ran = run(&["Goal: find the port\nNever push."]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("30001 lines") || ran.err.contains("30001 lines"),
        "{}{}",
        ran.out,
        ran.err
    );
    let ran = run(&["--compact", "And now?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("items of the ledger stand word for word"),
        "{}",
        ran.err
    );
    let request = place.bindery(&["replay", "s", "--at", "4"]);
    assert!(
        request.out.contains("Never push.") && request.out.contains("find the port"),
        "{}",
        request.out
    );
    assert!(request.out.len() < 40_000, "{}", request.out.len());
    let before = place.bindery(&["log", "show", "s", "--before-compaction"]);
    assert!(before.out.starts_with("── user, event "), "{}", before.out);
    assert!(before.out.contains("30001 lines, "), "{}", before.out);
    let verified = place.bindery(&["replay", "s", "--verify"]);
    assert_eq!(verified.code, 0, "{}", verified.out);
}

#[test]
fn the_experiment_passes_and_says_the_same_twice() {
    let place = Place::new();
    let arguments = [
        "experiment",
        "occupancy",
        "--levels",
        "40",
        "--json",
        "--svg",
        "o.svg",
    ];
    let ran = place.bindery(&arguments);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let page: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(page["schema"], "bindery.occupancy/1");
    let ours = &page["outcomes"][2];
    assert_eq!(
        (&ours["policy"], &ours["success"]),
        (&"bindery".into(), &true.into())
    );
    assert_eq!(ours["lost"], serde_json::json!([]));
    assert_eq!(ours["references"], ours["recovered"]);
    assert_eq!(ours["refused"], 0);
    assert_eq!(page["outcomes"][0]["success"], false);
    let svg = std::fs::read_to_string(place.path("home/repo/o.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(place.bindery(&arguments).out, ran.out);
}

#[test]
fn the_experiment_passes_in_smaller_windows_too() {
    let place = Place::new();
    for window in ["30000", "200000"] {
        let ran = place.bindery(&["experiment", "occupancy", "--window", window]);
        assert_eq!(ran.code, 0, "{window}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains("passes: nothing lost"), "{}", ran.out);
    }
}

#[test]
fn a_window_that_cannot_hold_the_log_is_the_callers_to_mend() {
    let place = Place::new();
    let too_much = [
        "experiment",
        "occupancy",
        "--window",
        "100000",
        "--log-tokens",
        "120000",
    ];
    let ran = place.bindery(&too_much);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("take one of 400000"), "{}", ran.err);
    assert_eq!(
        place
            .bindery(&["experiment", "occupancy", "--model", "nobody"])
            .code,
        2
    );
    assert_eq!(place.bindery(&["run", "--compact-at", "2", "x"]).code, 2);
}

#[tokio::test]
async fn the_experiment_asks_a_provider_that_is_named_and_lets_it_count() {
    for (provider, protocol) in [
        ("anthropic", Protocol::Anthropic),
        ("openai", Protocol::Responses),
        ("openai-chat", Protocol::Chat),
        ("deepseek", Protocol::Deepseek),
    ] {
        let answers = (0..40).map(|_| Reply::stream(protocol, &[Say::text("As you say.")]));
        let server = Server::start(answers).await.unwrap();
        let url = format!("{}/v1", server.url());
        let arguments = format!(
            "experiment occupancy --levels 40 --window 30000 --steps 2 --json --provider {provider} --base-url {url}"
        );
        let arguments = arguments.split(' ').map(str::to_owned).collect();
        let (_, ran) = run_beside(place(), arguments).await;
        let page: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
        assert_eq!(page["simulated"], false);
        let asked = server.received().len() as u64;
        assert!(asked >= 9, "{provider}: {asked}");
        let ours = &page["outcomes"][2];
        assert_eq!(
            (&ours["success"], &ours["injected"]),
            (&true.into(), &false.into()),
            "{ours}"
        );
        let input = |at: usize| page["outcomes"][at]["input"].as_u64().unwrap();
        let said = input(0) + input(1) + input(2);
        assert!(
            said > 0 && said.is_multiple_of(asked),
            "{provider}: each answer counts the same"
        );
    }
    let refused = place().bindery(&["experiment", "occupancy", "--provider", "anthropic"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("there is no key for anthropic"),
        "{}",
        refused.err
    );
}

/// What a model on loopback is asked to do, in a session of its own.
fn beside(server: &Server, prompt: &str, more: &[&str]) -> Vec<String> {
    let url = format!("{}/v1", server.url());
    let mut all = vec![
        "run",
        prompt,
        "--session",
        "s",
        "--provider",
        "anthropic",
        "--base-url",
        &url,
    ];
    all.extend(["--backoff-ms", "0"]);
    all.extend(more);
    all.into_iter().map(str::to_owned).collect()
}

async fn says(place: Place, server: &Server, prompt: &str, more: &[&str]) -> (Place, Ran) {
    let (place, ran) = run_beside(place, beside(server, prompt, more)).await;
    assert_eq!(ran.code, 0, "{prompt}: {}{}", ran.out, ran.err);
    (place, ran)
}

fn answer(text: &str) -> Reply {
    Reply::stream(Protocol::Anthropic, &[Say::text(text)])
}

/// The session's model is asked for the record and never answers; then the process is killed.
#[tokio::test]
async fn a_process_that_is_killed_in_a_compaction_leaves_the_old_surface() {
    let told: Vec<String> = (0..4)
        .map(|turn| format!("{turn} {}", "word ".repeat(900)))
        .collect();
    let server = Server::start(told.iter().map(|text| answer(text))).await.unwrap();
    let mut place = Place::new();
    for turn in 0..4 {
        let prompt = format!("Goal: find the port\nQuestion {turn}");
        (place, _) = says(place, &server, &prompt, &[]).await;
    }
    let half = Reply::stream(Protocol::Anthropic, &[Say::text("The record"), Say::text("x")]);
    server.queue(half.then(4, [Piece::Hang]));
    let small = ["--window", "6000", "--compact-at", "0.3", "--summary-by", "model"];
    let arguments = beside(&server, "And now?", &[&small[..], &["--json"]].concat());
    let (place, seen) = killed_at("\"text-delta\"", place, arguments).await;
    assert!(
        seen.iter().all(|line| !line.contains("surface_replaced")),
        "{seen:?}"
    );
    let asked = String::from_utf8_lossy(&server.received().last().unwrap().body).into_owned();
    assert!(
        asked.contains("compaction") || asked.contains("record"),
        "{asked}"
    );
    // Everything that was said is said again, word for word.
    server.queue(answer("8081."));
    let (place, _) = says(place, &server, "Go on.", &[]).await;
    let request = server.received().last().unwrap().body.clone();
    let request = String::from_utf8_lossy(&request);
    for text in &told {
        assert!(request.contains(text.trim_end()), "{}", &text[..8]);
    }
    let all = events(&place, "s");
    assert!(!kinds(&all).contains(&"surface_replaced"), "{:?}", kinds(&all));
    verify(&place, "s");
    // And the session can be compacted as if nothing had been.
    server.queue(answer("The record is this."));
    server.queue(answer("Still 8081."));
    let (place, _) = says(place, &server, "And?", &small).await;
    let all = events(&place, "s");
    let replaced = kinds(&all)
        .iter()
        .filter(|kind| **kind == "surface_replaced")
        .count();
    assert_eq!(replaced, 1);
    verify(&place, "s");
}

/// Runs the binary until it prints a line with these words, and kills it there.
async fn killed_at(words: &'static str, place: Place, arguments: Vec<String>) -> (Place, Vec<String>) {
    let work = move || {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = place.command("home/repo", &arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut seen: Vec<String> = Vec::new();
        for line in lines.map(Result::unwrap) {
            let is_it = line.contains(words);
            seen.push(line);
            if is_it {
                break;
            }
        }
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().code(), None);
        (place, seen)
    };
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// The bytes of the log that the session reads.
const LOG: u64 = 100 << 20;

/// A log with a line in its middle that nobody could find by its beginning or its end.
fn write_log(place: &Place) {
    let file = std::fs::File::create(place.path("home/repo/build.log")).unwrap();
    let mut file = BufWriter::with_capacity(1 << 20, file);
    let filler = "[ 0042] compiling a unit of the tree into an object of the tree\n".repeat(1_000);
    let half = LOG / 2 / filler.len() as u64;
    for _ in 0..half {
        file.write_all(filler.as_bytes()).unwrap();
    }
    file.write_all(b"linkd[4471]: port 8081 is held by pid 902\n")
        .unwrap();
    for _ in 0..half {
        file.write_all(filler.as_bytes()).unwrap();
    }
}

/// The most memory that a run has, in bytes.
async fn peak(place: Place, arguments: Vec<String>) -> (Place, u64) {
    let work = move || {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command: Command = place.command("home/repo", &arguments);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let used = command.spawn().unwrap().wait4().unwrap();
        assert!(used.status.success(), "{arguments:?}");
        (place, used.rusage.maxrss)
    };
    tokio::task::spawn_blocking(work).await.unwrap()
}

fn calls(tool: &str, input: &Value) -> Reply {
    Reply::stream(Protocol::Anthropic, &[Say::call("c1", tool, input)])
}

#[tokio::test]
async fn a_line_in_the_middle_of_a_hundred_megabytes_is_found_after_compaction() {
    let server = Server::start([]).await.unwrap();
    let place = Place::new();
    write_log(&place);
    place.write("home/repo/small.log", "make: done\n");
    let read = |server: &Server, path: &str| {
        server.queue(calls("read", &json!({ "path": path })));
        server.queue(answer("I have read it."));
    };
    read(&server, "small.log");
    let (place, base) = peak(place, beside(&server, "Read the small log", &[])).await;
    read(&server, "build.log");
    let (place, peak) = peak(place, beside(&server, "Read the build log to its end", &[])).await;
    assert!(peak < base + (30 << 20), "{peak} beside {base}");
    let received = server.received();
    let digest = String::from_utf8_lossy(&received.last().unwrap().body).into_owned();
    assert!(!digest.contains("port 8081"), "a digest does not hold the middle");
    let mut named = digest.split("blob:").skip(1).filter_map(|rest| rest.get(..16));
    let is_hash = |text: &&str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let reference = named.find(is_hash).unwrap().to_owned();
    for _ in 0..3 {
        server.queue(answer(&"Nothing of note. ".repeat(200)));
    }
    let mut place = place;
    for _ in 0..3 {
        (place, _) = says(place, &server, "Say more.", &[]).await;
    }
    server.queue(calls(
        "retrieve",
        &json!({"reference": format!("blob:{reference}"), "match": "is held by"}),
    ));
    server.queue(answer("pid 902"));
    let (place, _) = says(
        place,
        &server,
        "Who held the port?",
        &["--window", "16000", "--compact"],
    )
    .await;
    let received = server.received();
    let [.., asked, found] = &received[..] else {
        panic!()
    };
    let asked = String::from_utf8_lossy(&asked.body);
    assert!(asked.contains(&format!("blob:{reference}")), "{asked}");
    assert!(!asked.contains("I have read it.\n\n"), "{asked}");
    assert!(
        String::from_utf8_lossy(&found.body).contains("linkd[4471]: port 8081 is held by pid 902"),
        "{}",
        String::from_utf8_lossy(&found.body)
    );
    assert!(kinds(&events(&place, "s")).contains(&"surface_replaced"));
    verify(&place, "s");
}

#[tokio::test]
async fn the_providers_count_is_asked_for_and_the_error_of_ours_is_shown() {
    let counted = Reply::raw(200, "application/json", r#"{"input_tokens": 2000}"#);
    let server = Server::start([counted]).await.unwrap();
    let url = server.url();
    let ask = |more: &[&str]| -> Vec<String> {
        let base = ["assemble", "--message", "hi", "--count", "provider"];
        [&base[..], more]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect()
    };
    let (place, ran) = run_beside(Place::new(), ask(&["--base-url", &url, "--view", "request"])).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("counted by anthropic: 2,000 tokens; here: ~"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains(" % "), "{}", ran.err);
    let received = server.received();
    assert_eq!(received[0].path, "/v1/messages/count_tokens");
    let asked: Value = serde_json::from_slice(&received[0].body).unwrap();
    let sent: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(asked["messages"], sent["messages"]);
    assert!(asked.get("max_tokens").is_none());
    let (place, ran) = run_beside(place, ask(&["--base-url", &url])).await;
    assert_eq!(ran.code, 3, "the server has no more to say: {}", ran.err);
    let (place, ran) = run_beside(place, ask(&["--provider", "deepseek"])).await;
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("deepseek has no endpoint that counts tokens"),
        "{}",
        ran.err
    );
    let (_, ran) = run_beside(place, ask(&[])).await;
    assert!(ran.err.contains("set ANTHROPIC_API_KEY"), "{}", ran.err);
}

#[test]
fn settings_of_capacity_hold_and_say_where_they_are_from() {
    let place = place();
    place.write(
        "home/repo/bindery.toml",
        "[capacity]\ncompact_at = 0.7\nintake_bytes = 2048\n",
    );
    let explained = place.bindery(&["assemble", "--explain-config", "-c", "capacity.prune_at=0.5"]);
    assert!(
        explained.out.contains("capacity.compact_at = 0.700  ("),
        "{}",
        explained.out
    );
    assert!(explained.out.contains("bindery.toml:2"), "{}", explained.out);
    assert!(
        explained.out.contains("capacity.prune_at = 0.500  (-c"),
        "{}",
        explained.out
    );
    let wrong = place.bindery(&["assemble", "-c", "capacity.compact_at=1.5"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("a number from 0 to 1"), "{}", wrong.err);
    place.write("home/repo/README.md", "a line of a file\n".repeat(300));
    let ran = place.bindery(&["run", "--provider", "sim", "--session", "s", "look at README.md"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let shown = place.bindery(&["log", "show", "s", "--json"]);
    assert!(shown.out.contains("300 lines, 5100 bytes"), "{}", shown.out);
}
