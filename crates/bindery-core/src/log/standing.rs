//! What contexts that travel as messages of their own say on the surface.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::UserMessage;
use crate::marker::wrap;
use crate::{ContentHash, Fragment, Kind, Lane, Message, RuntimeContext, Source, Trust};

/// The words that take instructions back. Text that people edit lives in files.
const WITHDRAWN: &str = include_str!("../../../../sections/runtime/withdrawn.md");

/// The newest text of each context on the surface, by the key of its fragment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    texts: BTreeMap<Arc<str>, StandingText>,
}

/// A text of the runtime context that stands on the surface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingText {
    /// What it is.
    pub kind: Kind,
    /// Where it came from.
    pub source: Source,
    /// Its hash.
    pub hash: ContentHash,
}

impl Standing {
    /// What the fragment of this key says; `None` if it does not stand there.
    pub fn get(&self, key: &str) -> Option<&StandingText> {
        self.texts.get(key)
    }

    /// The messages that have to enter so that the surface says what `context` says. What stands need not
    /// enter again; instructions that are no longer given are taken back, once. Other kinds (a recalled
    /// session, a document) told something and claim nothing: they are not taken back.
    pub fn propose(&self, context: &RuntimeContext) -> Vec<UserMessage> {
        let given = |key: &Arc<str>| context.messages.iter().any(|fragment| fragment.key == *key);
        let gone = self
            .texts
            .iter()
            .filter(|(key, text)| text.kind == Kind::Instructions && !given(key))
            .map(|(key, text)| withdrawal(key, &text.source));
        let stands = |fragment: &&Fragment| {
            let text = self.texts.get(&fragment.key);
            text.is_some_and(|text| text.hash == fragment.text.hash())
        };
        let new = context
            .messages
            .iter()
            .filter(|fragment| !stands(fragment))
            .cloned();
        gone.chain(new)
            .map(|fragment| UserMessage {
                message: Message::text(crate::Role::User, vec![fragment]).meta(),
                inbox: None,
            })
            .collect()
    }

    pub(super) fn note(&mut self, message: &Message) {
        for fragment in message
            .fragments()
            .filter(|fragment| fragment.lane == Lane::Context)
        {
            let text = StandingText {
                kind: fragment.kind,
                source: fragment.source.clone(),
                hash: fragment.text.hash(),
            };
            self.texts.insert(fragment.key.clone(), text);
        }
    }

    pub(super) fn of(messages: &[Message]) -> Self {
        let mut standing = Self::default();
        for message in messages {
            standing.note(message);
        }
        standing
    }
}

fn withdrawal(key: &Arc<str>, source: &Source) -> Fragment {
    let kind = Kind::InstructionsWithdrawn;
    Fragment {
        key: key.clone(),
        kind,
        lane: Lane::Context,
        group: crate::Group::Dynamic,
        authority: crate::Authority::User,
        trust: Trust::Builtin,
        source: source.clone(),
        grant: None,
        text: wrap(kind, source, Trust::Builtin, WITHDRAWN).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(texts: &[(&str, Kind, &str)]) -> RuntimeContext {
        let fragment = |(name, kind, text): &(&str, Kind, &str)| {
            let source = Source::File {
                path: (*name).into(),
                lines: None,
            };
            Fragment {
                key: format!("context:{name}").into(),
                lane: Lane::Context,
                source: source.clone(),
                ..crate::said(
                    "k",
                    *kind,
                    crate::Authority::User,
                    Trust::Project,
                    wrap(*kind, &source, Trust::Project, text),
                )
            }
        };
        RuntimeContext {
            messages: texts.iter().map(fragment).collect(),
            ..RuntimeContext::default()
        }
    }

    /// What enters, a line each, and the surface afterwards.
    fn enters(surface: &mut Vec<Message>, texts: &[(&str, Kind, &str)]) -> Vec<String> {
        let proposed = Standing::of(surface).propose(&context(texts));
        let mut lines = Vec::new();
        for said in proposed {
            assert!(said.message.is_meta);
            lines.extend(said.message.fragments().map(|fragment| {
                assert_eq!(crate::marker::matches_text(&fragment.text), Some(fragment.kind));
                format!("{:?} {}", fragment.kind, fragment.source)
            }));
            surface.push(said.message);
        }
        lines
    }

    #[test]
    fn instructions_that_are_gone_are_taken_back_once() {
        let mut surface = Vec::new();
        let (a, b) = (
            ("a.md", Kind::Instructions, "A"),
            ("b.md", Kind::Instructions, "B"),
        );
        let recalled = ("old", Kind::SessionReference, "said before");
        let mut enters = |texts: &[_]| enters(&mut surface, texts);
        assert_eq!(
            enters(&[a, b, recalled]),
            ["Instructions a.md", "Instructions b.md", "SessionReference old"]
        );
        assert_eq!(enters(&[a, b, recalled]), [""; 0]);
        // A recalled session claims nothing: it is not taken back.
        assert_eq!(enters(&[b]), ["InstructionsWithdrawn a.md"]);
        assert_eq!(enters(&[b]), [""; 0]);
        // The same text holds again when it comes again.
        assert_eq!(enters(&[a, b]), ["Instructions a.md"]);
        assert_eq!(
            enters(&[("a.md", Kind::Instructions, "other"), b]),
            ["Instructions a.md"]
        );
        assert_eq!(
            enters(&[]),
            ["InstructionsWithdrawn a.md", "InstructionsWithdrawn b.md"]
        );
        assert_eq!(enters(&[]), [""; 0]);
    }
}
