//! The failure table, row by row, on events in the log.

use std::sync::Arc;

use bindery_agent::{Cancel, Decision, Next, PreStepListener, Proposal};
use bindery_core::log::TurnOutcome;
use bindery_core::{
    Body, BoxFuture, Context, Evaluation, ProviderError, Section, Text, TextProvider, ToolOrder,
};

use crate::common::World;

const ANSWER: &str = "[[reply]]\ntext = 'Hello.'";

struct Row {
    name: &'static str,
    set_up: fn(&mut World),
    outcome: TurnOutcome,
    /// What is in the log besides the message that arrived.
    log: &'static [&'static str],
}

const TABLE: [Row; 9] = [
    Row {
        name: "a section's provider fails",
        set_up: |world| {
            let body = Body::compute(|_: &Evaluation| Err("no disk".into()));
            world
                .kept
                .push(world.scope.section(Section::new("broken", body)).unwrap());
        },
        outcome: TurnOutcome::Failed,
        log: &[
            "turn_started",
            "inbox_claimed",
            "error_recorded assemble/assemble",
            "turn_ended Failed",
        ],
    },
    Row {
        name: "a tool provider fails",
        set_up: |world| {
            let tools = |_: &Evaluation| Err(ProviderError::from("no server"));
            world.kept.push(world.scope.tools(tools));
        },
        outcome: TurnOutcome::Failed,
        log: &[
            "turn_started",
            "inbox_claimed",
            "error_recorded assemble/assemble",
            "turn_ended Failed",
        ],
    },
    Row {
        name: "the tool order names what does not exist",
        set_up: |world| {
            world.agent.options.tool_order = Some(ToolOrder::new(["nothing", "<unlisted-tools>"]).unwrap());
        },
        outcome: TurnOutcome::Failed,
        log: &[
            "turn_started",
            "inbox_claimed",
            "error_recorded assemble/assemble",
            "turn_ended Failed",
        ],
    },
    Row {
        name: "a runtime context refers to nothing",
        set_up: |world| {
            world.kept.push(
                world
                    .scope
                    .context(Context::new("broken", "{{nothing}}"))
                    .unwrap(),
            );
        },
        outcome: TurnOutcome::Failed,
        log: &[
            "turn_started",
            "inbox_claimed",
            "error_recorded render/context",
            "turn_ended Failed",
        ],
    },
    Row {
        name: "a listener rejects",
        set_up: |world| {
            world
                .agent
                .listeners
                .push(Arc::new(Says(|_| Ok(Decision::Reject { reason: "no".into() }))));
        },
        outcome: TurnOutcome::Blocked,
        log: &["turn_started", "inbox_claimed", "turn_ended Blocked"],
    },
    Row {
        name: "nothing is accepted",
        set_up: |world| {
            // Context alone asks for nothing, so its snapshot does not enter either.
            world
                .kept
                .push(world.scope.context(Context::new("git", "clean")).unwrap());
            let context_only = |mut proposal: Proposal| {
                proposal
                    .entries
                    .retain(|entry| !matches!(entry, bindery_agent::Entry::Said(_)));
                Ok(Decision::Enter(proposal.entries))
            };
            world.agent.listeners.push(Arc::new(Says(context_only)));
        },
        outcome: TurnOutcome::Completed,
        log: &["turn_started", "inbox_claimed", "turn_ended Completed"],
    },
    Row {
        name: "a section refers to nothing",
        set_up: |world| {
            world
                .kept
                .push(world.scope.context(Context::new("git", "clean")).unwrap());
            world.kept.push(
                world
                    .scope
                    .section(Section::new("broken", "{{nothing}}"))
                    .unwrap(),
            );
        },
        outcome: TurnOutcome::Failed,
        log: &[
            "turn_started",
            "inbox_claimed",
            "step_started",
            "snapshot_entered Shown",
            "user_message",
            "error_recorded render/system",
            "step_ended Failed",
            "turn_ended Failed",
        ],
    },
    Row {
        name: "cancelled while assembling",
        set_up: |world| {
            let body = Body::provider(Cancels(world.cancel.clone()));
            world
                .kept
                .push(world.scope.section(Section::new("slow", body)).unwrap());
        },
        outcome: TurnOutcome::Aborted,
        log: &["turn_started", "inbox_claimed", "turn_ended Aborted"],
    },
    Row {
        name: "a listener fails",
        set_up: |world| {
            world
                .agent
                .listeners
                .push(Arc::new(Says(|_| Err("broken".into()))));
        },
        outcome: TurnOutcome::Failed,
        log: &[
            "turn_started",
            "inbox_claimed",
            "error_recorded pre_step/listener",
            "turn_ended Failed",
        ],
    },
];

#[tokio::test]
async fn the_failure_table_holds_row_by_row() {
    for row in TABLE {
        let mut world = World::new(ANSWER);
        (row.set_up)(&mut world);
        let report = world.say("hi").await;
        let log: Vec<String> = world.log().lines().skip(1).map(str::to_owned).collect();
        assert_eq!(log, row.log, "{}", row.name);
        assert_eq!(report.outcome, row.outcome, "{}", row.name);
        assert_eq!(world.agent.state().attempts(), 0, "{}", row.name);
    }
}

/// Whatever failed, the next turn is as if it had not: the table's rows leave nothing behind.
#[tokio::test]
async fn a_session_goes_on_after_every_row() {
    for row in TABLE {
        let mut world = World::new(ANSWER);
        (row.set_up)(&mut world);
        world.say("hi").await;
        world.kept.truncate(1);
        world.agent.listeners.clear();
        world.agent.options.tool_order = None;
        world.cancel = Cancel::new();
        assert_eq!(
            world.say("again").await.outcome,
            TurnOutcome::Completed,
            "{}",
            row.name
        );
    }
}

struct Says(fn(Proposal) -> Result<Decision, ProviderError>);

impl PreStepListener for Says {
    fn decide<'a>(
        &'a self,
        proposal: Proposal,
        _: Next<'a>,
    ) -> BoxFuture<'a, Result<Decision, ProviderError>> {
        Box::pin(std::future::ready((self.0)(proposal)))
    }
}

/// Cancels the turn while it is asked, and never answers.
struct Cancels(Cancel);

impl TextProvider for Cancels {
    fn text<'a>(&'a self, _: &'a Evaluation) -> BoxFuture<'a, Result<Text, ProviderError>> {
        self.0.cancel();
        Box::pin(std::future::pending())
    }
}
