//! Requests, once more.

use super::*;

#[test]
fn a_request_is_given_as_it_was_sent() {
    let mut payloads: Vec<Payload> = examples().into_iter().map(|draft| draft.payload).collect();
    let reminder = Message::text(Role::User, vec![external(Kind::Reminder, Authority::User, "R")]).meta();
    for payload in &mut payloads {
        if let Payload::AttemptStarted(attempt) = payload {
            attempt.reminders.push(reminder.clone());
        }
    }
    let events = log(payloads);
    let seen = request(events.clone(), 1, |request| {
        assert_eq!((request.number, request.seq.get()), (1, 12));
        assert_eq!(&*request.header.model, "model-1");
        request.messages.to_vec()
    });
    let messages = seen.unwrap().unwrap();
    assert_eq!(messages.last(), Some(&reminder));
    assert_eq!(messages.len(), 3);
    let state = fold(&events).unwrap();
    assert!(!state.messages().contains(&reminder));
    assert!(matches!(state.messages_with(&[]), std::borrow::Cow::Borrowed(_)));
    assert_eq!(request(events, 2, |_| ()).unwrap(), None);
}
