use std::sync::Arc;

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::fixtures::{Calls, file, render};
use crate::registry::{Body, BoxFuture, Context, Delivery, ProviderError, Section, Tool, ToolSet};
use crate::{Authority, Group, Registration, Scope, Source, Trust};

/// A listener from a plain function over the draft, before or after the rest of the chain.
struct Rewrite<F> {
    edit: F,
    after: bool,
}

impl<F> AssemblyListener for Rewrite<F>
where
    F: Fn(&mut Draft) -> Result<(), ProviderError> + Send + Sync,
{
    fn assemble<'a>(
        &'a self,
        mut draft: Draft,
        next: Next<'a>,
    ) -> BoxFuture<'a, Result<Draft, ProviderError>> {
        Box::pin(async move {
            if self.after {
                draft = next.run(draft).await?;
                (self.edit)(&mut draft)?;
                return Ok(draft);
            }
            (self.edit)(&mut draft)?;
            next.run(draft).await
        })
    }
}

fn before<F>(edit: F) -> Rewrite<F>
where
    F: Fn(&mut Draft) -> Result<(), ProviderError> + Send + Sync,
{
    Rewrite { edit, after: false }
}

fn after<F>(edit: F) -> Rewrite<F>
where
    F: Fn(&mut Draft) -> Result<(), ProviderError> + Send + Sync,
{
    Rewrite { edit, after: true }
}

/// Answers without asking the rest.
struct Cut;

impl AssemblyListener for Cut {
    fn assemble<'a>(&'a self, mut draft: Draft, _: Next<'a>) -> BoxFuture<'a, Result<Draft, ProviderError>> {
        draft.sections.truncate(1);
        Box::pin(std::future::ready(Ok(draft)))
    }
}

fn composition(scope: &Scope) -> Vec<Registration> {
    let project = file("AGENTS.md", None);
    let tools = ToolSet {
        visible: vec![Tool::new("bash", "runs", &json!({}))],
        hidden: Vec::new(),
    };
    vec![
        scope.section(Section::new("identity", "You are.")).unwrap(),
        scope
            .section(Section::new("loose", "Loose.").group(Group::Dynamic))
            .unwrap(),
        scope
            .context(Context::new("rules", "Obey me!").from_source(project, Trust::Project))
            .unwrap(),
        scope
            .context(Context::new("date", "today").delivery(Delivery::Tail))
            .unwrap(),
        scope.tools(tools),
    ]
}

fn with_listener(listener: impl AssemblyListener + 'static) -> Result<crate::Rendered, crate::SessionError> {
    let scope = Scope::global();
    let _kept = composition(&scope);
    let _listener = scope.listener("plugin", 0, listener).unwrap();
    render(&scope)
}

fn refused(edit: impl Fn(&mut Draft) + Send + Sync + 'static) -> String {
    let listener = before(move |draft: &mut Draft| {
        edit(draft);
        Ok(())
    });
    with_listener(listener).unwrap_err().to_string()
}

fn tag(name: &'static str) -> impl Fn(&mut Draft) -> Result<(), ProviderError> {
    move |draft| {
        for item in draft.sections.iter_mut().take(1) {
            item.text = format!("{}{name} ", item.text).into();
        }
        Ok(())
    }
}

#[test]
fn listeners_run_by_order_then_name_whatever_their_scope() {
    let global = Scope::global();
    let agent = global.child("agent");
    let _section = global.section(Section::new("s", "- ")).unwrap();
    let _listeners = (
        agent.listener("b", 1, before(tag("1b"))).unwrap(),
        global.listener("late", 2, after(tag("on-the-way-back"))).unwrap(),
        global.listener("c", 1, before(tag("1c"))).unwrap(),
        agent.listener("z", -5, before(tag("-5z"))).unwrap(),
        agent.listener("end", 9, before(tag("9end"))).unwrap(),
    );
    assert_eq!(
        render(&agent).unwrap().system.full_text(),
        "- -5z 1b 1c 9end on-the-way-back"
    );
    assert_eq!(
        render(&global).unwrap().system.full_text(),
        "- 1c on-the-way-back"
    );
}

#[test]
fn a_listener_may_cut_the_chain_short() {
    let scope = Scope::global();
    let _kept = composition(&scope);
    let never = Calls::default();
    let counted = never.clone();
    let _listeners = (
        scope.listener("cut", 0, Cut).unwrap(),
        scope
            .listener(
                "never",
                1,
                before(move |_: &mut Draft| {
                    counted.add();
                    Ok(())
                }),
            )
            .unwrap(),
    );
    assert_eq!(
        render(&scope).unwrap().system.full_text(),
        "You are.\n\ndate: today"
    );
    assert_eq!(never.count(), 0);
}

#[test]
fn errors_name_the_innermost_listener_that_failed() {
    let scope = Scope::global();
    let _listeners = (
        scope.listener("outer", 0, after(|_: &mut Draft| Ok(()))).unwrap(),
        scope
            .listener("middle", 1, before(|_: &mut Draft| Ok(())))
            .unwrap(),
        scope
            .listener("inner", 2, before(|_: &mut Draft| Err("out of tune".into())))
            .unwrap(),
        scope
            .listener("innocent", 3, before(|_: &mut Draft| Ok(())))
            .unwrap(),
    );
    let error = render(&scope).unwrap_err().to_string();
    assert_snapshot!(error, @"the assembly listener `inner` failed: out of tune");
}

#[test]
fn a_complete_section_stays_alone_and_as_evaluated() {
    let called = Calls::default();
    let scope = Scope::global();
    let _kept = composition(&scope);
    let _complete = scope
        .section(Section::new("all", "All.").group(Group::Appended).complete())
        .unwrap();
    let _left_out = scope.section(Section::new("other", called.body("x"))).unwrap();
    let _listener = scope
        .listener(
            "meddler",
            0,
            before(|draft: &mut Draft| {
                let mut other = draft.sections[0].clone();
                other.key = "other".into();
                other.text = "Ignore that.".into();
                draft.sections = vec![other];
                Ok(())
            }),
        )
        .unwrap();
    let rendered = render(&scope).unwrap();
    assert_eq!(rendered.system.full_text(), "All.\n\ndate: today");
    assert_eq!(
        called.count(),
        0,
        "what a complete section leaves out is not called"
    );
    let left_out: Vec<&str> = rendered.assembly.shadowed.iter().map(|s| &*s.name).collect();
    assert_eq!(left_out, ["identity", "loose", "other"]);
}

#[test]
fn a_complete_section_without_text_contributes_nothing() {
    let calls = Calls::default();
    let scope = Scope::global();
    let _kept = composition(&scope);
    let _complete = scope
        .section(Section::new("all", calls.body(" \n")).complete())
        .unwrap();
    assert_eq!(
        render(&scope).unwrap().system.full_text(),
        "You are.\n\nLoose.\n\ndate: today"
    );
    assert_eq!(calls.count(), 1);
}

#[test]
fn two_complete_sections_are_refused_before_either_is_called() {
    let calls = Calls::default();
    let global = Scope::global();
    let agent = global.child("agent");
    let complete = |key: &str, path: &str| {
        Section::new(key, calls.body("x"))
            .complete()
            .from_source(file(path, None), Trust::User)
    };
    let _kept = (
        agent.section(complete("b", "b.md")).unwrap(),
        global
            .section(complete("a", "a.md").group(Group::Dynamic))
            .unwrap(),
    );
    assert_snapshot!(render(&agent).unwrap_err().to_string(), @"two sections claim to be the whole system prompt: `b` (b.md) and `a` (a.md); drop one, make one not `complete`, or give both the same key in different scopes, where the nearer wins");
    assert_eq!(calls.count(), 0);
    let _nearer = agent.section(Section::new("a", "plain")).unwrap();
    assert_eq!(
        render(&agent).unwrap().system.full_text(),
        "x",
        "a shadowed one does not count"
    );
}

#[test]
fn suppressed_contexts_are_not_called_and_stay_cleared() {
    let calls = Calls::default();
    let global = Scope::global();
    let agent = global.child("agent");
    let _kept = (
        global.context(Context::new("git", calls.body("dirty"))).unwrap(),
        agent
            .context(Context::new("date", calls.body("today")).delivery(Delivery::Tail))
            .unwrap(),
        global
            .listener(
                "meddler",
                0,
                after(|draft: &mut Draft| {
                    draft.contexts.push(ContextItem {
                        name: "git".into(),
                        order: 0,
                        delivery: Delivery::Snapshot,
                        kind: crate::Kind::Snapshot,
                        trust: Trust::Builtin,
                        source: Source::Plugin {
                            name: "meddler".into(),
                        },
                        interpolation: crate::Interpolation::Literal,
                        text: "clean".into(),
                    });
                    Ok(())
                }),
            )
            .unwrap(),
    );
    let suppression = agent.suppress_runtime_context();
    let second = global.suppress_runtime_context();
    let rendered = render(&agent).unwrap();
    assert!(rendered.assembly.context_suppressed);
    assert_eq!(rendered.context, crate::RuntimeContext::default());
    assert_eq!((calls.count(), rendered.system.tail().len()), (0, 0));
    assert_snapshot!(format!("{:#?}", rendered.assembly.shadowed), @r#"
    [
        Shadowed {
            what: "context",
            name: "date",
            reason: "runtime context is suppressed in scope `agent`",
        },
        Shadowed {
            what: "context",
            name: "git",
            reason: "runtime context is suppressed in scope `agent`",
        },
    ]
    "#);
    drop(suppression);
    assert!(
        render(&agent).unwrap().assembly.context_suppressed,
        "any active one in the chain wins"
    );
    drop(second);
    let _elsewhere = global.child("other").suppress_runtime_context();
    assert!(
        render(&agent).is_err(),
        "the meddler's duplicate is no longer cleared away"
    );
    assert_eq!(calls.count(), 2);
}

#[test]
fn no_listener_brings_untrusted_text_into_the_system_lane() {
    let promote = |draft: &mut Draft, trust: Trust, grant: Option<Source>| {
        let rules = draft
            .contexts
            .iter()
            .find(|item| &*item.name == "rules")
            .unwrap()
            .clone();
        let mut section = draft.sections[0].clone();
        section.key = "promoted".into();
        (section.text, section.source, section.trust, section.grant) =
            (rules.text, rules.source, trust, grant);
        draft.sections.push(section);
    };
    let claimed = Source::Setting {
        name: "forged".into(),
    };
    let errors = [
        refused(move |draft| promote(draft, Trust::Project, None)),
        refused(move |draft| promote(draft, Trust::Builtin, None)),
        refused(move |draft| promote(draft, Trust::Project, Some(claimed.clone()))),
        refused(|draft| {
            for item in &mut draft.contexts {
                item.delivery = Delivery::Tail;
            }
        }),
        refused(|draft| {
            for item in &mut draft.contexts {
                item.delivery = Delivery::Tail;
                item.trust = Trust::Builtin;
            }
        }),
        refused(|draft| draft.sections[0].trust = Trust::External),
    ];
    assert_snapshot!(errors.join("\n"), @"
    `promoted` (AGENTS.md, trust `project`) may not be part of the system prompt: text of that trust needs an operator's grant by name; deliver it as a context, or grant it in the user configuration
    `promoted` (AGENTS.md, trust `project`) may not be part of the system prompt: text of that trust needs an operator's grant by name; deliver it as a context, or grant it in the user configuration
    `promoted` (AGENTS.md, trust `project`) may not be part of the system prompt: text of that trust needs an operator's grant by name; deliver it as a context, or grant it in the user configuration
    `rules` (AGENTS.md, trust `project`) may not be part of the system prompt: text of that trust needs an operator's grant by name; deliver it as a context, or grant it in the user configuration
    `rules` (AGENTS.md, trust `project`) may not be part of the system prompt: text of that trust needs an operator's grant by name; deliver it as a context, or grant it in the user configuration
    `identity` (plugin:identity, trust `external`) may not be part of the system prompt: text of that trust needs an operator's grant by name; deliver it as a context, or grant it in the user configuration
    ");
}

#[test]
fn a_granted_text_may_also_stand_as_a_context() {
    let scope = Scope::global();
    let project = || file("AGENTS.md", None);
    let _kept = (
        scope
            .context(Context::new("rules", "Obey.").from_source(project(), Trust::Project))
            .unwrap(),
        scope
            .section(
                Section::new("rules", "Obey.")
                    .from_source(project(), Trust::Project)
                    .granted_by(Source::Setting {
                        name: "grants".into(),
                    }),
            )
            .unwrap(),
        scope.listener("idle", 0, before(|_: &mut Draft| Ok(()))).unwrap(),
    );
    assert_eq!(render(&scope).unwrap().system.full_text(), "Obey.");
}

#[test]
fn what_listeners_leave_must_be_well_formed() {
    let errors = [
        refused(|draft| draft.sections.push(draft.sections[0].clone())),
        refused(|draft| draft.contexts.push(draft.contexts[0].clone())),
        refused(|draft| draft.tools.push(draft.tools[0].clone())),
        refused(|draft| draft.sections[0].authority = Authority::User),
    ];
    assert_snapshot!(errors.join("\n"), @"
    after the assembly listeners there are two sections named `identity`; a listener added one: give it a name of its own, or replace the other
    after the assembly listeners there are two contexts named `rules`; a listener added one: give it a name of its own, or replace the other
    after the assembly listeners there are two tools named `bash`; a listener added one: give it a name of its own, or replace the other
    an assembly listener made section `identity` speak as user: a system prompt carries the authority of the system or the developer
    ");
}

#[test]
fn a_listeners_order_stands_within_a_group_and_static_text_stays_first() {
    let listener = after(|draft: &mut Draft| {
        let mut extra = draft.sections[0].clone();
        (extra.key, extra.text) = ("extra".into(), "Extra.".into());
        draft.sections.insert(0, extra);
        let mut blank = draft.sections[0].clone();
        (blank.key, blank.text) = ("blank".into(), "\n".into());
        draft.sections.push(blank);
        draft.sections.reverse();
        Ok(())
    });
    let rendered = with_listener(listener).unwrap();
    assert_eq!(
        rendered.system.full_text(),
        "You are.\n\nExtra.\n\nLoose.\n\ndate: today"
    );
}

#[test]
fn sections_stand_by_group_order_and_key() {
    let scope = Scope::global();
    let placed = [
        ("b", Group::Static, 0),
        ("a", Group::Appended, -9),
        ("c", Group::Static, -1),
        ("a2", Group::Static, 0),
        ("d", Group::Dynamic, i32::MIN),
        ("e", Group::Dynamic, i32::MAX),
    ];
    let _kept = placed.map(|(key, group, order)| {
        scope
            .section(
                Section::new(key, Body::Text(key.into()))
                    .group(group)
                    .order(order),
            )
            .unwrap()
    });
    assert_eq!(
        render(&scope).unwrap().system.full_text().replace("\n\n", " "),
        "c a2 b d e a"
    );
}

#[test]
fn an_assembly_renders_alike_as_often_as_it_is_asked() {
    let scope = Scope::global();
    let _kept = composition(&scope);
    let assembly: Arc<Assembly> = Arc::new(render(&scope).unwrap().assembly);
    let cache = crate::RenderCache::default();
    let first = (
        assembly.render_system(&cache).unwrap(),
        assembly.render_context(&cache).unwrap(),
    );
    let fresh = crate::RenderCache::default();
    let again = (
        assembly.render_system(&fresh).unwrap(),
        assembly.render_context(&fresh).unwrap(),
    );
    assert_eq!(first, again);
}
