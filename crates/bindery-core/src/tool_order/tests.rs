use std::collections::BTreeMap;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{Source, Trust};

fn tool(name: &str) -> Tool {
    Tool::new(name, "does", &json!({}))
}

fn named(names: &[&str]) -> Vec<Tool> {
    names.iter().map(|name| tool(name)).collect()
}

fn hidden(names: &[&str]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

fn order(names: &[&str]) -> ToolOrder {
    ToolOrder::new(names.iter().copied()).unwrap()
}

fn shown(tools: &[Tool]) -> String {
    tools.iter().map(Tool::name).collect::<Vec<_>>().join(" ")
}

#[test]
fn without_an_order_names_stand_in_code_unit_order() {
    let tools = named(&["b", "B", "a_b", "a", "\u{ff5e}", "\u{1f600}", "ab"]);
    let tools = order_tools(tools, &[], None).unwrap();
    assert_eq!(shown(&tools), "B a a_b ab b \u{1f600} \u{ff5e}");
}

#[test]
fn the_marker_stands_for_all_that_is_not_named() {
    let tools = || named(&["e", "d", "c", "b", "a"]);
    let ordered = |names: &[&str]| shown(&order_tools(tools(), &[], Some(&order(names))).unwrap());
    assert_eq!(ordered(&[UNLISTED]), "a b c d e");
    assert_eq!(ordered(&["d", UNLISTED, "a"]), "d b c e a");
    assert_eq!(ordered(&["d", "a", UNLISTED]), "d a b c e");
    assert_eq!(ordered(&[UNLISTED, "c", "b"]), "a d e c b");
}

#[test]
fn names_hidden_by_a_scope_may_be_absent() {
    let order = order(&["secret", UNLISTED, "a"]);
    let tools = order_tools(named(&["b", "a"]), &hidden(&["secret"]), Some(&order)).unwrap();
    assert_eq!(shown(&tools), "b a");
}

#[test]
fn tools_of_one_name_stay_together_by_id() {
    let tools = vec![tool("a").id("2"), tool("b"), tool("a").id("1")];
    let tools = order_tools(tools, &[], Some(&order(&[UNLISTED, "a"]))).unwrap();
    let ids: Vec<_> = tools.iter().map(|tool| (tool.name(), tool.own_id())).collect();
    assert_eq!(ids, [("b", ""), ("a", "1"), ("a", "2")]);
}

#[test]
fn every_error_says_what_to_do() {
    let list = |names: &[&str]| ToolOrder::new(names.iter().copied()).unwrap_err().to_string();
    let put = |tools: Vec<Tool>, hidden: &[Arc<str>], names: &[&str]| {
        order_tools(tools, hidden, Some(&order(names)))
            .unwrap_err()
            .to_string()
    };
    let from = |server: &str| {
        let source = Source::Plugin { name: server.into() };
        tool("read").from_source(source, Trust::External)
    };
    let errors = [
        list(&[]),
        list(&["a", "b"]),
        list(&[UNLISTED, "a", UNLISTED, UNLISTED]),
        list(&["a", UNLISTED, "a"]),
        put(
            named(&["read", "edit"]),
            &hidden(&["deploy"]),
            &["raed", UNLISTED],
        ),
        put(Vec::new(), &[], &[UNLISTED, "read"]),
        put(named(&[UNLISTED]), &[], &[UNLISTED]),
        order_tools(vec![from("files"), from("web")], &[], None)
            .unwrap_err()
            .to_string(),
    ];
    assert_snapshot!(errors.join("\n"), @"
    tool_order has no `<unlisted-tools>` entry; add it where tools that the list does not name should go
    tool_order has no `<unlisted-tools>` entry; add it where tools that the list does not name should go
    tool_order has `<unlisted-tools>` 3 times; it may stand once
    tool_order names `a` twice; remove one
    tool_order names `raed`, which no tool provider knows; correct or remove it; known are: deploy, edit, read
    tool_order names `read`, which no tool provider knows; correct or remove it; known are: none
    a tool is named `<unlisted-tools>`, which tool_order reserves; rename the tool
    two tools are named `read` without an id (from plugin:files and plugin:web); rename one, or give each an id of its own
    ");
}

proptest! {
    #[test]
    fn an_order_is_a_permutation_that_honours_the_list(
        names in proptest::collection::btree_set("[a-f]{1,2}", 0..12),
        listed in proptest::collection::btree_set("[a-f]{1,2}", 0..8),
        absent in proptest::collection::btree_set("[a-f]{1,2}", 0..8),
        marker in 0_usize..9,
        shuffle in any::<prop::sample::Index>(),
        listed_backwards in any::<bool>(),
    ) {
        let mut listed: Vec<String> = listed.into_iter().collect();
        if listed_backwards {
            listed.reverse();
        }
        listed.insert(marker.min(listed.len()), UNLISTED.to_owned());
        let order = ToolOrder::new(listed.iter().map(String::as_str)).unwrap();
        let mut tools: Vec<Tool> = names.iter().map(|name| tool(name)).collect();
        if !tools.is_empty() {
            let by = shuffle.index(tools.len());
            tools.rotate_left(by);
        }
        let known = |name: &str| name == UNLISTED || names.contains(name) || absent.contains(name);
        let hidden: Vec<Arc<str>> = absent.iter().map(|name| Arc::from(name.as_str())).collect();
        let unknown = listed.iter().find(|name| !known(name));
        match (order_tools(tools, &hidden, Some(&order)), unknown) {
            (Err(ToolOrderError::UnknownName { name, .. }), Some(unknown)) => prop_assert_eq!(&name, unknown),
            (Ok(out), None) => {
                let out: Vec<&str> = out.iter().map(Tool::name).collect();
                let mut sorted = out.clone();
                sorted.sort_unstable();
                prop_assert_eq!(sorted, names.iter().map(String::as_str).collect::<Vec<_>>());
                // The place of a tool is its own in the list, or else the marker's.
                let places: BTreeMap<&str, usize> =
                    listed.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
                let place = |name: &&str| (places.get(name).copied().unwrap_or(places[UNLISTED]), (*name).to_owned());
                prop_assert!(out.is_sorted_by_key(place), "{:?}", out);
            }
            (result, unknown) => prop_assert!(false, "{:?} {:?}", result.map(|_| ()), unknown),
        }
    }

    #[test]
    fn the_order_of_arrival_does_not_matter(names in proptest::collection::btree_set("\\PC{1,3}", 0..9)) {
        let forth: Vec<Tool> = names.iter().map(|name| tool(name)).collect();
        let back: Vec<Tool> = forth.iter().rev().cloned().collect();
        prop_assert_eq!(order_tools(forth, &[], None), order_tools(back, &[], None));
    }
}
