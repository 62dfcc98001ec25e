//! The stages in their order.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::constraints::{Constraints, well_formed};
use super::effective::{Effective, ScopedTools, effective};
use super::waterfall::waterfall;
use super::{AssembleError, AssembleOptions, Assembly, ContextItem, Draft, Memo, SectionItem};
use crate::registry::{Entry, Evaluation, Scope, Section, Tool};
use crate::{Cadence, Text, Trust};

/// Assembles once. Every provider is called at most once, and at most once a step.
pub(crate) async fn assemble(
    scope: &Scope,
    options: &AssembleOptions,
    memo: &mut Memo,
) -> Result<Assembly, AssembleError> {
    let evaluation = Evaluation {
        scope: scope.0.name.clone(),
        mode: options.mode,
    };
    let mut found = effective(&scope.0, options);
    memo.retain(&found.live);
    let variables = evaluate_variables(&found, memo, &evaluation).await?;
    let tools = evaluate_tools(&found, options, memo, &evaluation).await?;
    let complete = evaluate_complete(&found, memo, &evaluation).await?;
    let sections = if let Some(complete) = &complete {
        found.keep_only(complete, &options.sources);
        vec![complete.clone()]
    } else {
        found.shadowed.extend(options.sources.shadowed());
        evaluate_sections(&found, options, memo, &evaluation).await?
    };
    let contexts = evaluate_contexts(&found, memo, &evaluation).await?;
    let draft = Draft {
        sections,
        contexts,
        tools,
    };
    let constraints = Constraints::of(&draft, complete, found.suppressed_by.is_some());
    let draft = constraints.apply(waterfall(&found.listeners, draft).await?)?;
    if !found.listeners.is_empty() {
        well_formed(&draft)?;
    }
    Ok(Assembly {
        mode: options.mode,
        sections: draft.sections,
        contexts: draft.contexts,
        tools: draft.tools,
        variables,
        untrusted: untrusted_variables(&found),
        shadowed: found.shadowed,
        context_suppressed: found.suppressed_by.is_some(),
    })
}

async fn evaluate_variables(
    found: &Effective,
    memo: &mut Memo,
    evaluation: &Evaluation,
) -> Result<BTreeMap<Arc<str>, Option<Text>>, AssembleError> {
    let mut out = BTreeMap::new();
    for name in &found.variable_order {
        if let Some(entry) = found.variables.get(name) {
            out.insert(name.clone(), memo.variable(name, entry, evaluation).await?);
        }
    }
    Ok(out)
}

fn untrusted_variables(found: &Effective) -> BTreeMap<Arc<str>, Trust> {
    let trust = found
        .variables
        .iter()
        .map(|(name, entry)| (name.clone(), entry.value.trust()));
    trust.filter(|(_, trust)| !trust.may_command()).collect()
}

async fn evaluate_tools(
    found: &Effective,
    options: &AssembleOptions,
    memo: &mut Memo,
    evaluation: &Evaluation,
) -> Result<Vec<Tool>, AssembleError> {
    let mut sets = Vec::with_capacity(found.tools.len());
    for ScopedTools { scope, entry } in &found.tools {
        sets.push(memo.tools(scope, entry, evaluation).await?);
    }
    Ok(memo.ordered_tools(sets, options.tool_order.as_ref())?)
}

/// The effective `complete` section, if there is one.
fn unique_complete(found: &Effective) -> Result<Option<&Entry<Arc<Section>>>, AssembleError> {
    let complete = found.sections.values().filter(|entry| entry.value.complete);
    match in_order(complete).as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        [first, second, ..] => Err(AssembleError::TwoComplete {
            first: first.value.key.to_string(),
            first_source: first.value.source.clone(),
            second: second.value.key.to_string(),
            second_source: second.value.source.clone(),
        }),
    }
}

/// Evaluates the `complete` section before all others: if it has text, the others are not called. If
/// it has none, it contributes nothing, as any section without text.
async fn evaluate_complete(
    found: &Effective,
    memo: &mut Memo,
    evaluation: &Evaluation,
) -> Result<Option<SectionItem>, AssembleError> {
    match unique_complete(found)? {
        Some(entry) => evaluate_section(entry, memo, evaluation).await,
        None => Ok(None),
    }
}

async fn evaluate_sections(
    found: &Effective,
    options: &AssembleOptions,
    memo: &mut Memo,
    evaluation: &Evaluation,
) -> Result<Vec<SectionItem>, AssembleError> {
    let (first, last) = options.sources.sections();
    let mut out = first;
    for entry in in_order(found.sections.values()) {
        out.extend(evaluate_section(entry, memo, evaluation).await?);
    }
    out.extend(last);
    // Stable: within a group, prompt sources stay before and after everything registered, whatever its order.
    out.sort_by_key(|item| item.group);
    Ok(out)
}

async fn evaluate_section(
    entry: &Entry<Arc<Section>>,
    memo: &mut Memo,
    evaluation: &Evaluation,
) -> Result<Option<SectionItem>, AssembleError> {
    let section = &entry.value;
    let text = memo
        .text(
            "section",
            &section.key,
            entry.id,
            &section.cadence,
            &section.body,
            evaluation,
        )
        .await?;
    Ok((!text.trim().is_empty()).then(|| section.item(text)))
}

/// Sections by group, order and key.
fn in_order<'a>(sections: impl Iterator<Item = &'a Entry<Arc<Section>>>) -> Vec<&'a Entry<Arc<Section>>> {
    let mut out: Vec<_> = sections.collect();
    // Stable, and the map they come from is in the order of keys.
    out.sort_by_key(|entry| (entry.value.group, entry.value.order));
    out
}

async fn evaluate_contexts(
    found: &Effective,
    memo: &mut Memo,
    evaluation: &Evaluation,
) -> Result<Vec<ContextItem>, AssembleError> {
    let mut entries: Vec<_> = found.contexts.values().collect();
    // Stable, and the map they come from is in the order of names.
    entries.sort_by_key(|entry| (entry.value.delivery, entry.value.order));
    // Contexts are facts about the world: asked for at every step unless their source has a version.
    let by_version = Cadence::Session;
    let every_step = Cadence::Step {
        reason: Arc::from("runtime context"),
    };
    let mut out = Vec::with_capacity(entries.len());
    for entry in entries {
        let context = &entry.value;
        let cadence = if context.has_version() {
            &by_version
        } else {
            &every_step
        };
        let text = memo
            .text(
                "context",
                &context.name,
                entry.id,
                cadence,
                &context.body,
                evaluation,
            )
            .await?;
        if !text.trim().is_empty() {
            out.push(context.item(text));
        }
    }
    Ok(out)
}
