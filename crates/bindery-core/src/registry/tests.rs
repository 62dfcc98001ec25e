use std::sync::{Arc, Mutex};

use insta::assert_snapshot;

use super::*;
use crate::fixtures::{Calls, bytes, file, render};
use crate::{Authority, Cadence, Group, Kind, Source, Text, Trust};

fn refused<T>(result: Result<T, RegisterError>) -> String {
    match result {
        Ok(_) => panic!("it was accepted"),
        Err(error) => error.to_string(),
    }
}

/// Collects what an observer is told, as `+section a @global`.
fn watch(scope: &Scope) -> (Registration, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let into = seen.clone();
    let watching = scope.observe(move |change| {
        let sign = match change.kind {
            ChangeKind::Registered => '+',
            ChangeKind::Removed => '-',
        };
        let line = format!("{sign}{} {} @{}", change.what, change.name, change.scope);
        into.lock().unwrap().push(line);
    });
    (watching, seen)
}

struct Pass;

impl crate::assembly::AssemblyListener for Pass {
    fn assemble<'a>(
        &'a self,
        draft: crate::assembly::Draft,
        next: crate::assembly::Next<'a>,
    ) -> BoxFuture<'a, Result<crate::assembly::Draft, ProviderError>> {
        next.run(draft)
    }
}

#[test]
fn a_name_taken_twice_within_one_layer_is_refused_for_every_kind() {
    let scope = Scope::global();
    let _kept = (
        scope.section(Section::new("a", "one")).unwrap(),
        scope.context(Context::new("a", "one")).unwrap(),
        scope.variable("a", Text::from("one")).unwrap(),
        scope.listener("a", 0, Pass).unwrap(),
    );
    let refusals = [
        refused(scope.section(Section::new("a", "two"))),
        refused(scope.context(Context::new("a", "two"))),
        refused(scope.variable("a", Text::from("two"))),
        refused(scope.listener("a", 1, Pass)),
    ];
    assert_snapshot!(refusals.join("\n"), @"
    section `a` is already registered in scope `global`; drop that registration first, or register in a nearer scope to shadow it
    context `a` is already registered in scope `global`; drop that registration first, or register in a nearer scope to shadow it
    variable `a` is already registered in scope `global`; drop that registration first, or register in a nearer scope to shadow it
    listener `a` is already registered in scope `global`; drop that registration first, or register in a nearer scope to shadow it
    ");
    let nearer = scope.child("agent");
    assert!(nearer.section(Section::new("a", "two")).is_ok());
    assert!(nearer.context(Context::new("a", "two")).is_ok());
    assert!(nearer.variable("a", Text::from("two")).is_ok());
    assert!(nearer.listener("a", 0, Pass).is_ok());
    assert_eq!(
        render(&scope).unwrap().system.full_text(),
        "one",
        "the first stands"
    );
}

#[test]
fn a_dropped_name_is_free_again_and_an_old_guard_removes_only_its_own_entry() {
    let scope = Scope::global();
    let first = scope.section(Section::new("a", "one")).unwrap();
    drop(first);
    let _second = scope.section(Section::new("a", "two")).unwrap();
    assert_eq!(render(&scope).unwrap().system.full_text(), "two");
}

#[test]
fn sections_that_break_a_rule_are_refused() {
    let scope = Scope::global();
    let step = |reason: &str| Cadence::Step {
        reason: reason.into(),
    };
    let dynamic = |key: &str| Section::new(key, "x").group(Group::Dynamic);
    let project = || file("docs/rules.md", Some((3, 9)));
    let refusals = [
        refused(scope.section(Section::new("clock", "x").cadence(step("time passes")))),
        refused(scope.section(dynamic("clock").cadence(step(" \n")))),
        refused(scope.section(dynamic("me").authority(Authority::User))),
        refused(scope.section(dynamic("rules").from_source(project(), Trust::Project))),
        refused(
            scope.section(
                dynamic("rules")
                    .authority(Authority::Developer)
                    .from_source(project(), Trust::External),
            ),
        ),
        refused(scope.section(Section::new("", "x"))),
        refused(scope.section(Section::new(" a", "x"))),
        refused(scope.section(Section::new("a\u{1b}[1m", "x"))),
        refused(scope.section(Section::new("é".repeat(129), "x"))).replace(&"é".repeat(129), "é…"),
        refused(scope.section(Section::new("tool:bash", "x"))),
        refused(scope.section(Section::new("prompt:custom", "x"))),
    ];
    assert_snapshot!(refusals.join("\n"), @r"
    section `clock` is in the static group with step cadence; static text stands before the cache boundary, so give it cadence `session`, or move it to group `dynamic`
    section `clock` has step cadence without a reason; say why it must change at every step
    section `me` cannot speak as user: a system prompt carries the authority of the system or the developer
    section `rules` comes from docs/rules.md:3-9 with trust `project`, which may not speak as system unless an operator grants it by name; register it as a context, or grant `rules` in the user configuration
    section `rules` comes from docs/rules.md:3-9 with trust `external`, which may not speak as developer unless an operator grants it by name; register it as a context, or grant `rules` in the user configuration
    `` is not a valid section name: it is empty
    ` a` is not a valid section name: it has control characters, or white space at an end
    `a\u{1b}[1m` is not a valid section name: it has control characters, or white space at an end
    `é…` is not a valid section name: it is longer than 256 bytes
    `tool:bash` is not a valid section name: keys beginning with `prompt:`, `tool:`, `context:` or `message:` name other parts of a request
    `prompt:custom` is not a valid section name: keys beginning with `prompt:`, `tool:`, `context:` or `message:` name other parts of a request
    ");
    assert!(
        scope
            .section(dynamic("clock").cadence(step("time passes")))
            .is_ok()
    );
    let granted = dynamic("rules")
        .from_source(project(), Trust::Project)
        .granted_by(Source::Setting {
            name: "grant.rules".into(),
        });
    assert!(scope.section(granted).is_ok());
}

#[test]
fn contexts_variables_and_listeners_that_break_a_rule_are_refused() {
    let scope = Scope::global();
    let tail = Context::new("branch", "x")
        .delivery(Delivery::Tail)
        .from_source(file(".git/HEAD", None), Trust::Project);
    let refusals = [
        refused(scope.context(tail)),
        refused(scope.context(Context::new("a\nb", "x"))),
        refused(scope.context(Context::new("snapshot", "x"))),
        refused(scope.context(Context::new("note", "x").delivery(Delivery::Message))),
        refused(scope.context(Context::new("note", "x").message(Kind::UserPrompt))),
        refused(scope.variable("", Text::from("x"))),
        refused(scope.variable("Name", Text::from("x"))),
        refused(scope.variable("9lives", Text::from("x"))),
        refused(scope.variable("two-words", Text::from("x"))),
        refused(scope.variable("naïve\n", Text::from("x"))),
        refused(scope.listener("", 0, Pass)),
    ];
    assert_snapshot!(refusals.join("\n"), @r"
    context `branch` comes from .git/HEAD with trust `project` and asks for a tail line, which stands in the system prompt; deliver it as a snapshot instead
    `a\nb` is not a valid context name: it has control characters, or white space at an end
    `snapshot` is not a valid context name: the snapshot's own opening and closing lines bear that name
    context `note` asks for a message of its own of kind Snapshot, which would be taken for something else; call `message(kind)` with the kind it has: instructions, memory, skill, document, hook context, MCP instructions, session reference or summary
    context `note` asks for a message of its own of kind UserPrompt, which would be taken for something else; call `message(kind)` with the kind it has: instructions, memory, skill, document, hook context, MCP instructions, session reference or summary
    `` is not a valid variable name: it must be a lower-case letter, then lower-case letters, digits and underscores
    `Name` is not a valid variable name: it must be a lower-case letter, then lower-case letters, digits and underscores
    `9lives` is not a valid variable name: it must be a lower-case letter, then lower-case letters, digits and underscores
    `two-words` is not a valid variable name: it must be a lower-case letter, then lower-case letters, digits and underscores
    `naïve\n` is not a valid variable name: it must be a lower-case letter, then lower-case letters, digits and underscores
    `` is not a valid listener name: it is empty
    ");
    for kind in Kind::ALL {
        let accepted = scope.context(Context::new("note", "x").message(kind)).is_ok();
        let marked = crate::marker::tag(kind).is_some();
        assert!(!accepted || marked, "{kind:?} would travel without a marker");
    }
}

#[test]
fn a_refused_registration_tells_observers_nothing() {
    let scope = Scope::global();
    let _first = scope.section(Section::new("a", "one")).unwrap();
    let (_watching, seen) = watch(&scope);
    refused(scope.section(Section::new("a", "two")));
    refused(scope.section(Section::new("", "two")));
    assert!(seen.lock().unwrap().is_empty());
}

#[test]
fn every_registration_and_removal_is_announced_throughout_the_tree() {
    let scope = Scope::global();
    let agent = scope.child("agent");
    let (watching, seen) = watch(&agent);
    let elsewhere = Scope::global();
    let _unheard = elsewhere.section(Section::new("other-tree", "x")).unwrap();
    let registered = (
        scope.section(Section::new("a", "x")).unwrap(),
        agent.context(Context::new("b", "x")).unwrap(),
        scope.variable("c", Text::from("x")).unwrap(),
        agent.listener("d", 0, Pass).unwrap(),
        scope.tools(ToolSet::default()),
        agent.suppress_runtime_context(),
    );
    drop(registered);
    drop(watching);
    let _unheard = scope.section(Section::new("late", "x")).unwrap();
    assert_snapshot!(seen.lock().unwrap().join("\n"), @"
    +section a @global
    +context b @agent
    +variable c @global
    +listener d @agent
    +tools  @global
    +suppression  @agent
    -section a @global
    -context b @agent
    -variable c @global
    -listener d @agent
    -tools  @global
    -suppression  @agent
    ");
}

#[test]
fn registrations_that_outlive_their_layer_still_announce_their_end() {
    let scope = Scope::global();
    let (_watching, seen) = watch(&scope);
    let child = scope.child("child");
    let section = child.section(Section::new("a", "x")).unwrap();
    let (of_child, child_saw) = watch(&child);
    drop(child);
    drop(section);
    assert_eq!(*seen.lock().unwrap(), ["+section a @child", "-section a @child"]);
    drop(of_child);
    let _more = scope.section(Section::new("b", "x")).unwrap();
    assert_eq!(
        child_saw.lock().unwrap().len(),
        1,
        "a dropped observer hears no more"
    );
}

#[test]
fn a_registration_may_outlive_the_whole_tree() {
    let scope = Scope::global();
    let section = scope.section(Section::new("a", "x")).unwrap();
    let (watching, _) = watch(&scope);
    drop(scope);
    drop((section, watching));
}

#[test]
fn a_provider_may_own_registrations_of_its_own_layer() {
    let scope = Scope::global();
    let owner = |name: &str, owned: Registration| {
        Section::new(name, Body::compute(move |_| Ok(format!("owns {owned:?}"))))
    };
    let outer = scope
        .section(owner("outer", scope.section(Section::new("inner", "x")).unwrap()))
        .unwrap();
    drop(outer);
    assert_eq!(
        render(&scope).unwrap().system.fragments(),
        [],
        "both are gone, without a deadlock"
    );

    let _taken = scope.section(Section::new("outer", "x")).unwrap();
    let variable = scope.variable("v", Text::from("x")).unwrap();
    refused(scope.section(owner("outer", variable)));
    assert!(
        scope.variable("v", Text::from("y")).is_ok(),
        "the refused owner let go"
    );
}

#[test]
fn an_observer_may_register_remove_and_own_observers() {
    let scope = Scope::global();
    let held: Arc<Mutex<Vec<Registration>>> = Arc::default();
    let (into, on) = (held.clone(), scope.clone());
    let (inner, _) = watch(&scope);
    let inner = Mutex::new(Some(inner));
    let watching = scope.observe(move |change| {
        drop(inner.lock().unwrap().take());
        if &*change.name == "a" {
            match change.kind {
                ChangeKind::Registered => {
                    let echo = on.section(Section::new("echo", "echo")).unwrap();
                    into.lock().unwrap().push(echo);
                }
                ChangeKind::Removed => {
                    let echo = into.lock().unwrap().pop();
                    drop(echo);
                }
            }
        }
    });
    let a = scope.section(Section::new("a", "a")).unwrap();
    assert_eq!(render(&scope).unwrap().system.full_text(), "a\n\necho");
    drop(a);
    assert_eq!(render(&scope).unwrap().system.full_text(), "");
    drop(watching);
    assert!(held.lock().unwrap().is_empty());
}

#[test]
fn the_nearest_name_wins_and_the_shadowed_is_reported_and_never_called() {
    let (near, far) = (Calls::default(), Calls::default());
    let global = Scope::global();
    let agent = global.child("session").child("agent");
    let _far = (
        global.section(Section::new("s", far.body("far {{v}}"))).unwrap(),
        global.context(Context::new("c", far.body("far"))).unwrap(),
        global.variable("v", far.variable("far")).unwrap(),
    );
    let _near = (
        agent.section(Section::new("s", near.body("near {{v}}"))).unwrap(),
        agent.context(Context::new("c", near.body("near"))).unwrap(),
        agent.variable("v", near.variable("near")).unwrap(),
    );
    let rendered = render(&agent).unwrap();
    assert_eq!(rendered.system.full_text(), "near near");
    assert_eq!((near.count(), far.count()), (3, 0));
    let shadowed: Vec<String> = rendered
        .assembly
        .shadowed
        .iter()
        .map(|s| format!("{} {}: {}", s.what, s.name, s.reason))
        .collect();
    assert_snapshot!(shadowed.join("\n"), @"
    variable v: a nearer one is registered in scope `agent`
    section s: a nearer one is registered in scope `agent`
    context c: a nearer one is registered in scope `agent`
    ");
    assert!(bytes(&rendered).contains("# c\\nnear"));
    assert_eq!(
        render(&global).unwrap().system.full_text(),
        "far far",
        "from farther out nothing changed"
    );
}
