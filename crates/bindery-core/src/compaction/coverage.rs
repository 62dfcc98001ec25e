//! Whether a replacement loses anything that it may not lose.

use std::collections::{BTreeMap, BTreeSet};

use super::SUMMARY;
use super::cut::Cut;
use super::references::references;
use crate::digest::reference;
use crate::ledger::Ledger;
use crate::{Fragment, Kind, Lane, Message, Part, Text};

/// Something that would be lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Lost {
    /// An item of the ledger.
    #[error("the ledger's item of event {event} is not in the replacement: {text}")]
    Item {
        /// The event that it came from.
        event: crate::log::Seq,
        /// How it begins.
        text: String,
    },
    /// Context that stands for the whole session.
    #[error("`{0}` is not in the replacement")]
    Context(String),
    /// A reference to kept content.
    #[error("{0} can no longer be reached")]
    Reference(String),
    /// The replacement is no smaller than what it replaces.
    #[error("the replacement has {after} bytes, and what it replaces {before}")]
    Larger {
        /// Bytes of text that give way.
        before: usize,
        /// Bytes of text in their place.
        after: usize,
    },
}

/// Checks a replacement: every item of the ledger is in it word for word, all carried context is, every
/// reference is in it or in a kept text that it reaches, and it is smaller. `kept` are the texts that are
/// kept by the time it enters.
pub fn check(cut: &Cut, ledger: &Ledger, messages: &[Message], kept: &[Text]) -> Result<(), Vec<Lost>> {
    let mut lost = Vec::new();
    let texts: Vec<&str> = messages
        .iter()
        .flat_map(Message::fragments)
        .map(|one| &*one.text)
        .collect();
    for item in ledger.items() {
        let words = item.restated();
        if !texts.iter().any(|text| text.contains(&words)) {
            let (event, text) = (item.event, words.chars().take(60).collect());
            lost.push(Lost::Item { event, text });
        }
    }
    let stands: BTreeSet<(&str, crate::ContentHash)> = context(messages);
    for (key, hash) in context(&cut.carried) {
        if !stands.contains(&(key, hash)) {
            lost.push(Lost::Context(key.to_owned()));
        }
    }
    let reached = reach(&texts, kept);
    let before = || cut.messages.iter().flat_map(|(_, message)| message.fragments());
    let said = before().filter(|one| refers(one));
    let wanted: BTreeSet<String> = said.flat_map(|one| references(&one.text)).collect();
    lost.extend(wanted.difference(&reached).cloned().map(Lost::Reference));
    let before = size(cut.messages.iter().map(|(_, message)| message));
    let after = size(messages);
    if after >= before {
        lost.push(Lost::Larger { before, after });
    }
    if lost.is_empty() { Ok(()) } else { Err(lost) }
}

/// The bytes that messages take up: those of their texts, and of images what their tokens come to.
fn size<'m>(messages: impl IntoIterator<Item = &'m Message>) -> usize {
    let parts = messages.into_iter().flat_map(|message| &message.parts);
    let sizes = parts.map(|part| match part {
        Part::Media { media, .. } => usize::try_from(media.tokens().value * 4).unwrap_or(usize::MAX),
        _ => part.fragments().iter().map(|one| one.text.len()).sum(),
    });
    sizes.fold(0, usize::saturating_add)
}

fn context(messages: &[Message]) -> BTreeSet<(&str, crate::ContentHash)> {
    let fragments = messages.iter().flat_map(Message::fragments);
    let context = fragments.filter(|one| one.lane == Lane::Context);
    context.map(|one| (&*one.key, one.text.hash())).collect()
}

/// Whether the references of a fragment have to survive. Context is carried or said again, thoughts and
/// inputs name only what was named elsewhere, and a ledger is restated as it is now.
fn refers(fragment: &Fragment) -> bool {
    fragment.lane != Lane::Context
        && match fragment.kind {
            Kind::Reasoning | Kind::ToolCall => false,
            Kind::Summary => &*fragment.key == SUMMARY,
            _ => true,
        }
}

/// Every reference that can be reached from texts, through what is kept.
fn reach(texts: &[&str], kept: &[Text]) -> BTreeSet<String> {
    let kept: BTreeMap<String, &Text> = kept.iter().map(|text| (reference(&text.hash()), text)).collect();
    let mut reached = BTreeSet::new();
    let mut open: Vec<String> = texts.iter().flat_map(|text| references(text)).collect();
    while let Some(next) = open.pop() {
        if reached.insert(next.clone())
            && let Some(text) = kept.get(&next)
        {
            open.extend(references(text));
        }
    }
    reached
}
