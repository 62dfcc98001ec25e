use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::fixtures::{Calls, Dial, block_on, bytes};
use crate::registry::{Body, Context, Registration, Section, Tool, ToolSet};
use crate::{Cadence, Delivery, Group, Mode, Text};

fn render(session: &mut Session) -> Rendered {
    block_on(session.render(&AssembleOptions::default())).unwrap()
}

fn fails(session: &mut Session) -> String {
    block_on(session.render(&AssembleOptions::default()))
        .unwrap_err()
        .to_string()
}

fn every_step() -> Cadence {
    Cadence::Step {
        reason: "a test".into(),
    }
}

fn tool(name: &str) -> ToolSet {
    ToolSet {
        visible: vec![Tool::new(name, "does", &json!({}))],
        hidden: Vec::new(),
    }
}

fn is_send<T: Send>(value: T) -> T {
    value
}

#[test]
fn assembling_can_move_between_threads() {
    let mut session = is_send(Session::new(Scope::global()));
    assert!(block_on(is_send(session.render(&AssembleOptions::default()))).is_ok());
}

#[test]
fn each_provider_runs_at_most_once_a_step() {
    let calls = Calls::default();
    let global = Scope::global();
    let agent = global.child("agent");
    let _kept = (
        global.section(Section::new("static", calls.body("a"))).unwrap(),
        agent
            .section(
                Section::new("step", calls.body("b"))
                    .group(Group::Dynamic)
                    .cadence(every_step()),
            )
            .unwrap(),
        agent
            .context(Context::new("snapshot-context", calls.body("c")))
            .unwrap(),
        global
            .context(Context::new("tail", calls.body("d")).delivery(Delivery::Tail))
            .unwrap(),
        global.variable("v", calls.variable("e")).unwrap(),
        global.tools(calls.tools(tool("t"))),
    );
    let mut session = Session::new(agent);
    for step in 1..4 {
        session.begin_step();
        let first = bytes(&render(&mut session));
        // A retry, a second look, another mode and an overriding prompt ask nobody again.
        assert_eq!(bytes(&render(&mut session)), first);
        let minimal = AssembleOptions {
            mode: Mode::Minimal,
            ..AssembleOptions::default()
        };
        block_on(session.render(&minimal)).unwrap();
        // The static section has session cadence, everything else is asked once a step.
        assert_eq!(calls.count(), 1 + 5 * step);
    }
    assert_eq!(session.stats().provider_calls, calls.count());
}

#[test]
fn session_cadence_follows_the_source_version() {
    let dial = Dial::new("one", Some(1));
    let scope = Scope::global();
    let _section = scope.section(Section::new("file", dial.body())).unwrap();
    let mut session = Session::new(scope);
    assert_eq!(render(&mut session).system.full_text(), "one");
    dial.say("two");
    session.begin_submission();
    assert_eq!(
        render(&mut session).system.full_text(),
        "one",
        "the version says nothing changed"
    );
    dial.at(Some(2));
    assert_eq!(
        render(&mut session).system.full_text(),
        "one",
        "this step has its text"
    );
    session.begin_step();
    assert_eq!(render(&mut session).system.full_text(), "two");
    dial.at(None);
    session.begin_step();
    render(&mut session);
    assert_eq!(dial.calls.count(), 3, "a source that lost its version is asked");
}

#[test]
fn session_cadence_without_a_version_waits_to_be_invalidated() {
    let (dial, other) = (Dial::new("one", None), Dial::new("other", None));
    let scope = Scope::global();
    let _sections = (
        scope.section(Section::new("mcp", dial.body())).unwrap(),
        scope.section(Section::new("other", other.body())).unwrap(),
    );
    let mut session = Session::new(scope);
    render(&mut session);
    dial.say("two");
    session.begin_submission();
    assert_eq!(render(&mut session).system.full_text(), "one\n\nother");
    session.invalidate("mcp");
    session.invalidate("nobody has this name");
    assert_eq!(render(&mut session).system.full_text(), "two\n\nother");
    session.begin_step();
    render(&mut session);
    assert_eq!((dial.calls.count(), other.calls.count()), (2, 1));
}

#[test]
fn submission_cadence_asks_once_a_submission() {
    let dial = Dial::new("x", Some(1));
    let scope = Scope::global();
    let section = Section::new("s", dial.body())
        .group(Group::Dynamic)
        .cadence(Cadence::Submission);
    let _section = scope.section(section).unwrap();
    let mut session = Session::new(scope);
    for submission in 1..4 {
        session.begin_submission();
        for _ in 0..3 {
            session.begin_step();
            render(&mut session);
        }
        assert_eq!(dial.calls.count(), submission);
    }
}

#[test]
fn step_cadence_ignores_versions_and_contexts_obey_them() {
    let (section, versioned, bare) = (
        Dial::new("x", Some(1)),
        Dial::new("x", Some(1)),
        Dial::new("x", None),
    );
    let scope = Scope::global();
    let _kept = (
        scope
            .section(
                Section::new("s", section.body())
                    .group(Group::Dynamic)
                    .cadence(every_step()),
            )
            .unwrap(),
        scope
            .context(Context::new("versioned", versioned.body()))
            .unwrap(),
        scope.context(Context::new("bare", bare.body())).unwrap(),
    );
    let mut session = Session::new(scope);
    for _ in 0..3 {
        session.begin_step();
        render(&mut session);
    }
    assert_eq!(
        (section.calls.count(), versioned.calls.count(), bare.calls.count()),
        (3, 1, 3)
    );
}

#[test]
fn text_is_kept_by_mode() {
    let scope = Scope::global();
    let by_mode = Body::compute(|evaluation| Ok(evaluation.mode.to_string()));
    let _section = scope.section(Section::new("s", by_mode)).unwrap();
    let mut session = Session::new(scope);
    for mode in [Mode::Full, Mode::Minimal, Mode::Full] {
        session.begin_step();
        let options = AssembleOptions {
            mode,
            ..AssembleOptions::default()
        };
        let rendered = block_on(session.render(&options)).unwrap();
        assert_eq!(rendered.system.full_text(), mode.to_string());
    }
}

#[test]
fn equal_recomputation_keeps_every_revision_and_renders_nothing() {
    let dial = Dial::new("says {{v}}\n", None);
    let scope = Scope::global();
    let tools = |_: &crate::Evaluation| Ok(tool("t"));
    let _kept = (
        scope.section(Section::new("static", "you are {{v}}\n")).unwrap(),
        scope
            .section(
                Section::new("step", dial.body())
                    .group(Group::Dynamic)
                    .cadence(every_step()),
            )
            .unwrap(),
        scope.context(Context::new("snap", dial.body())).unwrap(),
        scope
            .context(Context::new("note", dial.body()).delivery(Delivery::Reminder))
            .unwrap(),
        scope
            .context(Context::new("tail", dial.body()).delivery(Delivery::Tail))
            .unwrap(),
        scope.variable("v", Calls::default().variable("value")).unwrap(),
        scope.tools(tools),
    );
    let mut session = Session::new(scope);
    let before = render(&mut session);
    let (renders, changed) = (session.renders().renders(), session.stats().texts_changed);
    for _ in 0..3 {
        session.begin_submission();
        let after = render(&mut session);
        assert_eq!(session.renders().renders(), renders, "nothing was rendered");
        assert_eq!(session.stats().texts_changed, changed);
        let pairs = before.system.fragments().iter().zip(after.system.fragments());
        let tails = before.system.tail().iter().zip(after.system.tail());
        let reminders = before.context.reminders.iter().zip(&after.context.reminders);
        let snapshots = std::iter::zip(
            before
                .context
                .snapshot
                .iter()
                .flat_map(|snapshot| &snapshot.fragments),
            after
                .context
                .snapshot
                .iter()
                .flat_map(|snapshot| &snapshot.fragments),
        );
        for (old, new) in pairs.chain(tails).chain(reminders).chain(snapshots) {
            assert!(old.text.same_revision(&new.text), "{}", old.key);
        }
        assert!(
            before
                .system
                .cacheable_prefix()
                .same_revision(after.system.cacheable_prefix())
        );
        let (old, new) = (&before.assembly.tools[0], &after.assembly.tools[0]);
        assert!(std::ptr::eq(old.parameters(), new.parameters()));
        assert!(old.description().same_revision(new.description()));
        let value = |rendered: &Rendered| rendered.assembly.variables["v"].clone().unwrap();
        assert!(value(&before).same_revision(&value(&after)));
    }
    dial.say("changed");
    session.begin_step();
    let after = render(&mut session);
    assert!(session.renders().renders() > renders);
    assert!(
        before
            .system
            .cacheable_prefix()
            .same_revision(after.system.cacheable_prefix())
    );
}

#[test]
fn sessions_that_share_a_cache_share_rendered_text() {
    let renders: Arc<RenderCache> = Arc::default();
    let scope = Scope::global();
    let _kept = (
        scope.section(Section::new("s", "{{v}}")).unwrap(),
        scope.variable("v", Text::from("x")).unwrap(),
    );
    let mut first = Session::sharing(scope.clone(), renders.clone());
    let mut second = Session::sharing(scope.child("agent"), renders.clone());
    let prefix = render(&mut first).system.cacheable_prefix().clone();
    let count = renders.renders();
    assert!(
        render(&mut second)
            .system
            .cacheable_prefix()
            .same_revision(&prefix)
    );
    assert_eq!(renders.renders(), count);
}

#[test]
fn what_is_registered_during_an_assembly_joins_the_next() {
    let scope = Scope::global();
    let held: Arc<Mutex<Vec<Registration>>> = Arc::default();
    let (into, on) = (held.clone(), scope.clone());
    let body = Body::compute(move |_| {
        let mut held = into.lock().unwrap();
        if held.is_empty() {
            held.push(on.tools(tool("late")));
            held.push(on.section(Section::new("late", "late")).unwrap());
            held.push(on.context(Context::new("late", "late")).unwrap());
            held.push(on.variable("late", Text::from("late")).unwrap());
        }
        Ok("here".to_owned())
    });
    let _section = scope.section(Section::new("here", body)).unwrap();
    let mut session = Session::new(scope);
    let first = render(&mut session);
    assert_eq!(first.system.full_text(), "here");
    assert_eq!(
        (first.assembly.tools.len(), first.assembly.contexts.len()),
        (0, 0)
    );
    assert!(first.assembly.variables.is_empty());
    let second = render(&mut session);
    assert_eq!(second.system.full_text(), "here\n\nlate");
    assert_eq!(
        (second.assembly.tools.len(), second.assembly.contexts.len()),
        (1, 1)
    );
}

#[test]
fn a_provider_may_remove_itself_and_others_while_it_is_called() {
    let scope = Scope::global();
    let held: Arc<Mutex<Vec<Registration>>> = Arc::default();
    let taken = held.clone();
    let body = Body::compute(move |_| {
        let registrations = std::mem::take(&mut *taken.lock().unwrap());
        drop(registrations);
        Ok("a".to_owned())
    });
    let a = scope.section(Section::new("a", body)).unwrap();
    let b = scope.section(Section::new("b", "b")).unwrap();
    held.lock().unwrap().extend([a, b]);
    let mut session = Session::new(scope);
    assert_eq!(
        render(&mut session).system.full_text(),
        "a\n\nb",
        "this assembly was already formed"
    );
    assert_eq!(render(&mut session).system.full_text(), "");
}

#[test]
fn an_assembly_does_not_follow_its_providers_data() {
    let schema = Arc::new(Mutex::new(json!({"type": "object"})));
    let (dial, from) = (Dial::new("before", None), schema.clone());
    let scope = Scope::global();
    let tools = move |_: &crate::Evaluation| {
        Ok(ToolSet {
            visible: vec![Tool::new("t", "does", &from.lock().unwrap())],
            hidden: Vec::new(),
        })
    };
    let _kept = (
        scope.section(Section::new("s", dial.body())).unwrap(),
        scope.tools(tools),
    );
    let mut session = Session::new(scope);
    let rendered = render(&mut session);
    let before = bytes(&rendered);
    dial.say("after");
    schema.lock().unwrap()["type"] = json!("string");
    assert_eq!(bytes(&rendered), before);
    assert_eq!(
        rendered.assembly.tools[0].parameters().get(),
        r#"{"type":"object"}"#
    );
}

#[test]
fn a_failing_provider_is_named_and_asked_again_at_the_retry() {
    let broken = |_: &crate::Evaluation| Err("disk on fire".into());
    let messages: Vec<String> = (0..4)
        .map(|which| {
            let scope = Scope::global();
            let agent = scope.child("agent");
            let _kept = match which {
                0 => agent
                    .section(Section::new("rules", Body::compute(broken)))
                    .unwrap(),
                1 => scope.context(Context::new("git", Body::compute(broken))).unwrap(),
                2 => {
                    let broken =
                        |_: &crate::Evaluation| -> Result<Option<String>, _> { Err("disk on fire".into()) };
                    scope.variable("cwd", broken).unwrap()
                }
                _ => scope.tools(|_: &crate::Evaluation| Err("disk on fire".into())),
            };
            fails(&mut Session::new(agent))
        })
        .collect();
    assert_snapshot!(messages.join("\n"), @"
    the provider of section `rules` failed: disk on fire
    the provider of context `git` failed: disk on fire
    the provider of variable `cwd` failed: disk on fire
    a tool provider of scope `global` failed: disk on fire
    ");

    let calls = Calls::default();
    let counted = calls.clone();
    let body = Body::compute(move |_| match counted.add() {
        1 => Err("not yet".into()),
        _ => Ok("ready".to_owned()),
    });
    let scope = Scope::global();
    let _section = scope.section(Section::new("s", body)).unwrap();
    let mut session = Session::new(scope);
    fails(&mut session);
    assert_eq!(render(&mut session).system.full_text(), "ready");
    assert_eq!(session.stats().provider_calls, 2);
}

#[test]
fn a_panicking_provider_poisons_nothing() {
    let calls = Calls::default();
    let counted = calls.clone();
    let scope = Scope::global();
    let body = Body::compute(move |_| {
        assert!(counted.add() > 1, "the first call panics");
        Ok("fine".to_owned())
    });
    let _section = scope.section(Section::new("s", body)).unwrap();
    let mut session = Session::new(scope.clone());
    assert!(catch_unwind(AssertUnwindSafe(|| render(&mut session))).is_err());
    assert_eq!(render(&mut session).system.full_text(), "fine");
    assert!(scope.section(Section::new("t", "t")).is_ok());
}

#[test]
fn an_abandoned_assembly_leaves_a_usable_session() {
    let dial = Dial::new("x", None);
    let scope = Scope::global();
    let _section = scope.section(Section::new("s", dial.body())).unwrap();
    let mut session = Session::new(scope);
    {
        let options = AssembleOptions::default();
        let mut abandoned = std::pin::pin!(session.render(&options));
        let mut waking = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(abandoned.as_mut().poll(&mut waking).is_pending());
    }
    assert_eq!(render(&mut session).system.full_text(), "x");
}

#[test]
fn variables_are_asked_farthest_scope_first() {
    let asked: Arc<Mutex<Vec<&str>>> = Arc::default();
    let asks = |name: &'static str| {
        let asked = asked.clone();
        move |_: &crate::Evaluation| {
            asked.lock().unwrap().push(name);
            Ok(None)
        }
    };
    let global = Scope::global();
    let agent = global.child("agent");
    let _variables = (
        agent.variable("a", asks("a of agent")).unwrap(),
        global.variable("b", asks("b of global")).unwrap(),
        global.variable("c", asks("c of global")).unwrap(),
        agent.variable("c", asks("c of agent")).unwrap(),
        global.variable("d", asks("d of global")).unwrap(),
    );
    render(&mut Session::new(agent));
    assert_eq!(
        *asked.lock().unwrap(),
        ["b of global", "d of global", "a of agent", "c of agent"]
    );
}

#[test]
fn memory_of_dropped_registrations_is_let_go() {
    let scope = Scope::global();
    let mut session = Session::new(scope.clone());
    let text = Arc::new(Dial::new("x", None));
    for _ in 0..200 {
        let _section = scope.section(Section::new("s", text.body())).unwrap();
        session.begin_step();
        render(&mut session);
    }
    assert!(session.memo.remembered() < 200);
}

#[test]
fn a_kept_order_of_tools_follows_sets_and_orders() {
    let names = Arc::new(Mutex::new(vec!["b", "a"]));
    let (from, hides) = (names.clone(), names.clone());
    let scope = Scope::global();
    let visible = move |_: &crate::Evaluation| {
        let names = from.lock().unwrap();
        let tools = names.iter().map(|name| Tool::new(*name, "does", &json!({})));
        Ok(ToolSet {
            visible: tools.collect(),
            hidden: Vec::new(),
        })
    };
    let hidden = move |_: &crate::Evaluation| {
        let hidden = if hides.lock().unwrap().len() > 2 {
            vec!["secret".into()]
        } else {
            Vec::new()
        };
        Ok(ToolSet {
            visible: Vec::new(),
            hidden,
        })
    };
    let _kept = (scope.tools(visible), scope.tools(hidden));
    let mut session = Session::new(scope);
    let mut ordered = |order: Option<&[&str]>| {
        session.begin_step();
        let options = AssembleOptions {
            tool_order: order.map(|names| crate::ToolOrder::new(names.iter().copied()).unwrap()),
            ..AssembleOptions::default()
        };
        let assembly = block_on(session.assemble(&options)).map_err(|error| error.to_string())?;
        let names: Vec<&str> = assembly.tools.iter().map(Tool::name).collect();
        Ok::<_, String>(names.join(" "))
    };
    let back = ["b", crate::UNLISTED];
    let secret = [crate::UNLISTED, "secret"];
    assert_eq!(ordered(None).unwrap(), "a b");
    assert_eq!(ordered(Some(&back)).unwrap(), "b a");
    assert_eq!(ordered(None).unwrap(), "a b");
    assert!(ordered(Some(&secret)).is_err());
    names.lock().unwrap().push("c");
    assert_eq!(ordered(Some(&secret)).unwrap(), "a b c");
    assert_eq!(ordered(Some(&back)).unwrap(), "b a c");
    *names.lock().unwrap() = vec!["c"];
    assert_eq!(ordered(None).unwrap(), "c");
    assert!(
        ordered(Some(&back)).is_err(),
        "a tool that is gone is unknown again"
    );
}
