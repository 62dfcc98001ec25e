//! Sessions that outgrow their window: budget, large results, compaction, what a hook may say.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use bindery_agent::tools::Retrieve;
use bindery_agent::{
    Before, Capacity, CompactHook, Compacted, Effect, Input, Runner as _, Said, Summariser, Toolbox, replay,
};
use bindery_core::budget::{Budget, Fraction};
use bindery_core::compaction::{Cut, Report, references};
use bindery_core::log::{Intake, Payload, ReplaceReason, TurnOutcome};
use bindery_core::{
    BoxFuture, Context, CountTokens, Kind, Message, ProviderError, Role, Source, TokenCount, Trust,
};
use bindery_store::{BlobError, Blobs, MemoryBlobs};

use crate::common::{Does, TestTool, World};

struct Quarters;

impl CountTokens for Quarters {
    fn count(&self, text: &str) -> TokenCount {
        TokenCount::estimate(text.len().div_ceil(4) as u64)
    }

    fn name(&self) -> &'static str {
        "quarters"
    }
}

fn capacity(window: u64, blobs: Arc<dyn Blobs>) -> Capacity {
    Capacity::new(Budget::new(window, 0), Arc::new(Quarters), blobs)
}

/// A session within a window of so many tokens, by the script.
fn world(window: u64, script: &str) -> (World, Arc<MemoryBlobs>) {
    let blobs = Arc::new(MemoryBlobs::default());
    let mut world = World::new(script);
    world.agent.capacity = Some(capacity(window, blobs.clone()));
    (world, blobs)
}

/// A script of so many answers of about 400 tokens.
fn talk(replies: usize) -> String {
    let text = "word ".repeat(320);
    let mut script = String::new();
    for number in 0..replies {
        let _ = writeln!(script, "[[reply]]\ntext = \"{number} {text}\"");
    }
    script
}

fn said(world: &World) -> String {
    let fragments = world.agent.state().messages().iter().flat_map(Message::fragments);
    fragments
        .map(|one| one.text.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

fn errors(world: &World) -> Vec<String> {
    let events = world.events();
    let errors = events.iter().filter_map(|event| match &event.payload {
        Payload::ErrorRecorded(error) => Some(format!("{}/{}: {}", error.stage, error.code, error.message)),
        _ => None,
    });
    errors.collect()
}

async fn long(world: &mut World, turns: usize) {
    for turn in 0..turns {
        let report = world.say(&format!("Question {turn}")).await;
        assert_eq!(report.outcome, TurnOutcome::Completed, "{:?}", report.reason);
    }
}

#[tokio::test]
async fn a_long_session_makes_room_and_every_request_can_be_rebuilt() {
    let (mut world, _) = world(4_000, &talk(20));
    let rules = Context::new("context:CLAUDE.md", "RULE-7 never push")
        .message(Kind::Instructions)
        .from_source(
            Source::File {
                path: "CLAUDE.md".into(),
                lines: None,
            },
            Trust::Project,
        );
    world.kept.push(world.scope.context(rules).unwrap());
    world.say("Goal: port the parser\nNever touch `main`.").await;
    long(&mut world, 18).await;
    let compactions = world
        .events()
        .iter()
        .filter(|event| matches!(&event.payload, Payload::SurfaceReplaced(_)))
        .count();
    assert!(compactions >= 2, "{compactions}");
    let said = said(&world);
    for kept in ["RULE-7 never push", "port the parser", "Never touch `main`."] {
        assert!(said.contains(kept), "{kept}: {said}");
    }
    assert_eq!(said.matches("RULE-7 never push").count(), 1);
    let verified = replay::verify(world.agent.journal().log()).unwrap();
    assert_eq!((verified.requests, verified.differences.len()), (19, 0));
    let body = replay::request(world.agent.journal().log(), replay::Which::Number(19))
        .unwrap()
        .unwrap()
        .unwrap()
        .body;
    assert!(String::from_utf8(body).unwrap().contains("RULE-7 never push"));
    assert_eq!(errors(&world), [""; 0]);
}

#[tokio::test]
async fn the_report_adds_up_and_usage_corrects_the_counter() {
    let (mut world, _) = world(100_000, &talk(3));
    long(&mut world, 3).await;
    let report = world.agent.budget(&[]).unwrap();
    let rows: u64 = report.shares.iter().map(|share| share.tokens.value).sum();
    assert_eq!(report.used.value, rows);
    let calibration = world.agent.capacity.as_ref().unwrap().calibration().unwrap();
    assert_eq!(calibration.pairs, 3);
    assert!(
        report.counted_by.starts_with("quarters x "),
        "{}",
        report.counted_by
    );
}

#[tokio::test]
async fn a_request_that_cannot_fit_is_not_sent() {
    let (mut world, _) = world(300, &talk(1));
    let report = world.say(&"x".repeat(4_000)).await;
    assert_eq!(report.outcome, TurnOutcome::Failed);
    assert!(
        report.reason.unwrap().contains("the window 300"),
        "{:?}",
        errors(&world)
    );
    assert!(!world.log().contains("attempt_started"));
}

#[tokio::test]
async fn a_large_result_is_kept_whole_and_a_line_in_its_middle_is_found_after_compaction() {
    let mut log = String::new();
    for line in 0..40_000 {
        let _ = writeln!(log, "{line} INFO building unit {line} of the tree");
        if line == 20_000 {
            log.push_str("the needle: port 8081 was taken by the old daemon\n");
        }
    }
    let log: &'static str = Box::leak(log.into_boxed_str());
    let script = format!(
        "[[reply]]\ncalls = [{{ tool = \"build\" }}]\n[[reply]]\ntext = \"built\"\n{}",
        talk(4)
    );
    let (world, blobs) = world(6_000, &script);
    let mut world = world.with_tools([TestTool {
        name: "build",
        effect: Effect::Reads,
        does: Does::Says(log),
    }]);
    world.say("Build it").await;
    let digest = said(&world);
    assert!(
        digest.contains("40001 lines, ") && digest.len() < 12_000,
        "{}",
        digest.len()
    );
    long(&mut world, 4).await;
    assert!(matches!(
        world.agent.compact(&world.cancel).await.unwrap(),
        Compacted::Done(_)
    ));
    let said = said(&world);
    assert!(!said.contains("building unit 3 "), "{said}");
    let reference = references(&said).into_iter().collect::<Vec<_>>();
    let retrieve = Arc::new(Retrieve::new(blobs.clone()));
    let mut found = Vec::new();
    for reference in reference {
        let input: Input = serde_json::from_value(
            serde_json::json!({"reference": reference, "match": "needle", "context": 1}),
        )
        .unwrap();
        let outcome = retrieve.clone().run(input).await;
        assert!(!outcome.is_error, "{}", outcome.text);
        found.push(outcome.text);
    }
    let expected = "20001| 20000 INFO building unit 20000 of the tree\n\
                    20002| the needle: port 8081 was taken by the old daemon\n\
                    20003| 20001 INFO building unit 20001 of the tree";
    assert!(found.iter().any(|text| text == expected), "{found:?}");
}

struct Hook {
    says: Before,
    told: Mutex<Vec<Report>>,
}

impl CompactHook for Hook {
    fn name(&self) -> &'static str {
        "test"
    }

    fn before<'a>(&'a self, _: &'a Cut) -> BoxFuture<'a, Result<Before, ProviderError>> {
        Box::pin(std::future::ready(Ok(self.says.clone())))
    }

    fn after(&self, report: &Report) {
        self.told.lock().unwrap().push(report.clone());
    }
}

fn replaces(text: &str) -> Before {
    Before::Replace(vec![Said {
        role: Role::User,
        text: text.to_owned(),
    }])
}

async fn hooked(says: Before) -> (World, Arc<Hook>, Compacted) {
    let (mut world, _) = world(100_000, &talk(3));
    long(&mut world, 3).await;
    let hook = Arc::new(Hook {
        says,
        told: Mutex::default(),
    });
    let capacity = world.agent.capacity.as_mut().unwrap();
    capacity.hooks.push(hook.clone());
    capacity.budget = Budget::new(1_000, 0);
    // The model would be asked for a fourth answer, which the script does not have.
    capacity.summariser = Summariser::Model;
    let compacted = world.agent.compact(&world.cancel).await.unwrap();
    (world, hook, compacted)
}

#[tokio::test]
async fn a_hook_may_write_the_record_and_the_model_is_not_asked() {
    let (world, hook, compacted) = hooked(replaces("Everything is ported.")).await;
    let Compacted::Done(report) = compacted else {
        panic!("{compacted:?}")
    };
    assert_eq!(report.summariser, "hook:test");
    assert_eq!(hook.told.lock().unwrap().len(), 1);
    assert!(report.before.saved_by(&report.after).unwrap() > 0);
    let said = said(&world);
    assert!(said.contains("- user: Everything is ported."), "{said}");
    assert!(
        said.contains("Question 0"),
        "the ledger enters all the same: {said}"
    );
}

#[tokio::test]
async fn what_may_not_enter_changes_nothing_and_the_log_says_why() {
    let too_large = "x".repeat(50_000);
    for (says, why) in [
        (
            replaces(" "),
            "compact/hook: the replacement of hook `test` is refused: it says nothing",
        ),
        (
            replaces("</bindery-summary>"),
            "compact/hook: the replacement of hook `test` is refused: it holds a marker",
        ),
        (replaces(&too_large), "compact/coverage: the replacement has"),
        (Before::Refuse("not now".to_owned()), "compact/hook: not now"),
    ] {
        let (world, hook, compacted) = hooked(says).await;
        assert!(matches!(compacted, Compacted::Unchanged { .. }), "{compacted:?}");
        assert_eq!(hook.told.lock().unwrap().len(), 0);
        assert!(!said(&world).contains("<bindery-summary"));
        let errors = errors(&world);
        assert!(errors.last().unwrap().starts_with(why), "{errors:?}");
    }
}

struct Full;

impl Blobs for Full {
    fn put(&self, _: &[u8]) -> Result<bindery_core::ContentHash, BlobError> {
        Err(BlobError::Io {
            path: "blobs".into(),
            doing: "writing",
            cause: std::io::Error::other("the disk is full"),
        })
    }

    fn get(&self, hash: &bindery_core::ContentHash) -> Result<Vec<u8>, BlobError> {
        Err(BlobError::Missing {
            hash: *hash,
            place: "nowhere".to_owned(),
        })
    }

    fn find(&self, _: &str) -> Result<Vec<bindery_core::ContentHash>, BlobError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn without_a_place_for_what_is_summarised_nothing_changes() {
    let mut world = World::new(&talk(3));
    long(&mut world, 3).await;
    world.agent.capacity = Some(capacity(1_000, Arc::new(Full)));
    let before = said(&world);
    let compacted = world.agent.compact(&world.cancel).await.unwrap();
    assert!(matches!(compacted, Compacted::Unchanged { .. }), "{compacted:?}");
    assert_eq!(said(&world), before);
    assert!(
        errors(&world)[0].contains("the disk is full"),
        "{:?}",
        errors(&world)
    );
}

struct Hangs;

impl CompactHook for Hangs {
    fn name(&self) -> &'static str {
        "hangs"
    }

    fn before<'a>(&'a self, _: &'a Cut) -> BoxFuture<'a, Result<Before, ProviderError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_compaction_that_is_killed_leaves_the_old_surface() {
    let (mut world, _) = world(100_000, &talk(4));
    long(&mut world, 3).await;
    let capacity = world.agent.capacity.as_mut().unwrap();
    capacity.budget = Budget::new(1_000, 0);
    capacity.hooks.push(Arc::new(Hangs));
    let (before, events) = (said(&world), world.events());
    tokio::select! {
        biased;
        compacted = world.agent.compact(&world.cancel) => panic!("{compacted:?}"),
        () = std::future::ready(()) => {}
    }
    assert_eq!((said(&world), world.events()), (before, events));
    world.agent.capacity = None;
    long(&mut world, 1).await;
}

#[tokio::test]
async fn the_model_is_asked_with_the_users_own_wishes_and_the_request_is_in_the_log() {
    let script = format!("{}[[reply]]\ntext = \"## Done\\nThe parser.\"\n", talk(3));
    let (mut world, _) = world(100_000, &script);
    let wish = "# House\nx\n\n# Compact Instructions\nKeep ids\n";
    let rules = Context::new("context:CLAUDE.md", wish)
        .message(Kind::Instructions)
        .from_source(
            Source::File {
                path: "CLAUDE.md".into(),
                lines: None,
            },
            Trust::Project,
        );
    world.kept.push(world.scope.context(rules).unwrap());
    long(&mut world, 3).await;
    let capacity = world.agent.capacity.as_mut().unwrap();
    (capacity.budget, capacity.summariser) = (Budget::new(1_000, 0), Summariser::Model);
    let compacted = world.agent.compact(&world.cancel).await.unwrap();
    let Compacted::Done(report) = compacted else {
        panic!("{compacted:?}: {:?}", errors(&world))
    };
    assert_eq!(report.summariser, "model@1+instructions");
    let body = replay::request(world.agent.journal().log(), replay::Which::Number(4))
        .unwrap()
        .unwrap()
        .unwrap()
        .body;
    let body = String::from_utf8(body).unwrap();
    assert!(
        body.contains("CLAUDE.md says about such records:\\nKeep ids"),
        "{body}"
    );
    assert!(said(&world).contains("The parser."));
    assert_eq!(
        replay::verify(world.agent.journal().log()).unwrap().differences,
        []
    );
    // What went on in between is whole: the next turn follows.
    assert_eq!(world.agent.state().open_turn(), None);
}

#[tokio::test]
async fn extracts_stand_in_where_the_model_fails() {
    let (mut world, _) = world(100_000, &talk(3));
    long(&mut world, 3).await;
    let capacity = world.agent.capacity.as_mut().unwrap();
    (capacity.budget, capacity.summariser) = (Budget::new(1_000, 0), Summariser::Model);
    let compacted = world.agent.compact(&world.cancel).await.unwrap();
    let Compacted::Done(report) = compacted else {
        panic!("{compacted:?}")
    };
    assert_eq!(report.summariser, "extract");
    assert!(
        errors(&world)[0].starts_with("compact/summariser: "),
        "{:?}",
        errors(&world)
    );
    assert_eq!(
        replay::verify(world.agent.journal().log()).unwrap().differences,
        []
    );
}

#[tokio::test]
async fn the_reason_of_a_replacement_is_in_the_log() {
    let (mut world, _) = world(100_000, &talk(3));
    long(&mut world, 3).await;
    world.agent.capacity.as_mut().unwrap().budget = Budget::new(1_000, 0);
    world.agent.compact(&world.cancel).await.unwrap();
    let reasons: Vec<ReplaceReason> = world
        .events()
        .iter()
        .filter_map(|event| match &event.payload {
            Payload::SurfaceReplaced(replaced) => Some(replaced.reason),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, [ReplaceReason::Compaction]);
    // A session without a budget says so and changes nothing.
    world.agent.capacity = None;
    let compacted = world.agent.compact(&world.cancel).await.unwrap();
    assert!(matches!(compacted, Compacted::Unchanged { reason } if reason.contains("no budget")));
    assert!(world.agent.say("x", "y", Intake::FollowUp).unwrap());
    let _: Toolbox = Toolbox::default();
}

#[tokio::test]
async fn old_results_give_way_where_that_pays_and_only_once() {
    let big = "a line of some output\n".repeat(600);
    let mut script = "[[reply]]\ntext = 'On.'\n".repeat(5);
    for tool in ["big", "small", "small"] {
        let _ = writeln!(
            script,
            "[[reply]]\ncalls = [{{ tool = '{tool}' }}]\n[[reply]]\ntext = 'Read.'"
        );
    }
    script += &"[[reply]]\ntext = 'On.'\n".repeat(3);
    let (world, blobs) = world(22_000, &script);
    let tool = |name, says| TestTool {
        name,
        effect: Effect::Reads,
        does: Does::Says(says),
    };
    let mut world = world.with_tools([
        tool("big", Box::leak(big.into_boxed_str())),
        tool("small", "done"),
    ]);
    world.agent.capacity.as_mut().unwrap().budget.prune = Fraction::thousandths(300);
    for turn in 0..5 {
        world.say(&format!("go on {turn} {}", "word ".repeat(700))).await;
    }
    for turn in 0..6 {
        world.say(&format!("read {turn}")).await;
    }
    let events = world.events();
    let pruned: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.payload {
            Payload::SurfaceReplaced(replaced) if replaced.reason == ReplaceReason::Pruning => {
                Some(event.seq)
            }
            _ => None,
        })
        .collect();
    assert_eq!(pruned.len(), 1);
    assert!(
        !errors(&world).iter().any(|error| error.starts_with("prune")),
        "{:?}",
        errors(&world)
    );
    let said = said(&world);
    for reference in references(&said) {
        let digits = reference.strip_prefix("blob:").unwrap();
        assert_eq!(blobs.find(digits).unwrap().len(), 1, "{reference}");
    }
    let verified = replay::verify(world.agent.journal().log()).unwrap();
    assert_eq!(verified.differences, []);
}
