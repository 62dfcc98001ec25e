//! What no listener may undo.

use std::collections::BTreeSet;

use super::{AssembleError, ContextItem, Draft, SectionItem};
use crate::registry::Delivery;
use crate::{Authority, Source, Text, Trust};

/// What held before the listeners ran and has to hold after them.
pub(super) struct Constraints {
    complete: Option<SectionItem>,
    context_suppressed: bool,
    /// Texts that might not command, with where they came from.
    untrusted: Vec<(Text, Source, Trust)>,
}

impl Constraints {
    pub(super) fn of(draft: &Draft, complete: Option<SectionItem>, context_suppressed: bool) -> Self {
        let commanding: Vec<&Text> = commanding(draft)
            .filter(Commanding::may_command)
            .map(|item| item.text)
            .collect();
        let of_contexts = draft.contexts.iter().map(Commanding::context);
        let of_sections = draft.sections.iter().map(Commanding::section);
        let untrusted = of_contexts
            .chain(of_sections)
            .filter(|item| !item.may_command() && !commanding.contains(&item.text))
            .map(|item| (item.text.clone(), item.source.clone(), item.trust))
            .collect();
        Self {
            complete,
            context_suppressed,
            untrusted,
        }
    }

    /// Restores what can be restored and refuses the rest.
    pub(super) fn apply(self, mut draft: Draft) -> Result<Draft, AssembleError> {
        if let Some(complete) = &self.complete {
            draft.sections = vec![complete.clone()];
        }
        if self.context_suppressed {
            draft.contexts.clear();
        }
        draft.sections.retain(|item| !item.text.trim().is_empty());
        draft.contexts.retain(|item| !item.text.trim().is_empty());
        self.refuse_untrusted(&draft)?;
        // Stable: a listener's order within a group stands, but static text never follows dynamic text.
        draft.sections.sort_by_key(|item| item.group);
        Ok(draft)
    }

    /// A text keeps the trust it came with: a listener that moves it into the system lane cannot
    /// declare it trusted on the way.
    fn refuse_untrusted(&self, draft: &Draft) -> Result<(), AssembleError> {
        for item in commanding(draft) {
            let moved = self.untrusted.iter().find(|(text, ..)| text == item.text);
            let (source, trust) = match moved {
                Some((_, source, trust)) => (source, *trust),
                None if !item.may_command() => (item.source, item.trust),
                None => continue,
            };
            return Err(AssembleError::Untrusted {
                key: item.name.to_owned(),
                source_of: source.clone(),
                trust: trust.name(),
            });
        }
        Ok(())
    }
}

/// What the registry sees to for everything registered, asked again of what listeners left.
pub(super) fn well_formed(draft: &Draft) -> Result<(), AssembleError> {
    refuse_foreign_authority(&draft.sections)?;
    refuse_duplicates("section", draft.sections.iter().map(|item| (&*item.key, "")))?;
    refuse_duplicates("context", draft.contexts.iter().map(|item| (&*item.name, "")))?;
    refuse_duplicates(
        "tool",
        draft.tools.iter().map(|tool| (tool.name(), tool.own_id())),
    )
}

/// What stands, or asks to stand, in the system lane.
struct Commanding<'a> {
    name: &'a str,
    text: &'a Text,
    source: &'a Source,
    trust: Trust,
    granted: bool,
}

impl<'a> Commanding<'a> {
    fn section(item: &'a SectionItem) -> Self {
        Self {
            name: &item.key,
            text: &item.text,
            source: &item.source,
            trust: item.trust,
            granted: item.grant.is_some(),
        }
    }

    fn context(item: &'a ContextItem) -> Self {
        Self {
            name: &item.name,
            text: &item.text,
            source: &item.source,
            trust: item.trust,
            granted: false,
        }
    }

    fn may_command(&self) -> bool {
        self.trust.may_command() || self.granted
    }
}

fn commanding(draft: &Draft) -> impl Iterator<Item = Commanding<'_>> {
    let tail = draft
        .contexts
        .iter()
        .filter(|item| item.delivery == Delivery::Tail);
    let sections = draft.sections.iter().map(Commanding::section);
    sections.chain(tail.map(Commanding::context))
}

fn refuse_foreign_authority(sections: &[SectionItem]) -> Result<(), AssembleError> {
    let foreign = |item: &&SectionItem| !matches!(item.authority, Authority::System | Authority::Developer);
    match sections.iter().find(foreign) {
        None => Ok(()),
        Some(item) => Err(AssembleError::Authority {
            key: item.key.to_string(),
            authority: item.authority.name(),
        }),
    }
}

/// Fragments are told apart by name all the way to the wire.
fn refuse_duplicates<'a>(
    what: &'static str,
    names: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<(), AssembleError> {
    let mut seen = BTreeSet::new();
    for (name, id) in names {
        if !seen.insert((name, id)) {
            return Err(AssembleError::Duplicate {
                what,
                name: name.to_owned(),
            });
        }
    }
    Ok(())
}
