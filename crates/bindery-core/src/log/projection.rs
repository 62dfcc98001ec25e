//! Which runtime context the model was last told, and what it has to be told now.

use std::sync::Arc;

use super::{Seq, SnapshotChange, SnapshotEntered};
use crate::marker::wrap;
use crate::{Authority, ContentHash, Fragment, Group, Kind, Lane, Snapshot, Source, Trust};

/// The words that say that there is nothing to report any more. Text that people edit lives in files.
const CLEARED: &str = include_str!("../../../../sections/runtime/cleared.md");

/// What of the runtime context stands on the surface. It changes only with events: with a snapshot
/// that was admitted, and with a replacement that shadows the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Projection {
    /// The model was never told anything.
    #[default]
    Never,
    /// It was told something that is no longer on the surface.
    Lost,
    /// It was last told this value.
    Shown {
        /// The event.
        seq: Seq,
        /// The hash of the complete rendered value.
        hash: ContentHash,
    },
    /// It was last told that there is nothing.
    Cleared {
        /// The event.
        seq: Seq,
    },
}

impl Projection {
    /// What has to enter so that the surface says what holds now; `None` if it does already. To propose
    /// is not to admit: state follows when the event is in the log.
    ///
    /// | told before | nothing to report | same value | another value |
    /// |---|---|---|---|
    /// | never | – | shown | shown |
    /// | shown | cleared | – | shown |
    /// | cleared | – | shown | shown |
    /// | lost | cleared | reasserted | reasserted |
    pub fn propose(&self, current: Option<&Snapshot>) -> Option<SnapshotEntered> {
        let change = match (self, current) {
            (Self::Never | Self::Cleared { .. }, None) => return None,
            (Self::Shown { hash, .. }, Some(snapshot)) if *hash == snapshot.hash => return None,
            (Self::Lost, Some(_)) => SnapshotChange::Reasserted,
            (_, Some(_)) => SnapshotChange::Shown,
            (Self::Shown { .. } | Self::Lost, None) => SnapshotChange::Cleared,
        };
        let fragments = current.map_or_else(|| vec![cleared()], |snapshot| snapshot.fragments.clone());
        Some(SnapshotEntered { change, fragments })
    }

    /// After `entered` was admitted as event `seq`. The hash is taken of what was admitted, which a
    /// listener may have edited.
    pub(super) fn admitted(seq: Seq, entered: &SnapshotEntered) -> Self {
        match entered.change {
            SnapshotChange::Cleared => Self::Cleared { seq },
            SnapshotChange::Shown | SnapshotChange::Reasserted => Self::Shown {
                seq,
                hash: crate::render::hash_of("snapshot", &entered.fragments),
            },
        }
    }

    /// After these events were shadowed. An older snapshot that still stands does not count: it would be
    /// out of date.
    pub(super) fn shadowed(self, events: &[Seq]) -> Self {
        match self {
            Self::Shown { seq, .. } | Self::Cleared { seq } if events.contains(&seq) => Self::Lost,
            other => other,
        }
    }
}

fn cleared() -> Fragment {
    let source = Source::Builtin {
        name: "runtime/cleared.md".into(),
    };
    let text = wrap(Kind::SnapshotCleared, &source, Trust::Builtin, CLEARED);
    Fragment {
        key: Arc::from("context:snapshot"),
        kind: Kind::SnapshotCleared,
        lane: Lane::Context,
        group: Group::Dynamic,
        authority: Authority::User,
        trust: Trust::Builtin,
        source,
        grant: None,
        text: text.into(),
    }
}
