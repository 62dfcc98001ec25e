//! The table of what has to enter, row by row, on events.

use super::*;
use crate::{Snapshot, render};

fn snapshot(text: &str) -> Snapshot {
    let fragments = vec![external(Kind::Snapshot, Authority::User, text)];
    Snapshot {
        hash: render::hash_of("snapshot", &fragments),
        fragments,
    }
}

/// What happens before the question is asked.
#[derive(Clone, Copy, Debug)]
enum Before {
    Never,
    ShownA,
    Cleared,
    LostA,
    LostClear,
    /// A was shown, then B, and only B was shadowed: A stands, but is out of date.
    OnlyOldStands,
    /// A was proposed and a listener dropped it.
    ProposedOnly,
}

fn state(before: Before) -> SessionState {
    let mut events: Vec<Payload> = Vec::new();
    let enter = |events: &mut Vec<Payload>, current: Option<&Snapshot>| {
        let state = fold(&log(events.clone())).unwrap();
        events.push(state.projection().propose(current).unwrap().into());
    };
    let (a, b) = (snapshot("a"), snapshot("b"));
    match before {
        Before::Never => {}
        Before::ShownA | Before::LostA => enter(&mut events, Some(&a)),
        Before::Cleared | Before::LostClear => {
            enter(&mut events, Some(&a));
            enter(&mut events, None);
        }
        Before::OnlyOldStands => {
            enter(&mut events, Some(&a));
            enter(&mut events, Some(&b));
        }
        Before::ProposedOnly => {
            assert!(fold(&[]).unwrap().projection().propose(Some(&a)).is_some());
        }
    }
    match before {
        Before::LostA => events.push(replaced(&[1], summary("s"))),
        Before::LostClear | Before::OnlyOldStands => events.push(replaced(&[2], summary("s"))),
        _ => {}
    }
    fold(&log(events)).unwrap()
}

#[test]
fn what_has_to_enter() {
    use SnapshotChange::{Cleared, Reasserted, Shown};
    let table = [
        (Before::Never, None, None),
        (Before::Never, Some("a"), Some(Shown)),
        (Before::ShownA, None, Some(Cleared)),
        (Before::ShownA, Some("a"), None),
        (Before::ShownA, Some("b"), Some(Shown)),
        (Before::Cleared, None, None),
        (Before::Cleared, Some("a"), Some(Shown)),
        (Before::LostA, None, Some(Cleared)),
        (Before::LostA, Some("a"), Some(Reasserted)),
        (Before::LostA, Some("b"), Some(Reasserted)),
        (Before::LostClear, None, Some(Cleared)),
        (Before::LostClear, Some("a"), Some(Reasserted)),
        (Before::OnlyOldStands, Some("a"), Some(Reasserted)),
        (Before::OnlyOldStands, Some("b"), Some(Reasserted)),
        (Before::OnlyOldStands, None, Some(Cleared)),
        (Before::ProposedOnly, Some("a"), Some(Shown)),
        (Before::ProposedOnly, None, None),
    ];
    for (before, current, expected) in table {
        let current = current.map(snapshot);
        let proposed = state(before).projection().propose(current.as_ref());
        assert_eq!(
            proposed.as_ref().map(|entered| entered.change),
            expected,
            "{before:?}, {current:?}"
        );
        match (proposed, current) {
            (Some(entered), Some(current)) => assert_eq!(entered.fragments, current.fragments),
            (Some(entered), None) => {
                let texts: Vec<_> = entered.fragments.iter().map(|f| f.text.as_str()).collect();
                assert_eq!(crate::marker::matches_text(texts[0]), Some(Kind::SnapshotCleared));
            }
            (None, _) => {}
        }
    }
}

#[test]
fn an_edited_snapshot_counts_as_what_was_admitted() {
    let edited = SnapshotEntered {
        change: SnapshotChange::Shown,
        fragments: snapshot("edited").fragments,
    };
    let state = fold(&log([edited.into()])).unwrap();
    assert!(state.projection().propose(Some(&snapshot("a"))).is_some());
    assert!(state.projection().propose(Some(&snapshot("edited"))).is_none());
}

#[test]
fn a_snapshot_is_a_message_of_the_harness_with_its_sources() {
    let entered = Projection::Never.propose(Some(&snapshot("a"))).unwrap();
    let state = fold(&log([entered.into()])).unwrap();
    let message = &state.messages()[0];
    assert!(message.is_meta && message.role == Role::User);
    assert_eq!(
        message.fragments().cloned().collect::<Vec<_>>(),
        snapshot("a").fragments
    );
}
