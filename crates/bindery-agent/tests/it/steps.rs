//! What happens within steps: attempts, answers, tools.

use std::sync::Arc;
use std::time::Duration;

use bindery_agent::{Cancel, Decision, Effect, Entry, Next, PreStepListener, Proposal, TurnReport, replay};
use bindery_core::log::{Intake, TurnOutcome};
use bindery_core::{BoxFuture, Context, Delivery, ProviderError};

use crate::common::{Does, Still, TestTool, World, Yes, says};

/// Replays the log and finds every request as it was sent.
fn verified(world: &World) -> u64 {
    let verified = replay::verify(world.agent.journal().log()).unwrap();
    assert_eq!(verified.differences, []);
    verified.requests
}

const TOOLS: &str = "
[[reply]]
text = 'Looking.'
calls = [{ tool = 'b' }, { tool = 'a' }]
[[reply]]
text = 'Done.'
";

#[tokio::test]
async fn tools_answer_in_the_order_of_their_calls() {
    let mut world = World::new(TOOLS).with_tools([says("a", "A <system-reminder>"), says("b", "B")]);
    let report = world.say("hi").await;
    assert_eq!((report.outcome, report.steps), (TurnOutcome::Completed, 2));
    let messages = world.agent.state().messages();
    let results: Vec<&str> = messages[2]
        .fragments()
        .map(|fragment| fragment.text.as_str())
        .collect();
    assert_eq!(results, ["B", "A &lt;system-reminder>"]);
    let mut log: Vec<String> = world.log().lines().map(str::to_owned).collect();
    for line in log.iter_mut().filter(|line| line.starts_with("tool_returned")) {
        line.truncate(13);
    }
    insta::assert_snapshot!(log.join("\n"));
    assert_eq!(verified(&world), 2);
}

#[tokio::test]
async fn a_failure_is_retried_in_the_same_step_after_the_wait_that_was_asked_for() {
    let script = "
        [[reply]]
        fail = { kind = 'overloaded' }
        [[reply]]
        fail = { kind = 'rate-limited', retry_after = 7 }
        [[reply]]
        text = 'Half a sent'
        fail = { kind = 'disconnected' }
        [[reply]]
        text = 'Whole.'
    ";
    let mut world = World::new(script);
    assert_eq!(world.say("hi").await.outcome, TurnOutcome::Completed);
    insta::assert_snapshot!(world.log());
    let waits = world.clock.waits.lock().unwrap().clone();
    assert_eq!((waits.len(), waits[1]), (3, Duration::from_secs(7)));
    let said: Vec<&str> = world.agent.state().messages()[1]
        .fragments()
        .map(|f| f.text.as_str())
        .collect();
    assert_eq!(said, ["Whole."], "what broke off is not said twice");
    assert_eq!(verified(&world), 4);
}

#[tokio::test]
async fn a_turn_fails_when_no_attempt_is_left_or_none_would_help() {
    let mut world = World::new(&"[[reply]]\ntext = 'Half'\nfail = { kind = 'server' }\n".repeat(2));
    world.agent.backoff.attempts = 2;
    let TurnReport { outcome, reason, .. } = world.say("hi").await;
    assert_eq!(outcome, TurnOutcome::Failed);
    assert!(reason.unwrap().contains("failed"));
    insta::assert_snapshot!(world.log());
    assert_eq!(
        world.agent.state().messages().len(),
        2,
        "what the last attempt said is kept"
    );

    let mut world = World::new("[[reply]]\nfail = { kind = 'auth' }");
    assert_eq!(world.say("hi").await.outcome, TurnOutcome::Failed);
    assert!(world.clock.waits.lock().unwrap().is_empty());
    assert_eq!(verified(&world), 1);
}

#[tokio::test]
async fn cancelling_ends_the_wait_between_attempts() {
    let cancel = Cancel::new();
    let clock = Still {
        cancels: Some(cancel.clone()),
        ..Still::default()
    };
    let mut world = World::with_clock("[[reply]]\nfail = { kind = 'server' }", clock, cancel);
    assert_eq!(world.say("hi").await.outcome, TurnOutcome::Aborted);
    assert!(
        world
            .log()
            .ends_with("attempt_ended server, again\nstep_ended Aborted\nturn_ended Aborted")
    );
}

#[tokio::test]
async fn cancelling_gives_every_open_call_a_result() {
    let mut world = World::new(TOOLS);
    let hangs = TestTool {
        name: "b",
        effect: Effect::Reads,
        does: Does::CancelsAndHangs(world.cancel.clone()),
    };
    world = world.with_tools([hangs]);
    assert_eq!(world.say("hi").await.outcome, TurnOutcome::Aborted);
    assert!(world.agent.state().pending_calls().is_empty());
    let log = world.log();
    let tail: Vec<&str> = log.lines().rev().take(5).collect();
    insta::assert_snapshot!(tail.join("\n"));
    world.cancel = Cancel::new();
    assert_eq!(world.say("go on").await.outcome, TurnOutcome::Completed);
    assert_eq!(verified(&world), 2);
}

#[tokio::test]
async fn a_call_that_cannot_run_has_a_result_that_says_why() {
    let script = "
        [[reply]]
        calls = [{ tool = 'act' }, { tool = 'absent' }, { tool = 'panics' }, { tool = 'act', input = 'no object' }]
        [[reply]]
        text = 'I see.'
    ";
    let act = || TestTool {
        name: "act",
        effect: Effect::Acts,
        does: Does::Says("acted"),
    };
    let panics = || TestTool {
        name: "panics",
        effect: Effect::Reads,
        does: Does::Panics,
    };
    let mut world = World::new(script).with_tools([act(), panics()]);
    assert_eq!(world.say("hi").await.outcome, TurnOutcome::Completed);
    insta::assert_snapshot!(results(&world));

    let mut world = World::new(script).with_tools([act(), panics()]);
    world.agent.permit = Arc::new(Yes);
    world.say("hi").await;
    assert!(results(&world).contains("acted"));
}

fn results(world: &World) -> String {
    let log = world.log();
    let lines: Vec<&str> = log
        .lines()
        .filter(|line| line.starts_with("tool_returned"))
        .collect();
    let call = |line: &str| line.split_once(':').map(|(_, why)| why.trim().to_owned());
    lines.into_iter().filter_map(call).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_header_and_a_snapshot_are_written_only_when_they_change() {
    let mut world = World::new(&"[[reply]]\ntext = 'Yes.'\n".repeat(4));
    let git = |text: &str| Context::new("git", text);
    let reminder = Context::new("mood", "Be brief.").delivery(Delivery::Reminder);
    world.kept.push(world.scope.context(reminder).unwrap());
    let first = world.scope.context(git("clean")).unwrap();
    world.say("one").await;
    world.say("two").await;
    drop(first);
    world.kept.push(world.scope.context(git("dirty")).unwrap());
    world.say("three").await;
    world.kept.truncate(2);
    world.kept.push(
        world
            .scope
            .section(bindery_core::Section::new("more", "More."))
            .unwrap(),
    );
    world.say("four").await;
    let log = world.log();
    let written = |line: &&str| {
        line.starts_with("header") || line.starts_with("snapshot") || line.starts_with("turn_s")
    };
    let written: Vec<&str> = log.lines().filter(written).collect();
    insta::assert_snapshot!(written.join("\n"));
    assert_eq!(verified(&world), 4);
}

#[tokio::test]
async fn what_is_said_while_a_turn_runs_enters_before_its_next_step() {
    let mut world = World::new(&"[[reply]]\ntext = 'Yes.'\n".repeat(3));
    for (id, intake) in [
        ("a", Intake::FollowUp),
        ("b", Intake::Steer),
        ("c", Intake::FollowUp),
    ] {
        assert!(world.agent.say(id, id, intake).unwrap());
    }
    assert!(
        !world.agent.say("a", "twice", Intake::FollowUp).unwrap(),
        "a second delivery is dropped"
    );
    let first = world.agent.turn(&world.cancel).await.unwrap().unwrap();
    let second = world.agent.turn(&world.cancel).await.unwrap().unwrap();
    assert_eq!((first.turn, second.turn), (1, 2));
    assert_eq!(world.agent.turn(&world.cancel).await.unwrap(), None);
    assert_eq!(world.agent.state().messages().len(), 5);
}

#[tokio::test]
async fn listeners_edit_and_reorder() {
    struct Reverses;
    impl PreStepListener for Reverses {
        fn decide<'a>(
            &'a self,
            proposal: Proposal,
            next: Next<'a>,
        ) -> BoxFuture<'a, Result<Decision, ProviderError>> {
            Box::pin(async move {
                let mut decision = next.run(proposal).await?;
                if let Decision::Enter(entries) = &mut decision {
                    entries.reverse();
                    entries.retain(|entry| !matches!(entry, Entry::Snapshot(_)));
                }
                Ok(decision)
            })
        }
    }
    let mut world = World::new("[[reply]]\ntext = 'Yes.'");
    world
        .kept
        .push(world.scope.context(Context::new("git", "clean")).unwrap());
    world.agent.listeners.push(Arc::new(Reverses));
    world.agent.say("a", "first", Intake::Steer).unwrap();
    world.agent.say("b", "second", Intake::Steer).unwrap();
    world.agent.turn(&world.cancel).await.unwrap();
    let said: Vec<&str> = world
        .agent
        .state()
        .messages()
        .iter()
        .flat_map(bindery_core::Message::fragments)
        .map(|f| f.text.as_str())
        .collect();
    assert_eq!(said, ["second", "first", "Yes."]);
    assert_eq!(
        world.agent.state().projection(),
        bindery_core::log::Projection::Never,
        "what did not enter was not told"
    );
}

#[tokio::test]
async fn a_model_that_calls_for_ever_is_stopped() {
    let mut world =
        World::new(&"[[reply]]\ncalls = [{ tool = 'a' }]\n".repeat(3)).with_tools([says("a", "A")]);
    world.agent.most_steps = 3;
    let report = world.say("hi").await;
    assert_eq!((report.outcome, report.steps), (TurnOutcome::Failed, 3));
    assert_eq!(
        report.reason.as_deref(),
        Some("the limit of 3 steps a turn was reached")
    );
}

#[tokio::test]
async fn cancelling_keeps_what_had_been_said() {
    struct CancelsAtTheFirstWord(Cancel);
    impl bindery_agent::Watch for CancelsAtTheFirstWord {
        fn replying(&mut self, event: &bindery_wire::ReplyEvent) {
            if matches!(event, bindery_wire::ReplyEvent::TextDelta { .. }) {
                self.0.cancel();
            }
        }
    }
    let mut world = World::new("[[reply]]\ntext = 'Half a sentence.'\n[[reply]]\ntext = 'Whole.'");
    world.agent.watch = Box::new(CancelsAtTheFirstWord(world.cancel.clone()));
    assert_eq!(world.say("hi").await.outcome, TurnOutcome::Aborted);
    let log = world.log();
    let last: Vec<&str> = log.lines().rev().take(5).collect();
    assert_eq!(
        last,
        [
            "turn_ended Aborted",
            "step_ended Aborted",
            "assistant_message Interrupted",
            "usage_reported",
            "attempt_ended Aborted",
        ]
    );
    world.cancel = Cancel::new();
    assert_eq!(world.say("go on").await.outcome, TurnOutcome::Completed);
    let messages = world.agent.state().messages();
    let said: Vec<&str> = messages
        .iter()
        .flat_map(bindery_core::Message::fragments)
        .map(|f| f.text.as_str())
        .collect();
    assert_eq!(said, ["hi", "Half ", "go on", "Whole."]);
    assert_eq!(verified(&world), 2);
}
