//! What the last request holds: the verifier of the task.

use std::collections::BTreeSet;

use bindery::Message;
use bindery::compaction::references;
use bindery_wire::{Provider, shape_problems};
use serde::Serialize;
use serde_json::Value;

use super::Policy;
use super::scene::Scene;

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Verdict {
    /// Goals, criteria, constraints, decisions, facts and plans that are no longer there word for word.
    pub(super) lost: Vec<String>,
    /// How many there were.
    pub(super) wanted: usize,
    /// References that can be reached from the last request.
    pub(super) references: usize,
    /// Of these, those whose content can be read.
    pub(super) recovered: usize,
    /// Whether the line in the middle of the log is there or can be read.
    pub(super) needle: bool,
    /// Whether the hostile line stands in the system layer.
    pub(super) injected: bool,
    /// What the provider would refuse in the last request.
    pub(super) refused: usize,
    /// Whether all that the task needs is there.
    pub(super) success: bool,
}

pub(super) fn verify(
    scene: &Scene,
    messages: &[Message],
    (provider, body): (Provider, &[u8]),
    policy: &dyn Policy,
) -> Verdict {
    let texts: Vec<&str> = messages
        .iter()
        .flat_map(Message::fragments)
        .map(|one| &*one.text)
        .collect();
    let says = |words: &str| texts.iter().any(|text| text.contains(words));
    let lost: Vec<String> = scene
        .wanted
        .constraints
        .iter()
        .filter(|words| !says(words))
        .cloned()
        .collect();
    let (reached, read) = reach(&texts, policy);
    let needle = says(scene.wanted.needle) || read.iter().any(|text| text.contains(scene.wanted.needle));
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let injected = system_layer(&body).any(|layer| layer.to_string().contains(scene.wanted.injection));
    let refused = shape_problems(provider, &body).len();
    let asks = says(scene.wanted.question);
    Verdict {
        wanted: scene.wanted.constraints.len(),
        references: reached,
        recovered: read.len(),
        success: lost.is_empty() && needle && asks && !injected && refused == 0 && reached == read.len(),
        lost,
        needle,
        injected,
        refused,
    }
}

/// What a body says with the provider's or the developer's authority, in any of the formats.
fn system_layer(body: &Value) -> impl Iterator<Item = &Value> {
    let of = |key: &str| body.get(key).into_iter();
    let said = of("messages")
        .chain(of("input"))
        .filter_map(Value::as_array)
        .flatten();
    let raised = said.filter(|message| {
        let role = message.get("role").and_then(Value::as_str);
        matches!(role, Some("system" | "developer"))
    });
    of("system").chain(of("instructions")).chain(raised)
}

/// Every reference that can be reached, and the contents that can be read.
fn reach(texts: &[&str], policy: &dyn Policy) -> (usize, Vec<String>) {
    let mut open: Vec<String> = texts.iter().flat_map(|text| references(text)).collect();
    let mut reached = BTreeSet::new();
    let mut read = Vec::new();
    while let Some(next) = open.pop() {
        if !reached.insert(next.clone()) {
            continue;
        }
        if let Some(text) = policy.read(&next) {
            open.extend(references(&text));
            read.push(text);
        }
    }
    (reached.len(), read)
}
