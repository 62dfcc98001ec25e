use proptest::prelude::*;

use super::*;
use crate::log::{Draft, ExchangeOutcome};

const NONE: [u64; 0] = [];

fn started(body: Body) -> Payload {
    ExchangeStarted {
        client: None,
        agent: None,
        format: "anthropic".into(),
        route: "".into(),
        path: "".into(),
        model: None,
        headers: std::collections::BTreeMap::new(),
        body,
        unknown: vec![],
    }
    .into()
}

fn ended(exchange: u64) -> Payload {
    ExchangeEnded {
        exchange: Seq::new(exchange),
        outcome: ExchangeOutcome::Answered,
        status: None,
        began_ms: None,
        elapsed_ms: None,
        response_id: None,
        request_id: None,
        usage: None,
        origin: None,
        reported: None,
        diagnosis: None,
        response: None,
    }
    .into()
}

fn follow(recording: &mut Recording, seq: u64, payload: Payload) -> Vec<u64> {
    let event = Draft::new(0, payload).at(Seq::new(seq));
    let out = recording.follow(&event).unwrap();
    out.iter().map(|exchange| exchange.number).collect()
}

#[test]
fn a_conversation_that_grows_costs_what_it_grows_by() {
    let mut writer = BodyWriter::default();
    let long = "x".repeat(10_000);
    let whole = writer.record(format!("{{{long}[a]}}").as_bytes());
    assert!(matches!(whole.content, BodyContent::Text(_)));
    let next = writer.record(format!("{{{long}[a,é]}}").as_bytes());
    let expected = Splice {
        base: whole.hash,
        head: 10_003,
        text: ",é".to_owned(),
        tail: 2,
    };
    assert_eq!(next.content, BodyContent::Splice(expected));
    let other = writer.record(b"{another agent}");
    assert!(matches!(other.content, BodyContent::Text(_)));
    let again = writer.record(format!("{{{long}[a,b]}}").as_bytes());
    assert!(
        matches!(again.content, BodyContent::Splice(_)),
        "agents may take turns"
    );
    writer.forget();
    let fresh = writer.record(format!("{{{long}[a,b]}}").as_bytes());
    assert!(matches!(fresh.content, BodyContent::Text(_)));
    assert!(matches!(
        writer.record(b"\xff\xfe").content,
        BodyContent::Base64(_)
    ));
}

#[test]
fn exchanges_come_in_the_order_of_sending_each_with_its_answer() {
    let (mut writer, mut recording) = (BodyWriter::default(), Recording::default());
    let mut body = |text: &str| started(writer.record(text.as_bytes()));
    assert_eq!(follow(&mut recording, 1, body("a")), NONE);
    assert_eq!(follow(&mut recording, 2, body("b")), NONE);
    assert_eq!(follow(&mut recording, 3, ended(2)), NONE);
    assert_eq!(follow(&mut recording, 4, ended(1)), [1, 2]);
    assert_eq!(follow(&mut recording, 5, body("never answered")), NONE);
    let left: Vec<_> = recording.finish().collect();
    assert_eq!(
        (left.len(), left[0].number, &*left[0].body),
        (1, 3, &b"never answered"[..])
    );
    assert!(left[0].ended.is_none());
}

#[test]
fn what_does_not_fit_is_told() {
    let mut writer = BodyWriter::default();
    let long = "x".repeat(100);
    writer.record(format!("{long}a").as_bytes());
    let next = writer.record(format!("{long}b").as_bytes());
    let event = |body: Body| Draft::new(0, started(body)).at(Seq::new(4));
    let missing = Recording::default().follow(&event(next.clone())).unwrap_err();
    assert!(matches!(missing, RecordingError::NoBase { .. }), "{missing}");
    let forged = Body {
        content: BodyContent::Text("other".to_owned()),
        ..next
    };
    let differs = Recording::default().follow(&event(forged)).unwrap_err();
    assert!(matches!(differs, RecordingError::Differs { .. }), "{differs}");
}

proptest! {
    #[test]
    fn bodies_come_back_byte_by_byte(
        bodies in prop::collection::vec(("[ab]{0,3}", "x{0,200}", "[éa]{0,4}", prop::option::of(any::<u8>())), 1..90),
    ) {
        let (mut writer, mut recording) = (BodyWriter::default(), Recording::default());
        for (at, (head, middle, tail, byte)) in bodies.into_iter().enumerate() {
            let mut bytes = format!("{head}{middle}{tail}").into_bytes();
            bytes.extend(byte);
            let body = writer.record(&bytes);
            let seq = Seq::new(at as u64 * 2 + 1);
            recording.follow(&Draft::new(0, started(body)).at(seq)).unwrap();
            let end = Draft::new(0, ended(seq.get())).at(seq.next());
            let out = recording.follow(&end).unwrap();
            prop_assert_eq!(&*out[0].body, &bytes[..]);
        }
    }
}
