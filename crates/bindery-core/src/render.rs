//! Rendering: interpolation and what follows it. Late, and apart from assembly, so that each failure
//! happens where the turn loop can say exactly what was already logged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::assembly::{Assembly, ContextItem};
use crate::marker::BOUNDARY;
use crate::registry::{Delivery, Interpolation};
use crate::template::{
    RenderError, RenderProblem, Variables, has_references, interpolate, place, refused_reference,
};
use crate::{
    Authority, ContentHash, Fragment, Group, Kind, Lane, RuntimeContext, Source, SystemPrompt, Text, Trust,
    runtime_context,
};

/// How many texts, and how many bytes of them, one generation of a cache holds. A composition has
/// dozens of texts and some hundred kilobytes.
const CAPACITY: usize = 2048;
const CAPACITY_BYTES: usize = 16 << 20;

/// Rendered text by content, shared by all sessions that are given it. Since the key is the content,
/// entries never go stale, and two processes that cache for themselves hold the same bytes.
///
/// It holds two generations: when the younger is full it becomes the older, and what nobody asked for
/// since then is forgotten. A text in use never leaves, so the prefix keeps its revision.
#[derive(Default)]
pub struct RenderCache {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    young: BTreeMap<ContentHash, Text>,
    old: BTreeMap<ContentHash, Text>,
    young_bytes: usize,
    renders: u64,
}

impl Inner {
    fn get(&mut self, key: ContentHash) -> Option<Text> {
        if let Some(text) = self.young.get(&key) {
            return Some(text.clone());
        }
        let text = self.old.remove(&key)?;
        Some(self.insert(key, text))
    }

    /// Enters a text unless another thread was faster; the text that stands is returned.
    fn insert(&mut self, key: ContentHash, text: Text) -> Text {
        if self.young.len() >= CAPACITY || self.young_bytes >= CAPACITY_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += text.len();
        self.young.entry(key).or_insert(text).clone()
    }
}

impl RenderCache {
    /// How often a text really was rendered, rather than found.
    pub fn renders(&self) -> u64 {
        self.lock().renders
    }

    /// The text under `key`, rendered by `render` if it is not there.
    fn get_or_render<E>(
        &self,
        key: ContentHash,
        render: impl FnOnce() -> Result<Text, E>,
    ) -> Result<Text, E> {
        let found = self.lock().get(key);
        if let Some(text) = found {
            return Ok(text);
        }
        let text = render()?;
        let mut inner = self.lock();
        inner.renders += 1;
        Ok(match inner.get(key) {
            Some(text) => text,
            None => inner.insert(key, text),
        })
    }

    /// The maps stay whole whatever a caller's panic interrupted: each change is one insertion.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Assembly {
    /// Renders the system lane: sections and tail lines.
    pub fn render_system(&self, cache: &RenderCache) -> Result<SystemPrompt, RenderError> {
        let mut fragments = Vec::with_capacity(self.sections.len());
        for item in &self.sections {
            let template = Template {
                what: "section",
                name: &item.key,
                source: &item.source,
                text: &item.text,
            };
            template.may_command(item.interpolation, &self.untrusted)?;
            let text = template.render(item.interpolation, &self.variables, cache)?;
            if text.trim().is_empty() {
                continue;
            }
            template.has_no_boundary(&text, cache)?;
            fragments.push(Fragment {
                key: item.key.clone(),
                kind: Kind::Section,
                lane: Lane::System,
                group: item.group,
                authority: item.authority,
                trust: item.trust,
                source: item.source.clone(),
                grant: item.grant.clone(),
                text: trimmed(text, cache),
            });
        }
        let mut tail = Vec::new();
        for item in self
            .contexts
            .iter()
            .filter(|item| item.delivery == Delivery::Tail)
        {
            tail.extend(self.tail_line(item, cache)?);
        }
        Ok(SystemPrompt::new(fragments, tail, cache))
    }

    /// Renders the contexts that travel as messages.
    pub fn render_context(&self, cache: &RenderCache) -> Result<RuntimeContext, RenderError> {
        let mut out = RuntimeContext::default();
        let mut pieces = Vec::new();
        for item in &self.contexts {
            let template = Template {
                what: "context",
                name: &item.name,
                source: &item.source,
                text: &item.text,
            };
            let text = template.render(item.interpolation, &self.variables, cache)?;
            if text.trim().is_empty() {
                continue;
            }
            match item.delivery {
                Delivery::Tail => {}
                Delivery::Snapshot => pieces.push(runtime_context::piece(item, &text, cache)),
                Delivery::Reminder => out.reminders.push(runtime_context::marked(item, &text, cache)),
                Delivery::Message => out.messages.push(runtime_context::marked(item, &text, cache)),
            }
        }
        out.snapshot = runtime_context::snapshot(pieces, cache);
        Ok(out)
    }

    /// A tail line. It stands in the system prompt, so untrusted text was refused it before this.
    fn tail_line(&self, item: &ContextItem, cache: &RenderCache) -> Result<Option<Fragment>, RenderError> {
        let template = Template {
            what: "context",
            name: &item.name,
            source: &item.source,
            text: &item.text,
        };
        template.may_command(item.interpolation, &self.untrusted)?;
        let text = template.render(item.interpolation, &self.variables, cache)?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        template.has_no_boundary(&text, cache)?;
        let line = cache.derive("tail", &[item.name.as_bytes(), text.hash().as_bytes()], || {
            format!("{}: {}", item.name, one_line(text.trim()))
        });
        Ok(Some(Fragment {
            key: format!("context:{}", item.name).into(),
            kind: Kind::TailLine,
            lane: Lane::Context,
            group: Group::Appended,
            authority: Authority::System,
            trust: item.trust,
            source: item.source.clone(),
            grant: None,
            text: line,
        }))
    }
}

impl RenderCache {
    /// A text derived from others by a function that cannot fail.
    pub(crate) fn derive(&self, domain: &str, from: &[&[u8]], make: impl FnOnce() -> String) -> Text {
        let key = ContentHash::of_fields(domain, from.iter().copied());
        match self.get_or_render(key, || Ok::<_, std::convert::Infallible>(Text::from(make()))) {
            Ok(text) => text,
        }
    }
}

/// A text with what errors need to say where it came from.
struct Template<'a> {
    what: &'static str,
    name: &'a str,
    source: &'a Source,
    text: &'a Text,
}

impl Template<'_> {
    /// Refuses references to values that anybody outside can write: this text commands.
    fn may_command(
        &self,
        how: Interpolation,
        untrusted: &BTreeMap<Arc<str>, Trust>,
    ) -> Result<(), RenderError> {
        let refused = (how == Interpolation::Strict)
            .then(|| refused_reference(self.text, untrusted))
            .flatten();
        refused.map_or(Ok(()), |(offset, problem)| Err(self.error(offset, problem)))
    }

    /// Refuses the literal that other clients write where the static part ends: whoever pastes it means a
    /// boundary, and here it would only be text that the model reads. Looked for once a text.
    fn has_no_boundary(&self, text: &Text, cache: &RenderCache) -> Result<(), RenderError> {
        let key = ContentHash::of_fields("no boundary", std::iter::once(&text.hash().as_bytes()[..]));
        let looked = cache.get_or_render(key, || {
            let at = text.find(BOUNDARY).map(|_| self.text.find(BOUNDARY).unwrap_or(0));
            at.map_or_else(
                || Ok(Text::from("")),
                |at| Err(self.error(at, RenderProblem::Boundary)),
            )
        });
        looked.map(|_| ())
    }

    fn error(&self, offset: usize, problem: RenderProblem) -> RenderError {
        let place = place(self.source, self.text, offset);
        RenderError {
            what: self.what,
            name: self.name.to_owned(),
            place,
            problem,
        }
    }

    /// The text with its references replaced; the very same text where there are none.
    fn render(
        &self,
        how: Interpolation,
        variables: &Variables,
        cache: &RenderCache,
    ) -> Result<Text, RenderError> {
        if how == Interpolation::Literal || !has_references(self.text) {
            return Ok(self.text.clone());
        }
        let key = self.key(variables);
        cache.get_or_render(key, || {
            interpolate(self.text, variables)
                .map(|text| Text::from(text.into_owned()))
                .map_err(|(offset, problem)| self.error(offset, problem))
        })
    }

    /// The template's hash with the names it refers to and the hashes of their values.
    fn key(&self, variables: &Variables) -> ContentHash {
        let names: BTreeSet<&str> = crate::template::references(self.text).into_iter().collect();
        let values: Vec<(&str, Option<ContentHash>)> = names
            .into_iter()
            .map(|name| (name, variables.get(name).and_then(Option::as_ref).map(Text::hash)))
            .collect();
        let fields = values.iter().flat_map(|(name, value)| {
            [
                name.as_bytes(),
                value.as_ref().map_or(&b"?"[..], |hash| &hash.as_bytes()[..]),
            ]
        });
        let hash = self.text.hash();
        ContentHash::of_fields("render", std::iter::once(&hash.as_bytes()[..]).chain(fields))
    }
}

/// The text on one line: a tail line that went on would read as two.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control() && c != '\t')
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The text without white space at its end: sections are joined by exactly one blank line.
fn trimmed(text: Text, cache: &RenderCache) -> Text {
    let kept = text.trim_end();
    if kept.len() == text.len() {
        return text;
    }
    cache.derive("trim", &[text.hash().as_bytes()], || kept.to_owned())
}

/// The hash of fragments, for caches of what is derived from them.
pub(crate) fn hash_of(domain: &str, fragments: &[Fragment]) -> ContentHash {
    let hashes: Vec<ContentHash> = fragments.iter().map(|fragment| fragment.text.hash()).collect();
    ContentHash::of_fields(domain, hashes.iter().map(|hash| &hash.as_bytes()[..]))
}

pub(crate) type SharedCache = Arc<RenderCache>;

#[cfg(test)]
mod tests;
