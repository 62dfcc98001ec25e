//! A grown body is the body, whatever was said and in whatever order.

use bindery_core::{Authority, Fragment, Group, Kind, Lane, Source, Tool, Trust, said};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ReasoningForm;

fn system(text: &str) -> SystemPrompt {
    let section = Fragment {
        key: "identity".into(),
        kind: Kind::Section,
        lane: Lane::System,
        group: Group::Static,
        authority: Authority::System,
        trust: Trust::Builtin,
        source: Source::Builtin {
            name: "identity".into(),
        },
        grant: None,
        text: text.into(),
    };
    SystemPrompt::from_fragments(vec![section], vec![])
}

fn fragment(key: &str, kind: Kind, authority: Authority, text: &str) -> Fragment {
    said(key, kind, authority, Trust::External, text)
}

/// One message for a letter: texts, empty texts, calls, results, thoughts of two providers, reminders.
fn message(at: usize, letter: char) -> Message {
    let key = format!("message:{at}");
    let text = |authority, kind, text: &str| Part::Text(vec![fragment(&key, kind, authority, text)]);
    let thought = |form: ReasoningForm| Part::Reasoning {
        fragment: Fragment {
            source: form.source(),
            ..fragment(&key, Kind::Reasoning, Authority::Assistant, "Hm \"ü\"\n")
        },
        signature: "{\"type\":\"reasoning\"}".into(),
    };
    let call = Part::ToolCall {
        id: format!("c{at}").as_str().into(),
        name: "list".into(),
        input: fragment(&key, Kind::ToolCall, Authority::Assistant, "{\"n\": 1.0}"),
    };
    let result = Part::ToolResult {
        id: format!("c{at}").as_str().into(),
        content: fragment(&key, Kind::ToolResult, Authority::Tool, "a\tb"),
        is_error: at.is_multiple_of(2),
    };
    let hi = || text(Authority::User, Kind::UserPrompt, "Grüße \u{1f980}");
    let (role, parts) = match letter {
        'u' => (Role::User, vec![hi()]),
        'U' => (
            Role::User,
            vec![text(Authority::User, Kind::UserPrompt, ""), hi()],
        ),
        'e' => (Role::User, vec![text(Authority::User, Kind::UserPrompt, "")]),
        'r' => (Role::User, vec![result, hi()]),
        'm' => (
            Role::User,
            vec![text(Authority::User, Kind::Reminder, "remember")],
        ),
        'a' => (
            Role::Assistant,
            vec![text(Authority::Assistant, Kind::AssistantText, "Yes.")],
        ),
        'E' => (Role::Assistant, vec![]),
        't' => (Role::Assistant, vec![thought(ReasoningForm::Thinking), call]),
        _ => (
            Role::Assistant,
            vec![
                thought(ReasoningForm::ResponsesItem),
                thought(ReasoningForm::ReasoningContent),
            ],
        ),
    };
    Message {
        role,
        parts,
        is_meta: false,
    }
}

fn conversation(letters: &str) -> Vec<Message> {
    letters
        .chars()
        .enumerate()
        .map(|(at, letter)| message(at, letter))
        .collect()
}

fn same(left: &str, right: &str) -> usize {
    left.chars()
        .zip(right.chars())
        .take_while(|(a, b)| a == b)
        .count()
}

#[test]
fn only_what_is_new_is_written() {
    let letters = "ua".repeat(50);
    let (system, params) = (system("You help."), Params::new("m", 9));
    let messages = conversation(&letters);
    let request = Request {
        system: &system,
        tools: &[],
        messages: &messages,
        params: &params,
    };
    for provider in Provider::ALL {
        let mut growing = Growing::new(provider);
        growing.encode(&request, 0).unwrap();
        assert_eq!(growing.kept.messages, 96, "{provider}");
        let kept = growing.kept.bytes;
        let more = conversation(&format!("{letters}u"));
        let request = Request {
            messages: &more,
            ..request
        };
        growing.encode(&request, messages.len()).unwrap();
        assert_eq!(growing.kept.messages, 98, "{provider}");
        assert!(growing.kept.bytes - kept < 400, "{provider}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Conversations that grow, shrink, change in the middle, and change what stands before them.
    #[test]
    fn a_grown_body_is_the_body(
        steps in prop::collection::vec(("[uUermaEtx]{0,7}", 0..8usize, 0..12u8), 1..10),
        most in 0..5usize,
    ) {
        let tools = [Tool::new("list", "Lists.", &json!({"type": "object"}))];
        let mut params = Params::new("m", 9);
        params.marks.most = most;
        let mut all = Provider::ALL.map(Growing::new);
        let mut letters = String::new();
        for (more, back, head) in steps {
            let before = letters.clone();
            let kept = letters.chars().count().saturating_sub(back);
            letters = letters.chars().take(kept).chain(more.chars()).collect();
            let (messages, system) = (conversation(&letters), system(if head == 0 { "Other." } else { "You help." }));
            let request = Request { system: &system, tools: &tools, messages: &messages, params: &params };
            for growing in &mut all {
                let whole = growing.provider().encode(&request);
                match (growing.encode(&request, same(&before, &letters)).cloned(), whole) {
                    (Ok(grown), Ok(whole)) => {
                        prop_assert_eq!(String::from_utf8(grown.body.clone()), String::from_utf8(whole.body.clone()));
                        prop_assert_eq!(growing.fingerprint(), (ContentHash::of(&whole.body), whole.body.len() as u64));
                        prop_assert_eq!(&grown, &whole);
                    }
                    (Err(grown), Err(whole)) => prop_assert_eq!(grown.to_string(), whole.to_string()),
                    (grown, whole) => prop_assert!(false, "{grown:?} {whole:?}"),
                }
            }
        }
    }
}
