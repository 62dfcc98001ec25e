//! When a header is written.

use serde_json::json;

use super::*;
use crate::{Group, Lane, Source, SystemPrompt, Tool};

fn section(key: &str, group: Group, text: &str) -> Fragment {
    Fragment {
        key: key.into(),
        kind: Kind::Section,
        lane: Lane::System,
        group,
        authority: Authority::System,
        trust: Trust::Builtin,
        source: Source::File {
            path: "a.md".into(),
            lines: Some((1, 2)),
        },
        grant: None,
        text: text.into(),
    }
}

fn header() -> Header {
    let sections = vec![
        section("a", Group::Static, "A"),
        section("b", Group::Dynamic, "B"),
    ];
    let schema = json!({"type": "object", "properties": {"n": {"maximum": 1.0, "minimum": 1e-7}}});
    Header {
        provider: "p".into(),
        model: "m".into(),
        params: Json::new(&json!({"max_tokens": 9, "stream": true})),
        adapter_defaults: Json::new(&json!({"store": false})),
        system: SystemPrompt::from_fragments(sections, vec![]),
        tools: vec![
            Tool::new("t", "T.", &schema),
            Tool::new("u", "U.", &schema).id("server"),
        ],
    }
}

#[test]
fn a_header_is_read_back_as_the_very_value() {
    let text = serde_json::to_string(&header()).unwrap();
    let read: Header = serde_json::from_str(&text).unwrap();
    assert_eq!(read, header());
    assert_eq!(read.system.blocks(), header().system.blocks());
    assert_eq!(read.system.cacheable_prefix(), header().system.cacheable_prefix());
    assert_eq!(read.tools[1].fragment_key(), header().tools[1].fragment_key());
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}

#[test]
fn an_empty_system_prompt_and_no_tools_are_absent() {
    let bare = Header {
        system: SystemPrompt::default(),
        tools: vec![],
        ..header()
    };
    let text = serde_json::to_string(&bare).unwrap();
    assert!(!text.contains("system") && !text.contains("tools"), "{text}");
    assert_eq!(serde_json::from_str::<Header>(&text).unwrap(), bare);
}

#[test]
fn only_a_difference_in_bytes_is_a_difference() {
    let sections = |change: fn(&mut Fragment)| {
        let mut fragments = header().system.fragments().to_vec();
        change(&mut fragments[1]);
        Header {
            system: SystemPrompt::from_fragments(fragments, vec![]),
            ..header()
        }
    };
    let same = [
        header(),
        Header {
            params: Json::new(&json!({"stream": true, "max_tokens": 9})),
            ..header()
        },
        sections(|fragment| fragment.source = Source::Builtin { name: "moved".into() }),
    ];
    for other in same {
        assert!(header().same_bytes(&other));
    }
    let mut swapped = header();
    swapped.tools.reverse();
    let mut described = header();
    described.tools[0] = Tool::new("t", "T!", &json!({}));
    let different = [
        Header {
            provider: "q".into(),
            ..header()
        },
        Header {
            model: "n".into(),
            ..header()
        },
        Header {
            params: Json::default(),
            ..header()
        },
        Header {
            adapter_defaults: Json::default(),
            ..header()
        },
        sections(|fragment| fragment.text = "C".into()),
        sections(|fragment| fragment.authority = Authority::Developer),
        sections(|fragment| fragment.group = Group::Static),
        Header {
            system: SystemPrompt::default(),
            ..header()
        },
        Header {
            tools: vec![],
            ..header()
        },
        swapped,
        described,
    ];
    for (index, other) in different.iter().enumerate() {
        assert!(!header().same_bytes(other), "{index}");
    }
}

#[test]
fn the_reason_to_write() {
    let same = header();
    let other = Header {
        model: "n".into(),
        ..header()
    };
    let reason = |latest, opening| header().reason_to_write(latest, opening);
    assert_eq!(reason(None, Opening::JustResumed), Some(HeaderReason::Initial));
    assert_eq!(reason(Some(&same), Opening::JustResumed), None);
    assert_eq!(reason(Some(&same), Opening::Running), None);
    assert_eq!(
        reason(Some(&other), Opening::JustResumed),
        Some(HeaderReason::Resume)
    );
    assert_eq!(reason(Some(&other), Opening::Running), Some(HeaderReason::Change));
    // Another text is no resumption: whoever opened the session again asks as before.
    let text = Header {
        system: SystemPrompt::default(),
        ..header()
    };
    for opening in [Opening::JustResumed, Opening::Running] {
        assert_eq!(reason(Some(&text), opening), Some(HeaderReason::Change));
    }
}
