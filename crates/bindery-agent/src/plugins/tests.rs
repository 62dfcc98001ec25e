//! What plugins say.

use std::sync::Arc;
use std::time::Duration;

use bindery_core::log::{AssistantMessage, Draft, StopReason, UserMessage};
use bindery_core::{AssembleOptions, BoxFuture, Message, Scope, Session};
use bindery_store::{Journal, MemoryStore, Store};
use jiff::tz::TimeZone;

use super::*;
use crate::agent::{Moment, Refresh};
use crate::clock::Clock;

struct At(u64);

impl Clock for At {
    fn now_ms(&self) -> u64 {
        self.0
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

async fn context(scope: &Scope) -> bindery_core::RuntimeContext {
    let mut session = Session::new(scope.clone());
    session.render(&AssembleOptions::default()).await.unwrap().context
}

/// 2026-11-30 23:47:11 UTC.
const LATE: u64 = 1_796_082_431_000;

#[tokio::test]
async fn the_time_is_told_as_coarsely_as_was_asked() {
    let mut told = Vec::new();
    for (hours, minutes, zone) in [
        (24, 0, TimeZone::UTC),
        (0, 15, TimeZone::UTC),
        (0, 0, TimeZone::UTC),
    ] {
        let every = Duration::from_mins(hours * 60 + minutes);
        let scope = Scope::global();
        let _kept = scope
            .context(Time::new(Arc::new(At(LATE)), zone, every).context())
            .unwrap();
        let snapshot = context(&scope).await.snapshot.unwrap();
        told.push(snapshot.fragments[1].text.as_str().to_owned());
    }
    assert_eq!(told[0], "# date\n2026-11-30 (Monday)");
    assert!(
        told[1].starts_with("# date\n2026-11-30 23:45 (Monday)"),
        "{}",
        told[1]
    );
    assert!(
        told[2].starts_with("# date\n2026-11-30 23:47 (Monday)"),
        "{}",
        told[2]
    );
}

#[tokio::test]
async fn nested_instructions_attach_when_a_tool_touches_their_directory() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("repo/.git")).unwrap();
    std::fs::create_dir_all(root.join("repo/api/src")).unwrap();
    std::fs::write(root.join("repo/CLAUDE.md"), "Use tabs.").unwrap();
    std::fs::write(root.join("repo/api/CLAUDE.md"), "Contracts first.").unwrap();
    std::fs::write(root.join("repo/api/src/main.rs"), "").unwrap();
    let cwd = root.join("repo");
    let host = bindery_sources::instructions::Host {
        cwd: cwd.clone(),
        home: Some(root.join("home")),
        ..Default::default()
    };
    let places = bindery_sources::places::Places::new(None, None, &cwd);
    let dialect = bindery_sources::dialect::Catalogue::shipped()
        .get("claude")
        .unwrap();
    let scope = Scope::global();
    let mut files = InstructionFiles::new(dialect, host, places, std::sync::Arc::default(), scope.clone());
    files
        .refresh(Moment {
            turn: 1,
            said: "",
            step: 1,
            touched: &[],
        })
        .unwrap();
    assert_eq!(context(&scope).await.messages.len(), 1);
    let touched = [Arc::from(cwd.join("api/src/main.rs").to_str().unwrap())];
    files
        .refresh(Moment {
            turn: 1,
            said: "",
            step: 2,
            touched: &touched,
        })
        .unwrap();
    let messages = context(&scope).await.messages;
    let keys: Vec<&str> = messages.iter().map(|fragment| &*fragment.key).collect();
    assert_eq!(keys, ["context:CLAUDE.md", "context:api/CLAUDE.md"]);
    std::fs::write(cwd.join("CLAUDE.md"), "Use spaces.").unwrap();
    files
        .refresh(Moment {
            turn: 1,
            said: "",
            step: 3,
            touched: &touched,
        })
        .unwrap();
    assert!(
        context(&scope).await.messages[0].text.contains("tabs"),
        "within a turn only touches count"
    );
    files
        .refresh(Moment {
            turn: 1,
            said: "",
            step: 1,
            touched: &touched,
        })
        .unwrap();
    assert!(context(&scope).await.messages[0].text.contains("spaces"));
}

#[test]
fn tmux_lines_are_bounded_and_plain() {
    let told = super::tmux::told(&"0.0* \u{1b}[31mwork: vim in /srv\n".repeat(50));
    assert!(told.starts_with("0.0*  [31mwork: vim in /srv\n") && told.ends_with("(10 more panes)"));
}

#[test]
fn a_session_is_recalled_within_its_bound() {
    let (store, id) = (MemoryStore::default(), "old".parse().unwrap());
    let mut journal = Journal::create(&store, &id, 0, "a test").unwrap();
    for number in 0..30 {
        let message = Message::user("m", format!("question {number} {}", "x".repeat(1500)));
        let said = UserMessage { message, inbox: None };
        let message = Message::assistant("m", "answer");
        let answer = AssistantMessage {
            message,
            attempt: None,
            stop: StopReason::EndTurn,
        };
        journal
            .commit(vec![Draft::new(0, said), Draft::new(0, answer)])
            .unwrap();
    }
    let recalled = recall(
        &id,
        &*store.read(&id).unwrap(),
        &bindery_sources::gate::Gate::default(),
    )
    .unwrap();
    assert_eq!((recalled.messages, recalled.left_out), (21, 39));
    let scope = Scope::global();
    let _kept = scope.context(recalled.context).unwrap();
}
