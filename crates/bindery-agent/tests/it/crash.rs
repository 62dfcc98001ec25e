//! A log that a crash cut off is closed by whoever opens it next.

use std::fmt::Write as _;
use std::sync::Arc;

use bindery_agent::{Effect, replay};
use bindery_core::log::{Draft, TurnOutcome};
use bindery_store::{Journal, MemoryStore, Store};

use crate::common::{Does, Still, TestTool, World, id, open, shown};

const SCRIPT: &str = "
[[reply]]
calls = [{ tool = 'a' }, { tool = 'b' }]
[[reply]]
text = 'Done.'
";

fn tool(name: &'static str) -> TestTool {
    TestTool {
        name,
        effect: Effect::Reads,
        does: Does::Says("result"),
    }
}

/// Every prefix of a whole session is a possible crash. Each is opened, closed, and driven on.
#[tokio::test]
async fn a_session_goes_on_from_wherever_it_was_cut() {
    let mut world = World::new(SCRIPT).with_tools([tool("a"), tool("b")]);
    world.say("hi").await;
    let events = world.events();
    let mut closed = String::new();
    for cut in 1..=events.len() {
        let store = MemoryStore::default();
        let mut journal = Journal::create(&store, &id(), 0, "it").unwrap();
        let drafts = events
            .iter()
            .take(cut)
            .map(|event| Draft::new(event.at_ms, event.payload.clone()));
        journal.commit(drafts.collect()).unwrap();
        drop(journal);
        let script = "[[reply]]\ntext = 'Going on.'";
        let mut again = World {
            agent: open(&store, &world.scope, script, Arc::new(Still::default())),
            store: store.clone(),
            ..World::new("")
        };
        let added: Vec<String> = again
            .events()
            .iter()
            .skip(cut)
            .map(|event| shown(&event.payload))
            .collect();
        write!(
            closed,
            "{}\n    {}\n",
            shown(&events[cut - 1].payload),
            added.join("\n    ")
        )
        .unwrap();
        assert!(again.agent.state().open_turn().is_none());
        assert!(again.agent.state().pending_calls().is_empty());
        let waits = again.agent.state().inbox().items().len();
        let cut_before_the_step = cut < 4;
        assert_eq!(
            waits,
            usize::from(cut_before_the_step),
            "what was acknowledged is not lost: {cut}"
        );
        let report = again.say("go on").await;
        assert_eq!(report.outcome, TurnOutcome::Completed, "{cut}");
        assert_eq!(
            replay::verify(again.agent.journal().log()).unwrap().differences,
            []
        );
        assert!(again.store.read(&id()).is_ok());
    }
    insta::assert_snapshot!(closed);
}
