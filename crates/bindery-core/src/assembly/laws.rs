//! Laws of assembly, over generated compositions.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::fixtures::{Calls, block_on, bytes, file, render};
use crate::registry::{
    Body, BoxFuture, ChangeKind, Context, Delivery, ProviderError, Section, Tool, ToolSet,
};
use crate::{
    Block, BlockScope, Cadence, Fragment, Group, Kind, Modes, Registration, Rendered, Scope, Session, Text,
    Trust,
};

/// One thing to register, at one of three layers.
#[derive(Debug, Clone)]
struct Plan {
    layer: usize,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Section {
        key: String,
        group: Group,
        order: i32,
        text: String,
        modes: Modes,
    },
    Context {
        name: String,
        order: i32,
        delivery: Delivery,
        text: String,
        trust: Trust,
    },
    Variable {
        name: String,
        value: Option<String>,
    },
    Tools {
        names: BTreeSet<String>,
        provider: u32,
    },
    Listener {
        name: String,
        order: i32,
    },
    Suppression,
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn name() -> impl Strategy<Value = String> {
    proptest::sample::select(&NAMES[..]).prop_map(str::to_owned)
}

/// Text that refers to variables which every composition of [`plans`] defines globally.
fn text() -> impl Strategy<Value = String> {
    "(\\{\\{a\\}\\}|\\{\\{b\\}\\}|[xyé \n<&]|</bindery-context>){0,6}"
}

fn group() -> impl Strategy<Value = Group> {
    prop_oneof![Just(Group::Static), Just(Group::Dynamic), Just(Group::Appended)]
}

fn delivery() -> impl Strategy<Value = Delivery> {
    prop_oneof![
        Just(Delivery::Snapshot),
        Just(Delivery::Tail),
        Just(Delivery::Reminder),
        Just(Delivery::Message)
    ]
}

fn what() -> impl Strategy<Value = What> {
    let modes = prop_oneof![Just(Modes::Both), Just(Modes::FullOnly), Just(Modes::MinimalOnly)];
    let trust = prop_oneof![Just(Trust::Builtin), Just(Trust::User)];
    prop_oneof![
        4 => (name(), group(), -1..2, text(), modes)
            .prop_map(|(key, group, order, text, modes)| What::Section { key, group, order, text, modes }),
        3 => (name(), -1..2, delivery(), text(), trust)
            .prop_map(|(name, order, delivery, text, trust)| What::Context { name, order, delivery, text, trust }),
        2 => (name(), proptest::option::of("[x{}a]{0,4}")).prop_map(|(name, value)| {
            // `a` and `b` are referred to, so they are always defined.
            let value = if *name < *"c" { Some(value.unwrap_or_default()) } else { value };
            What::Variable { name, value }
        }),
        1 => (proptest::collection::btree_set(name(), 0..4), any::<u32>())
            .prop_map(|(names, provider)| What::Tools { names, provider }),
        1 => (name(), -1..2).prop_map(|(name, order)| What::Listener { name, order }),
        1 => Just(What::Suppression),
    ]
}

/// Plans without two of one name in one layer, and globally defined `a` and `b`.
fn plans() -> impl Strategy<Value = Vec<Plan>> {
    proptest::collection::vec((0..3_usize, what()), 0..16).prop_map(|plans| {
        let mut taken = BTreeSet::new();
        let defined = ["a", "b"].map(|name| {
            (
                0,
                What::Variable {
                    name: name.into(),
                    value: Some(name.into()),
                },
            )
        });
        defined
            .into_iter()
            .chain(plans)
            .filter(|(layer, what)| taken.insert((*layer, identity(what))))
            .map(|(layer, what)| Plan { layer, what })
            .collect()
    })
}

fn identity(what: &What) -> (u8, String) {
    match what {
        What::Section { key, .. } => (0, key.clone()),
        What::Context { name, .. } => (1, name.clone()),
        What::Variable { name, .. } => (2, name.clone()),
        What::Listener { name, .. } => (3, name.clone()),
        What::Tools { provider, .. } => (4, provider.to_string()),
        What::Suppression => (5, String::new()),
    }
}

/// A listener that signs the last section, so that the order of listeners shows.
struct Sign(String);

impl AssemblyListener for Sign {
    fn assemble<'a>(
        &'a self,
        mut draft: Draft,
        next: Next<'a>,
    ) -> BoxFuture<'a, Result<Draft, ProviderError>> {
        if let Some(item) = draft.sections.last_mut() {
            item.text = format!("{} signed {}", item.text, self.0).into();
        }
        next.run(draft)
    }
}

fn layers() -> [Scope; 3] {
    let global = Scope::global();
    let session = global.child("session");
    let agent = session.child("agent");
    [global, session, agent]
}

fn register(scopes: &[Scope; 3], plan: &Plan) -> Registration {
    let scope = &scopes[plan.layer];
    match plan.what.clone() {
        What::Section {
            key,
            group,
            order,
            text,
            modes,
        } => scope
            .section(Section::new(key, text).group(group).order(order).modes(modes))
            .unwrap(),
        What::Context {
            name,
            order,
            delivery,
            text,
            trust,
        } => {
            let context = Context::new(name, text).order(order);
            let context = match delivery {
                Delivery::Message => context.message(Kind::Memory),
                other => context.delivery(other),
            };
            scope
                .context(context.from_source(file("f", None), trust))
                .unwrap()
        }
        What::Variable { name, value } => scope
            .variable(name, move |_: &crate::Evaluation| Ok(value.clone()))
            .unwrap(),
        What::Tools { names, provider } => scope.tools(ToolSet {
            visible: names
                .iter()
                .map(|name| Tool::new(name.as_str(), "does", &json!({})).id(provider.to_string()))
                .collect(),
            hidden: Vec::new(),
        }),
        What::Listener { name, order } => scope
            .listener(format!("{name}{}", plan.layer), order, Sign(name))
            .unwrap(),
        What::Suppression => scope.suppress_runtime_context(),
    }
}

fn compose(plans: &[Plan]) -> ([Scope; 3], Vec<Registration>) {
    let scopes = layers();
    let kept = plans.iter().map(|plan| register(&scopes, plan)).collect();
    (scopes, kept)
}

fn shuffled() -> impl Strategy<Value = (Vec<Plan>, Vec<Plan>)> {
    plans().prop_flat_map(|plans| (Just(plans.clone()), Just(plans).prop_shuffle()))
}

fn fragments(rendered: &Rendered) -> Vec<&Fragment> {
    let context = &rendered.context;
    let snapshot = context.snapshot.iter().flat_map(|snapshot| &snapshot.fragments);
    let system = rendered.system.fragments().iter().chain(rendered.system.tail());
    system
        .chain(snapshot)
        .chain(&context.reminders)
        .chain(&context.messages)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_order_of_registration_never_changes_a_byte((plans, shuffled) in shuffled()) {
        let ((one, _kept), (other, _also)) = (compose(&plans), compose(&shuffled));
        prop_assert_eq!(bytes(&render(&one[2]).unwrap()), bytes(&render(&other[2]).unwrap()));
    }

    #[test]
    fn to_register_and_drop_is_the_identity(plans in plans(), extra in plans(), layer in 0..3_usize) {
        let (scopes, _kept) = compose(&plans);
        let before = bytes(&render(&scopes[layer]).unwrap());
        let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let into = seen.clone();
        let _watching = scopes[2].observe(move |change| into.lock().unwrap().push(change.clone()));
        let taken: BTreeSet<_> = plans.iter().map(|plan| (plan.layer, identity(&plan.what))).collect();
        let extra: Vec<Registration> = extra
            .iter()
            .filter(|plan| !taken.contains(&(plan.layer, identity(&plan.what))))
            .map(|plan| register(&scopes, plan))
            .collect();
        let count = extra.len();
        drop(extra);
        prop_assert_eq!(bytes(&render(&scopes[layer]).unwrap()), before);
        let seen = seen.lock().unwrap();
        let (made, gone) = seen.split_at(count);
        prop_assert_eq!(made.len(), gone.len());
        for (made, gone) in made.iter().zip(gone) {
            prop_assert_eq!((made.kind, gone.kind), (ChangeKind::Registered, ChangeKind::Removed));
            prop_assert_eq!((made.what, &made.name, &made.scope), (gone.what, &gone.name, &gone.scope));
        }
    }

    #[test]
    fn only_static_text_decides_the_prefix(plans in plans(), texts in proptest::collection::vec(text(), 16)) {
        // Listeners may rewrite static text, so they are left out here.
        let plans: Vec<Plan> = plans.into_iter().filter(|plan| !matches!(plan.what, What::Listener { .. })).collect();
        let renders = std::sync::Arc::default();
        let prefix = |plans: &[Plan]| {
            let (scopes, _kept) = compose(plans);
            let session = &mut Session::sharing(scopes[2].clone(), std::sync::Arc::clone(&renders));
            block_on(session.render(&AssembleOptions::default())).unwrap().system.cacheable_prefix().clone()
        };
        let before = prefix(&plans);
        let mut changed = plans;
        for (plan, new) in changed.iter_mut().zip(texts) {
            match &mut plan.what {
                What::Section { group: Group::Static, .. } | What::Variable { .. } => {}
                What::Section { text, .. } | What::Context { text, .. } => *text = new,
                What::Tools { names, .. } => *names = BTreeSet::new(),
                What::Listener { .. } | What::Suppression => plan.what = What::Suppression,
            }
        }
        let after = prefix(&changed);
        prop_assert_eq!(before.as_str(), after.as_str());
        prop_assert!(before.same_revision(&after));
    }

    #[test]
    fn the_three_views_agree(plans in plans(), mode in prop_oneof![Just(Mode::Full), Just(Mode::Minimal), Just(Mode::None)]) {
        let (scopes, _kept) = compose(&plans);
        let options = AssembleOptions { mode, ..AssembleOptions::default() };
        let rendered = crate::fixtures::render_with(&scopes[2], &options).unwrap();
        let prompt = &rendered.system;
        let full = prompt.full_text();
        prop_assert!(full.starts_with(prompt.cacheable_prefix().as_str()));
        let blocks = prompt.blocks();
        let has = |wanted: BlockScope| blocks.iter().any(|block| matches!(block, Block::Text { scope, .. } if *scope == wanted));
        let boundaries = blocks.iter().filter(|block| matches!(block, Block::Boundary)).count();
        prop_assert_eq!(boundaries == 1, has(BlockScope::Static) && has(BlockScope::Session));
        prop_assert!(boundaries <= 1);
        let texts: Vec<String> = blocks.iter().filter_map(Block::text).collect();
        prop_assert!(texts.iter().all(|text| !text.is_empty()));
        prop_assert_eq!(texts.join(crate::SEPARATOR), full);
        prop_assert!(prompt.fragments().is_sorted_by_key(|fragment| fragment.group));
        prop_assert!(prompt.static_fragments().iter().all(|fragment| fragment.group == Group::Static));
        if mode == Mode::None {
            prop_assert!(blocks.is_empty() && rendered.context == crate::RuntimeContext::default());
        }
    }

    #[test]
    fn fragments_have_unique_keys_and_only_trusted_ones_command(plans in plans(), untrusted in text()) {
        let (scopes, _kept) = compose(&plans);
        let context = Context::new("zz", untrusted).from_source(file("README.md", None), Trust::External);
        let _foreign = scopes[1].context(context).unwrap();
        let rendered = render(&scopes[2]).unwrap();
        let all = fragments(&rendered);
        let keys: BTreeSet<&str> = all.iter().map(|fragment| &*fragment.key).collect();
        prop_assert_eq!(keys.len(), all.len());
        for fragment in all {
            let commands = fragment.authority <= crate::Authority::Developer;
            prop_assert!(!commands || fragment.may_command());
        }
    }

    #[test]
    fn two_engines_with_the_same_inputs_have_the_same_bytes_and_warm_is_cold(plans in plans()) {
        let ((one, _kept), (other, _also)) = (compose(&plans), compose(&plans));
        let mut warm = Session::new(one[2].clone());
        let options = AssembleOptions::default();
        let cold = bytes(&render(&other[2]).unwrap());
        for _ in 0..3 {
            warm.begin_submission();
            let renders = warm.renders().renders();
            let again = bytes(&block_on(warm.render(&options)).unwrap());
            prop_assert_eq!(&again, &cold);
            prop_assert!(renders == 0 || renders == warm.renders().renders(), "nothing is rendered twice");
        }
    }

    #[test]
    fn only_the_effective_are_called_and_each_once(
        at in proptest::collection::btree_set((0..3_usize, 0..5_u8), 0..15),
        suppressed in any::<bool>(),
        mode in prop_oneof![Just(Mode::Full), Just(Mode::Minimal)],
    ) {
        let scopes = layers();
        let mut kept = Vec::new();
        let mut expected = Vec::new();
        for (layer, kind) in &at {
            let calls = Calls::default();
            let nearest = !at.iter().any(|(other, of)| of == kind && other > layer);
            let scope = &scopes[*layer];
            let step = Cadence::Step { reason: "law".into() };
            let (registration, effective) = match kind {
                0 => (scope.section(Section::new("s", calls.body("x"))), nearest),
                1 => {
                    let section = Section::new("m", calls.body("x")).group(Group::Dynamic).cadence(step);
                    (scope.section(section.modes(Modes::FullOnly)), nearest && mode == Mode::Full)
                }
                2 => (scope.context(Context::new("c", calls.body("x"))), nearest && !suppressed),
                3 => (scope.variable("v", calls.variable("x")), nearest),
                _ => (Ok(scope.tools(calls.tools(ToolSet::default()))), true),
            };
            kept.push(registration.unwrap());
            expected.push((calls, u64::from(effective)));
        }
        kept.extend(suppressed.then(|| scopes[0].suppress_runtime_context()));
        let mut session = Session::new(scopes[2].clone());
        let options = AssembleOptions { mode, ..AssembleOptions::default() };
        for _ in 0..2 {
            block_on(session.render(&options)).unwrap();
            for (calls, expected) in &expected {
                prop_assert_eq!(calls.count(), *expected);
            }
        }
    }

    #[test]
    fn a_complete_section_alone_remains(plans in plans(), text in "[xy]{1,5}", layer in 0..3_usize) {
        let (scopes, _kept) = compose(&plans);
        let text = Text::from(text.as_str());
        let complete = Section::new("complete", Body::Text(text.clone())).group(Group::Dynamic).complete();
        let _complete = scopes[layer].section(complete).unwrap();
        let system = render(&scopes[2]).unwrap().system;
        let texts: Vec<&Text> = system.fragments().iter().map(|fragment| &fragment.text).collect();
        prop_assert_eq!(texts, [&text]);
        prop_assert_eq!(system.cacheable_prefix().as_str(), "");
    }

    #[test]
    fn suppression_anywhere_in_the_chain_clears_all_context(plans in plans(), layer in 0..3_usize) {
        let (scopes, _kept) = compose(&plans);
        let _suppression = scopes[layer].suppress_runtime_context();
        let rendered = render(&scopes[2]).unwrap();
        prop_assert_eq!(&rendered.context, &crate::RuntimeContext::default());
        prop_assert_eq!(rendered.system.tail(), []);
        prop_assert!(rendered.assembly.context_suppressed);
    }
}
