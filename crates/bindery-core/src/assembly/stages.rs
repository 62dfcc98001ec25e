//! The stages in their order.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::effective::{Effective, ScopedTools, effective};
use super::waterfall::waterfall;
use super::{AssembleError, AssembleOptions, Assembly, ContextItem, Draft, Memo, SectionItem, Shadowed};
use crate::registry::{Delivery, Entry, Evaluation, Scope, Section, Tool};
use crate::tool_order::order_tools;
use crate::{Cadence, Text};

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
    let variables = evaluate_variables(&found, memo, &evaluation).await?;
    let tools = evaluate_tools(&found, options, memo, &evaluation).await?;
    let complete = unique_complete(&found)?;
    let sections = evaluate_sections(&found, options, memo, &evaluation).await?;
    let contexts = evaluate_contexts(&found, memo, &evaluation).await?;
    found.shadowed.extend(options.sources.shadowed());
    let kept = complete.and_then(|key| sections.iter().find(|item| item.key == key).cloned());
    if let Some(kept) = &kept {
        found.shadowed.extend(left_out_by(kept, &sections));
    }
    let draft = waterfall(
        &found.listeners,
        Draft {
            sections,
            contexts,
            tools,
        },
    )
    .await?;
    let draft = hard_constraints(draft, kept, found.context_suppressed)?;
    Ok(Assembly {
        mode: options.mode,
        sections: draft.sections,
        contexts: draft.contexts,
        tools: draft.tools,
        variables,
        shadowed: found.shadowed,
        context_suppressed: found.context_suppressed,
    })
}

async fn evaluate_variables(
    found: &Effective,
    memo: &mut Memo,
    evaluation: &Evaluation,
) -> Result<BTreeMap<Arc<str>, Option<Text>>, AssembleError> {
    let mut out = BTreeMap::new();
    for (name, entry) in &found.variables {
        out.insert(name.clone(), memo.variable(name, entry, evaluation).await?);
    }
    Ok(out)
}

async fn evaluate_tools(
    found: &Effective,
    options: &AssembleOptions,
    memo: &mut Memo,
    evaluation: &Evaluation,
) -> Result<Vec<Tool>, AssembleError> {
    let mut visible = Vec::new();
    let mut hidden = Vec::new();
    for ScopedTools { scope, entry } in &found.tools {
        let set = memo.tools(scope, entry, evaluation).await?;
        visible.extend(set.visible);
        hidden.extend(set.hidden);
    }
    Ok(order_tools(visible, &hidden, options.tool_order.as_ref())?)
}

/// The key of the effective `complete` section, if there is one.
fn unique_complete(found: &Effective) -> Result<Option<Arc<str>>, AssembleError> {
    let mut complete: Vec<&Arc<Section>> = found
        .sections
        .values()
        .map(|entry| &entry.value)
        .filter(|section| section.complete)
        .collect();
    complete.sort_by(|a, b| (a.group, a.order, &a.key).cmp(&(b.group, b.order, &b.key)));
    match complete.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.key.clone())),
        [first, second, ..] => Err(AssembleError::TwoComplete {
            first: first.key.to_string(),
            first_source: first.source.clone(),
            second: second.key.to_string(),
            second_source: second.source.clone(),
        }),
    }
}

/// What a `complete` section leaves out, for the report.
fn left_out_by(complete: &SectionItem, sections: &[SectionItem]) -> Vec<Shadowed> {
    let reason = format!("section `{}` is the whole system prompt", complete.key);
    let left_out = sections.iter().filter(|item| item.key != complete.key);
    left_out
        .map(|item| Shadowed {
            what: "section",
            name: item.key.clone(),
            reason: reason.clone(),
        })
        .collect()
}

async fn evaluate_sections(
    found: &Effective,
    options: &AssembleOptions,
    memo: &mut Memo,
    evaluation: &Evaluation,
) -> Result<Vec<SectionItem>, AssembleError> {
    let mut entries: Vec<&Entry<Arc<Section>>> = found.sections.values().collect();
    entries.sort_by(|a, b| order_of(&a.value).cmp(&order_of(&b.value)));
    let mut out = Vec::with_capacity(entries.len());
    for entry in entries {
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
        if !text.trim().is_empty() {
            out.push(section.item(text));
        }
    }
    out.extend(options.sources.sections());
    // Prompt sources carry orders of their own; the sort is stable and total, so it can run once more.
    out.sort_by(|a, b| (a.group, a.order, &a.key).cmp(&(b.group, b.order, &b.key)));
    Ok(out)
}

async fn evaluate_contexts(
    found: &Effective,
    memo: &mut Memo,
    evaluation: &Evaluation,
) -> Result<Vec<ContextItem>, AssembleError> {
    let mut entries: Vec<_> = found.contexts.values().collect();
    entries.sort_by(|a, b| {
        let key = |entry: &Entry<Arc<crate::registry::Context>>| (entry.value.delivery, entry.value.order);
        key(a).cmp(&key(b)).then_with(|| a.value.name.cmp(&b.value.name))
    });
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

fn order_of(section: &Section) -> (crate::Group, i32, &Arc<str>) {
    (section.group, section.order, &section.key)
}

/// What no listener may undo.
fn hard_constraints(
    mut draft: Draft,
    complete: Option<SectionItem>,
    context_suppressed: bool,
) -> Result<Draft, AssembleError> {
    if let Some(complete) = complete {
        draft.sections = vec![complete];
    }
    if context_suppressed {
        draft.contexts.clear();
    }
    for item in &draft.sections {
        if !item.trust.may_command() && item.grant.is_none() {
            return Err(AssembleError::Untrusted {
                key: item.key.to_string(),
                source_of: item.source.clone(),
                trust: item.trust.name(),
            });
        }
    }
    for item in draft
        .contexts
        .iter()
        .filter(|item| item.delivery == Delivery::Tail)
    {
        if !item.trust.may_command() {
            return Err(AssembleError::Untrusted {
                key: item.name.to_string(),
                source_of: item.source.clone(),
                trust: item.trust.name(),
            });
        }
    }
    draft.sections.retain(|item| !item.text.trim().is_empty());
    draft.contexts.retain(|item| !item.text.trim().is_empty());
    // Stable: a listener's order within a group stands, but static text never follows dynamic text.
    draft.sections.sort_by_key(|item| item.group);
    Ok(draft)
}
