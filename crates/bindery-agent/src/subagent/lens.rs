//! What a child sees of its parent's assembly: its tools, the layers that it takes over, and what it is told of
//! itself.

use std::sync::{Arc, Mutex, PoisonError};

use bindery_core::assembly::{AssemblyListener, ContextItem, Draft, Next};
use bindery_core::{BoxFuture, Delivery, Interpolation, Kind, ProviderError, Source, Trust};
use bindery_sources::agents::{Agent as Definition, Inherit};

use super::manifest::{Excluded, Inherited, Manifest};
use super::tools::Choice;

/// What the child is told of itself stands before the rest of the snapshot.
const ORDER: i32 = -1_000;
/// How sections that must be kept are marked.
const MUST: [&str; 2] = ["MUST", "must-keep"];

/// Rewrites assemblies of a child. Clones are one.
#[derive(Clone)]
pub struct Lens(Arc<Inner>);

struct Inner {
    definition: Definition,
    choice: Choice,
    trust: Trust,
    source: Source,
    /// What is known before any assembly.
    before: Manifest,
    last: Mutex<Manifest>,
}

impl Lens {
    pub(crate) fn new(
        definition: Definition,
        choice: Choice,
        trust: Trust,
        source: Source,
        before: Manifest,
    ) -> Self {
        Self(Arc::new(Inner {
            definition,
            choice,
            trust,
            source,
            last: Mutex::new(before.clone()),
            before,
        }))
    }

    /// What the last assembly gave the child.
    pub fn manifest(&self) -> Manifest {
        self.0.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The layer of a context; none for what is never taken over.
fn layer(item: &ContextItem) -> Result<Inherit, Excluded> {
    let never = |layer, why| {
        Err(Excluded {
            layer,
            why,
            names: Vec::new(),
        })
    };
    match (item.delivery, item.kind) {
        (Delivery::Reminder, _) => never("reminders", "they are the parent's"),
        (_, Kind::Instructions | Kind::InstructionsWithdrawn) => Ok(Inherit::Instructions),
        (_, Kind::Memory) => Ok(Inherit::Memory),
        (_, Kind::McpInstructions) => Ok(Inherit::Servers),
        (_, Kind::Skill) => Ok(Inherit::Skills),
        (_, Kind::Document | Kind::SessionReference | Kind::Summary) => {
            never("references", "they belong to the parent's conversation")
        }
        _ if &*item.name == super::index::CONTEXT => never("agents", "nobody who was sent sends others"),
        _ => Ok(Inherit::State),
    }
}

impl Inner {
    fn look(&self, mut draft: Draft) -> (Draft, Manifest) {
        let mut manifest = self.before.clone();
        let manner = &self.definition.manner;
        let all: Vec<String> = draft.tools.iter().map(|tool| tool.name().to_owned()).collect();
        draft.tools.retain(|tool| self.choice.takes(tool.name()));
        manifest.tools = draft.tools.iter().map(|tool| tool.name().to_owned()).collect();
        manifest.tools_unknown = self.choice.unknown(&all);
        manifest.tools_left = all.into_iter().filter(|name| !self.choice.takes(name)).collect();
        let mut excluded: Vec<Excluded> = Vec::new();
        let mut leave =
            |of: Excluded, name: &str| match excluded.iter_mut().find(|known| known.layer == of.layer) {
                Some(known) => known.names.push(name.to_owned()),
                None => excluded.push(Excluded {
                    names: vec![name.to_owned()],
                    ..of
                }),
            };
        let own = super::child::own_prompt(&self.definition.name);
        let mut room = manner.instructions_limit;
        draft.contexts.retain_mut(|item| {
            if *item.name == *own {
                return true;
            }
            match layer(item) {
                Err(never) => {
                    leave(never, &item.name);
                    false
                }
                Ok(layer) if !manner.inherits(layer) => {
                    let why = if manner.inherit.is_some() {
                        "the definition leaves it out"
                    } else {
                        "by default; `inherit` in the definition names layers"
                    };
                    let names = Vec::new();
                    let of = Excluded {
                        layer: layer.name(),
                        why,
                        names,
                    };
                    leave(of, &item.name);
                    false
                }
                Ok(layer) => {
                    let of_bytes = (layer == Inherit::Instructions)
                        .then(|| limit(item, &mut room))
                        .flatten();
                    manifest.inherited.push(Inherited {
                        layer,
                        name: item.name.to_string(),
                        bytes: item.text.len(),
                        of_bytes,
                    });
                    true
                }
            }
        });
        excluded.push(Excluded {
            layer: "conversation",
            why: "it is no fork",
            names: Vec::new(),
        });
        manifest.excluded = excluded;
        draft.contexts.push(self.about(&manifest));
        draft
            .contexts
            .sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
        (draft, manifest)
    }

    fn about(&self, manifest: &Manifest) -> ContextItem {
        ContextItem {
            name: "agent".into(),
            order: ORDER,
            delivery: Delivery::Snapshot,
            kind: Kind::Snapshot,
            trust: self.trust,
            source: self.source.clone(),
            interpolation: Interpolation::Literal,
            text: manifest.text().into(),
        }
    }
}

/// Cuts an instruction file to what is left of a limit: sections that must be kept first, then from the start.
/// How many bytes it had, where it was cut.
fn limit(item: &mut ContextItem, room: &mut Option<usize>) -> Option<usize> {
    let room = room.as_mut()?;
    let all = item.text.len();
    if all > *room {
        item.text = within(&item.text, *room).into();
    }
    *room = room.saturating_sub(item.text.len());
    (item.text.len() < all).then_some(all)
}

/// A text within a limit, by sections: those that must be kept whatever the limit says, the others as far as
/// there is room, each whole. What is left out is told where it stood.
fn within(text: &str, limit: usize) -> String {
    let sections = sections(text);
    let kept = sections.iter().filter(|section| is_kept(section));
    let mut room = limit.saturating_sub(kept.map(|section| section.len()).sum());
    let mut out = String::new();
    let mut left = 0_usize;
    let tell = |out: &mut String, left: &mut usize| {
        if *left > 0 {
            out.extend(["[", &left.to_string(), " bytes are left out here]\n"]);
            *left = 0;
        }
    };
    for section in sections {
        if is_kept(section) {
            tell(&mut out, &mut left);
            out.push_str(section);
        } else if section.len() <= room {
            tell(&mut out, &mut left);
            room -= section.len();
            out.push_str(section);
        } else {
            left += section.len();
        }
    }
    tell(&mut out, &mut left);
    out
}

fn is_kept(section: &str) -> bool {
    let heading = section.lines().next().unwrap_or_default();
    (heading.starts_with('#') && heading.contains(MUST[0])) || section.contains("<!-- must-keep -->")
}

/// A text by headings, fences looked at.
fn sections(text: &str) -> Vec<&str> {
    let (mut out, mut begin, mut at, mut fenced) = (Vec::new(), 0, 0, false);
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if line.starts_with('#') && !fenced && at > begin {
            out.push(text.get(begin..at).unwrap_or_default());
            begin = at;
        }
        at += line.len();
    }
    out.push(text.get(begin..).unwrap_or_default());
    out
}

impl AssemblyListener for Lens {
    fn assemble<'a>(&'a self, draft: Draft, next: Next<'a>) -> BoxFuture<'a, Result<Draft, ProviderError>> {
        Box::pin(async move {
            let (draft, manifest) = self.0.look(next.run(draft).await?);
            *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = manifest;
            Ok(draft)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_be_kept_is_kept_and_gaps_are_told() {
        let filler = |name: &str| format!("# {name}\n{}\n", "x".repeat(990));
        let text = format!(
            "{}{}## MUST\nNever push.\n{}",
            filler("a"),
            filler("b"),
            filler("c")
        );
        let cut = within(&text, 1_500);
        assert!(cut.contains("Never push.") && cut.contains("# a"), "{cut}");
        assert!(cut.contains("[995 bytes are left out here]\n## MUST"), "{cut}");
        assert!(within(&text, 0).contains("Never push."));
        assert_eq!(within(&text, text.len()), text);
    }
}
