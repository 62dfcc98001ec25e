//! Calling providers, and remembering what they said for as long as their cadence allows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::AssembleError;
use crate::registry::{
    Body, Entry, EntryId, Evaluation, SourceVersion, Tool, ToolProvider, ToolSet, VariableProvider,
};
use crate::tool_order::order_tools;
use crate::{Cadence, Mode, Text, ToolOrder, ToolOrderError};

/// Up to how many providers are remembered without asking whether they are still registered.
const REMEMBERED_FREELY: usize = 128;

/// What a session remembers of its providers: texts until their source changes, and everything that
/// was said during the current step, so that each provider runs at most once a step, whoever asks.
#[derive(Default)]
pub(crate) struct Memo {
    kept: BTreeMap<EntryId, Kept>,
    kept_variables: BTreeMap<EntryId, Text>,
    kept_tools: BTreeMap<EntryId, Arc<ToolSet>>,
    step_texts: BTreeMap<EntryId, Text>,
    step_variables: BTreeMap<EntryId, Option<Text>>,
    step_tools: BTreeMap<EntryId, Arc<ToolSet>>,
    ordered: Option<Ordered>,
    submission: u64,
    stats: MemoStats,
}

/// How often providers ran, and how often their text really changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoStats {
    /// Calls of text, variable and tool providers, failed ones included.
    pub provider_calls: u64,
    /// Texts that differed from what the same provider said before.
    pub texts_changed: u64,
}

struct Kept {
    name: Arc<str>,
    text: Text,
    version: Option<SourceVersion>,
    mode: Mode,
    submission: u64,
    stale: bool,
}

impl Memo {
    /// Forgets registrations that are gone. Identities are never reused, so nothing is forgotten that
    /// could be asked for again.
    pub(super) fn retain(&mut self, live: &[EntryId]) {
        if self.remembered() <= REMEMBERED_FREELY {
            return;
        }
        let live: BTreeSet<&EntryId> = live.iter().collect();
        self.kept.retain(|id, _| live.contains(id));
        self.kept_variables.retain(|id, _| live.contains(id));
        self.kept_tools.retain(|id, _| live.contains(id));
    }

    /// Forgets what was said during the last step.
    pub(crate) fn begin_step(&mut self) {
        self.step_texts.clear();
        self.step_variables.clear();
        self.step_tools.clear();
    }

    /// A new user submission: texts of submission cadence are asked for again.
    pub(crate) fn begin_submission(&mut self) {
        self.submission += 1;
        self.begin_step();
    }

    /// Makes the next step ask again for every section or context of this name. The old text is kept
    /// to compare with, so an equal answer changes nothing.
    pub(crate) fn invalidate(&mut self, name: &str) {
        for (id, kept) in &mut self.kept {
            if &*kept.name == name {
                kept.stale = true;
                self.step_texts.remove(id);
            }
        }
    }

    /// How many providers are remembered beyond a step.
    pub(crate) fn remembered(&self) -> usize {
        self.kept.len() + self.kept_variables.len() + self.kept_tools.len()
    }

    pub(crate) fn stats(&self) -> MemoStats {
        self.stats
    }

    pub(super) async fn text(
        &mut self,
        what: &'static str,
        name: &Arc<str>,
        id: EntryId,
        cadence: &Cadence,
        body: &Body,
        evaluation: &Evaluation,
    ) -> Result<Text, AssembleError> {
        let provider = match body {
            Body::Text(text) => return Ok(text.clone()),
            Body::Provider(provider) => provider,
        };
        if let Some(text) = self.step_texts.get(&id) {
            return Ok(text.clone());
        }
        let version = provider.version();
        let mode = evaluation.mode;
        let old = self.kept.get(&id);
        if let Some(kept) = old.filter(|kept| kept.is_fresh(cadence, version, mode, self.submission)) {
            let text = kept.text.clone();
            self.step_texts.insert(id, text.clone());
            return Ok(text);
        }
        self.stats.provider_calls += 1;
        let text = provider
            .text(evaluation)
            .await
            .map_err(|cause| AssembleError::Provider {
                what,
                name: name.to_string(),
                cause,
            })?;
        let old = self.kept.get(&id).map(|kept| &kept.text);
        let text = old.map_or_else(|| text.clone(), |old| old.backdate(text.clone()));
        if !old.is_some_and(|old| old.same_revision(&text)) {
            self.stats.texts_changed += 1;
        }
        let submission = self.submission;
        self.kept.insert(
            id,
            Kept {
                name: name.clone(),
                text: text.clone(),
                version,
                mode,
                submission,
                stale: false,
            },
        );
        self.step_texts.insert(id, text.clone());
        Ok(text)
    }

    pub(super) async fn variable(
        &mut self,
        name: &Arc<str>,
        entry: &Entry<Arc<dyn VariableProvider>>,
        evaluation: &Evaluation,
    ) -> Result<Option<Text>, AssembleError> {
        if let Some(value) = self.step_variables.get(&entry.id) {
            return Ok(value.clone());
        }
        let what = "variable";
        self.stats.provider_calls += 1;
        let mut value = entry
            .value
            .value(evaluation)
            .await
            .map_err(|cause| AssembleError::Provider {
                what,
                name: name.to_string(),
                cause,
            })?;
        if let Some(value) = &mut value {
            if let Some(old) = self.kept_variables.get(&entry.id) {
                *value = old.backdate(value.clone());
            }
            self.kept_variables.insert(entry.id, value.clone());
        }
        self.step_variables.insert(entry.id, value.clone());
        Ok(value)
    }

    pub(super) async fn tools(
        &mut self,
        scope: &Arc<str>,
        entry: &Entry<Arc<dyn ToolProvider>>,
        evaluation: &Evaluation,
    ) -> Result<Arc<ToolSet>, AssembleError> {
        if let Some(set) = self.step_tools.get(&entry.id) {
            return Ok(set.clone());
        }
        self.stats.provider_calls += 1;
        let set = entry
            .value
            .tools(evaluation)
            .await
            .map_err(|cause| AssembleError::Tools {
                scope: scope.to_string(),
                cause,
            })?;
        let set = match self.kept_tools.get(&entry.id) {
            Some(old) => backdate_tools(old, set),
            None => Arc::new(set),
        };
        self.kept_tools.insert(entry.id, set.clone());
        self.step_tools.insert(entry.id, set.clone());
        Ok(set)
    }

    /// The tools of all sets in order; the same order is not computed twice.
    pub(super) fn ordered_tools(
        &mut self,
        sets: Vec<Arc<ToolSet>>,
        order: Option<&ToolOrder>,
    ) -> Result<Vec<Tool>, ToolOrderError> {
        if let Some(ordered) = self
            .ordered
            .as_ref()
            .filter(|ordered| ordered.is_of(&sets, order))
        {
            return Ok(ordered.tools.clone());
        }
        let visible = sets.iter().flat_map(|set| set.visible.iter().cloned()).collect();
        let hidden: Vec<Arc<str>> = sets.iter().flat_map(|set| set.hidden.iter().cloned()).collect();
        let tools = order_tools(visible, &hidden, order)?;
        self.ordered = Some(Ordered {
            sets,
            order: order.cloned(),
            tools: tools.clone(),
        });
        Ok(tools)
    }
}

/// Tools that are equal to what the same provider said before keep their old texts, and so their
/// hashes; a set of nothing but equal tools is the old one.
fn backdate_tools(old: &Arc<ToolSet>, mut new: ToolSet) -> Arc<ToolSet> {
    if old.visible == new.visible && old.hidden == new.hidden {
        return old.clone();
    }
    let key = |tool: &Tool| (Arc::<str>::from(tool.name()), Arc::<str>::from(tool.own_id()));
    let known: BTreeMap<_, _> = old.visible.iter().map(|tool| (key(tool), tool)).collect();
    for tool in &mut new.visible {
        if let Some(old) = known.get(&key(tool)) {
            *tool = tool.backdated_to(old);
        }
    }
    Arc::new(new)
}

/// Tools in order, with what they were made of.
struct Ordered {
    sets: Vec<Arc<ToolSet>>,
    order: Option<ToolOrder>,
    tools: Vec<Tool>,
}

impl Ordered {
    fn is_of(&self, sets: &[Arc<ToolSet>], order: Option<&ToolOrder>) -> bool {
        self.order.as_ref() == order
            && self.sets.len() == sets.len()
            && std::iter::zip(&self.sets, sets).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

impl Kept {
    fn is_fresh(
        &self,
        cadence: &Cadence,
        version: Option<SourceVersion>,
        mode: Mode,
        submission: u64,
    ) -> bool {
        !self.stale
            && self.mode == mode
            && match cadence {
                Cadence::Session => self.version == version,
                Cadence::Submission => self.submission == submission,
                Cadence::Step { .. } => false,
            }
    }
}
