//! Runtime context as messages: one superseding snapshot, reminders, and messages of their own.

use std::sync::Arc;

use crate::assembly::ContextItem;
use crate::marker::{escape_reserved, tag, wrap};
use crate::{Authority, ContentHash, Fragment, Group, Kind, Lane, RenderCache, Source, Text, Trust};

/// The words before a snapshot. Text that people edit lives in files.
const PREAMBLE: &str = include_str!("../../../sections/runtime/snapshot.md");

/// Rendered contexts that travel as messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuntimeContext {
    /// The snapshot, if any context contributes to one: fragments of one message, in order.
    pub snapshot: Option<Snapshot>,
    /// Reminders for this request only.
    pub reminders: Vec<Fragment>,
    /// Messages of their own (instruction files and the like), each entered once.
    pub messages: Vec<Fragment>,
}

/// A complete rendered snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Opening marker and preamble, one piece per context, closing marker. Joined by blank lines.
    pub fragments: Vec<Fragment>,
    /// The hash of the complete rendered value: a snapshot is proposed only when this changes.
    pub hash: ContentHash,
}

/// A context's part of the snapshot: a heading with its name, then its text.
pub(crate) fn piece(item: &ContextItem, text: &Text, cache: &RenderCache) -> Fragment {
    let rendered = cache.derive("piece", &[item.name.as_bytes(), text.hash().as_bytes()], || {
        let name = escape_reserved(&item.name);
        format!("# {name}\n{}", escape_reserved(text.trim_end()))
    });
    fragment(item, rendered)
}

/// A context that is a message of its own, wrapped in its kind's markers.
pub(crate) fn marked(item: &ContextItem, text: &Text, cache: &RenderCache) -> Fragment {
    let source = item.source.to_string();
    let kind = tag(item.kind).unwrap_or_default();
    let hash = text.hash();
    let from: [&[u8]; 4] = [
        kind.as_bytes(),
        source.as_bytes(),
        item.trust.name().as_bytes(),
        hash.as_bytes(),
    ];
    let rendered = cache.derive("marked", &from, || {
        wrap(item.kind, &item.source, item.trust, &escape_reserved(text))
    });
    fragment(item, rendered)
}

/// Puts the pieces between an opening and a closing fragment.
pub(crate) fn snapshot(pieces: Vec<Fragment>, cache: &RenderCache) -> Option<Snapshot> {
    let trust = pieces.iter().map(|piece| piece.trust).max()?;
    let tag = tag(Kind::Snapshot)?;
    let open = cache.derive(
        "snapshot.open",
        &[tag.as_bytes(), trust.name().as_bytes()],
        || format!("<{tag} trust=\"{}\">\n{}", trust.name(), PREAMBLE.trim_end()),
    );
    let close = cache.derive("snapshot.end", &[tag.as_bytes()], || format!("</{tag}>"));
    let mut fragments = vec![frame("context:snapshot", open)];
    fragments.extend(pieces);
    fragments.push(frame("context:snapshot.end", close));
    let hash = crate::render::hash_of("snapshot", &fragments);
    Some(Snapshot { fragments, hash })
}

fn frame(key: &str, text: Text) -> Fragment {
    Fragment {
        key: Arc::from(key),
        kind: Kind::Snapshot,
        lane: Lane::Context,
        group: Group::Dynamic,
        authority: Authority::User,
        trust: Trust::Builtin,
        source: Source::Builtin {
            name: "runtime/snapshot.md".into(),
        },
        grant: None,
        text,
    }
}

fn fragment(item: &ContextItem, text: Text) -> Fragment {
    Fragment {
        key: format!("context:{}", item.name).into(),
        kind: item.kind,
        lane: Lane::Context,
        group: Group::Dynamic,
        authority: Authority::User,
        trust: item.trust,
        source: item.source.clone(),
        grant: None,
        text,
    }
}
