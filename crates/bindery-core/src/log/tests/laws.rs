//! Laws on random logs.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Something to try next; whether it fits is for the state to say.
#[derive(Debug, Clone)]
enum Attempted {
    User(u8),
    Calls(u8),
    Return(u8),
    Summarise(u8, u8),
    Prune(u8),
    Snapshot(Option<u8>),
    Enqueue(u8),
    Claim(u8),
    Turn,
    Step,
    EndStep,
    EndTurn,
}

fn attempted() -> impl Strategy<Value = Attempted> {
    use Attempted::*;
    prop_oneof![
        any::<u8>().prop_map(User),
        (1..4_u8).prop_map(Calls),
        any::<u8>().prop_map(Return),
        (any::<u8>(), any::<u8>()).prop_map(|(first, count)| Summarise(first, count)),
        any::<u8>().prop_map(Prune),
        proptest::option::of(0..3_u8).prop_map(Snapshot),
        (0..20_u8).prop_map(Enqueue),
        any::<u8>().prop_map(Claim),
        Just(Turn),
        Just(Step),
        Just(EndStep),
        Just(EndTurn),
    ]
}

fn pick<T: Clone>(items: &[T], n: u8) -> Option<T> {
    items.get(usize::from(n).checked_rem(items.len())?).cloned()
}

/// The event that an attempt comes to in this state.
fn payload(attempted: &Attempted, state: &SessionState) -> Option<Payload> {
    let place = state.next_seq().get();
    Some(match attempted {
        Attempted::User(n) => user(&format!("u{n}")),
        Attempted::Calls(count) => {
            let ids: Vec<String> = (0..*count).map(|n| format!("{place}.{n}")).collect();
            calls(&ids.iter().map(String::as_str).collect::<Vec<_>>())
        }
        Attempted::Return(n) => {
            let call = pick(state.pending_calls(), *n)?;
            returned(&call.id, &format!("r{place}"))
        }
        Attempted::Summarise(first, count) => {
            let entries: Vec<Vec<Seq>> = state.surface().entries().map(|(seqs, _)| seqs.to_vec()).collect();
            let first = usize::from(*first).checked_rem(entries.len())?;
            let shadowed: Vec<u64> = entries
                .iter()
                .skip(first)
                .take(usize::from(*count % 6))
                .flatten()
                .map(|seq| seq.get())
                .collect();
            replaced(&shadowed, summary(&format!("s{place}")))
        }
        Attempted::Prune(n) => {
            let seqs: Vec<Seq> = state
                .surface()
                .entries()
                .flat_map(|(seqs, _)| seqs.to_vec())
                .collect();
            let content = external(Kind::ToolResult, Authority::Tool, format!("p{place}"));
            replaced(&[pick(&seqs, *n)?.get()], Replacement::Result(content))
        }
        Attempted::Snapshot(value) => {
            let snapshot = value.map(|n| {
                let fragments = vec![external(Kind::Snapshot, Authority::User, format!("v{n}"))];
                crate::Snapshot {
                    hash: crate::render::hash_of("snapshot", &fragments),
                    fragments,
                }
            });
            state.projection().propose(snapshot.as_ref())?.into()
        }
        Attempted::Enqueue(n) => InboxEnqueued {
            id: format!("i{n}").into(),
            intake: [Intake::FollowUp, Intake::Steer, Intake::Inject][usize::from(n % 3)],
            message: Message::user("m", "x"),
        }
        .into(),
        Attempted::Claim(n) => InboxClaimed {
            ids: vec![pick(state.inbox().items(), *n)?.id],
        }
        .into(),
        Attempted::Turn => TurnStarted {
            turn: state.turns() + 1,
        }
        .into(),
        Attempted::Step => {
            let turn = state.open_turn()?;
            StepStarted {
                turn: turn.number,
                step: turn.steps + 1,
            }
            .into()
        }
        Attempted::EndStep => {
            let (turn, step) = (state.turns(), state.open_step()?.number);
            StepEnded {
                turn,
                step,
                outcome: StepOutcome::Completed,
            }
            .into()
        }
        Attempted::EndTurn => TurnEnded {
            turn: state.turns(),
            outcome: TurnOutcome::Completed,
            reason: None,
        }
        .into(),
    })
}

/// A log of what fitted, and its state, followed event by event. What was refused left no trace.
fn follow(attempts: &[Attempted]) -> (Vec<Event>, SessionState) {
    let (mut events, mut state) = (Vec::new(), SessionState::default());
    for attempted in attempts {
        let Some(payload) = payload(attempted, &state) else {
            continue;
        };
        let event = Event {
            seq: state.next_seq(),
            at_ms: 1,
            payload,
        };
        let before = state.clone();
        match state.apply(&event) {
            Ok(()) => events.push(event),
            Err(_) => assert_eq!(state, before, "a refused {event:?} changed the state"),
        }
    }
    (events, state)
}

/// The surface, derived afresh from the whole log by the plainest means.
fn derived(events: &[Event]) -> Vec<Message> {
    let mut results: BTreeMap<&str, (Seq, &ToolReturned)> = BTreeMap::new();
    for event in events {
        if let Payload::ToolReturned(returned) = &event.payload {
            results.insert(&returned.call, (event.seq, returned));
        }
    }
    let mut surface: Vec<(Vec<Seq>, Message)> = Vec::new();
    for event in events {
        match &event.payload {
            Payload::UserMessage(said) => surface.push((vec![event.seq], said.message.clone())),
            Payload::SnapshotEntered(entered) => {
                let message = Message::text(Role::User, entered.fragments.clone()).meta();
                surface.push((vec![event.seq], message));
            }
            Payload::AssistantMessage(answer) => {
                surface.push((vec![event.seq], answer.message.clone()));
                let answers: Vec<(Seq, Part)> = answer
                    .message
                    .parts
                    .iter()
                    .filter_map(|part| match part {
                        Part::ToolCall { id, .. } => results.get(&**id).map(|(seq, returned)| {
                            let (id, content) = (id.clone(), returned.content.clone());
                            (
                                *seq,
                                Part::ToolResult {
                                    id,
                                    content,
                                    is_error: false,
                                },
                            )
                        }),
                        _ => None,
                    })
                    .collect();
                if !answers.is_empty() {
                    let (seqs, parts) = answers.into_iter().unzip();
                    surface.push((
                        seqs,
                        Message {
                            role: Role::User,
                            parts,
                            is_meta: false,
                        },
                    ));
                }
            }
            Payload::SurfaceReplaced(replaced) => replace(&mut surface, event.seq, replaced),
            _ => {}
        }
    }
    surface.into_iter().map(|(_, message)| message).collect()
}

fn replace(surface: &mut Vec<(Vec<Seq>, Message)>, seq: Seq, replaced: &SurfaceReplaced) {
    let cited = |seqs: &[Seq]| seqs.iter().position(|seq| replaced.shadowed.contains(seq));
    let at = surface
        .iter()
        .position(|(seqs, _)| cited(seqs).is_some())
        .expect("cited events stand");
    match &replaced.replacement {
        Replacement::Messages(new) => {
            surface.retain(|(seqs, _)| cited(seqs).is_none());
            let new = new.iter().map(|message| (vec![seq], message.clone()));
            surface.splice(at..at, new);
        }
        Replacement::Result(new) => {
            let (seqs, message) = &mut surface[at];
            let index = cited(seqs).expect("cited");
            if let Part::ToolResult { content, .. } = &mut message.parts[index] {
                *content = new.clone();
            }
            seqs[index] = seq;
        }
    }
}

/// Calls and results of every message pair up, but for those that still wait.
fn assert_paired(state: &SessionState) {
    let mut waiting: Vec<&str> = state.pending_calls().iter().map(|call| &*call.id).collect();
    for (index, message) in state.messages().iter().enumerate() {
        for part in &message.parts {
            let Part::ToolCall { id, .. } = part else { continue };
            let next = state
                .messages()
                .get(index + 1)
                .map_or(&[][..], |next| &next.parts);
            let answered = next
                .iter()
                .any(|part| matches!(part, Part::ToolResult { id: result, .. } if result == id));
            let waits = waiting.iter().position(|call| *call == &**id);
            assert!(answered != waits.is_some(), "{id} in {}", shown(state));
            waits.map(|at| waiting.remove(at));
        }
    }
    assert!(waiting.is_empty());
}

proptest! {
    #[test]
    fn a_fold_goes_on_from_a_fold(attempts in proptest::collection::vec(attempted(), 0..60), cut in any::<u8>()) {
        let (events, state) = follow(&attempts);
        let (before, after) = events.split_at(usize::from(cut) % (events.len() + 1));
        let mut resumed = fold(before).unwrap();
        for event in after {
            resumed.apply(event).unwrap();
        }
        prop_assert_eq!(&resumed, &state);
        prop_assert_eq!(fold(&events).unwrap(), state);
    }

    #[test]
    fn the_surface_is_what_the_whole_log_derives(attempts in proptest::collection::vec(attempted(), 0..60)) {
        let (events, state) = follow(&attempts);
        prop_assert_eq!(state.messages(), derived(&events));
        assert_paired(&state);
    }

    #[test]
    fn a_log_survives_being_written(attempts in proptest::collection::vec(attempted(), 0..40)) {
        let (events, state) = follow(&attempts);
        let read: Vec<Event> = events.iter().map(|event| event.encode().unwrap().decode().unwrap()).collect();
        prop_assert_eq!(&read, &events);
        prop_assert_eq!(fold(&read).unwrap(), state);
    }

    #[test]
    fn once_told_the_model_is_always_told_what_holds(
        attempts in proptest::collection::vec(attempted(), 0..40),
        value in proptest::option::of(0..3_u8),
    ) {
        let (mut events, mut state) = follow(&attempts);
        if let Some(payload) = payload(&Attempted::Snapshot(value), &state) {
            let event = Event { seq: state.next_seq(), at_ms: 1, payload };
            state.apply(&event).unwrap();
            events.push(event);
        }
        prop_assert!(payload(&Attempted::Snapshot(value), &state).is_none(), "one proposal is enough");
        let snapshots = state.messages().iter().flat_map(Message::fragments);
        let last = snapshots.filter(|f| matches!(f.kind, Kind::Snapshot | Kind::SnapshotCleared)).last();
        match value {
            Some(n) => prop_assert_eq!(last.map(|f| f.text.to_string()), Some(format!("v{n}"))),
            None => prop_assert!(last.is_none_or(|f| f.kind == Kind::SnapshotCleared) ),
        }
    }

    #[test]
    fn records_of_any_bytes_are_read_or_refused(kind in "[a-z_/]{1,20}|turn_started|user_message", version in 0..3_u32, ignorable: bool, data in "\\PC{0,40}|\\{\\}|\\{\"turn\":[0-9]{1,30}\\}") {
        let record = Record { seq: Seq::FIRST, at_ms: 0, kind: kind.into(), version, ignorable, data: data.into() };
        if let Ok(event) = record.decode() {
            prop_assert_eq!(event.encode().unwrap().decode().unwrap(), event);
        }
    }
}
