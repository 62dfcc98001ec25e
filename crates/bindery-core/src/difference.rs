//! What differs between two requests, fragment by fragment.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::Fragment;

/// What happened to one fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Only the newer request has it.
    Added,
    /// Only the older request had it.
    Removed,
    /// Both have it, with different text, authority or trust.
    Changed,
    /// Both have it with the same text, at another place among the fragments that both have.
    Moved,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The fragment's key.
    pub key: Arc<str>,
    /// What happened to it.
    pub change: Change,
}

/// Compares fragments by key, in the order of the newer request; removed ones follow in the order of
/// the older. The fewest possible fragments are called moved.
pub fn differences<'a>(
    old: impl IntoIterator<Item = &'a Fragment>,
    new: impl IntoIterator<Item = &'a Fragment>,
) -> Vec<Difference> {
    let old: Vec<&Fragment> = old.into_iter().collect();
    let new: Vec<&Fragment> = new.into_iter().collect();
    let place: BTreeMap<&str, usize> = old
        .iter()
        .enumerate()
        .map(|(at, fragment)| (&*fragment.key, at))
        .collect();
    let common: Vec<usize> = new
        .iter()
        .filter_map(|fragment| place.get(&*fragment.key).copied())
        .collect();
    let unmoved = longest_increasing(&common);
    let mut out = Vec::new();
    for fragment in &new {
        let change = match place.get(&*fragment.key) {
            None => Change::Added,
            Some(at)
                if old
                    .get(*at)
                    .is_some_and(|before| !says_the_same(before, fragment)) =>
            {
                Change::Changed
            }
            Some(at) if !unmoved.contains(at) => Change::Moved,
            Some(_) => continue,
        };
        out.push(Difference {
            key: fragment.key.clone(),
            change,
        });
    }
    let kept: std::collections::BTreeSet<&str> = new.iter().map(|fragment| &*fragment.key).collect();
    out.extend(
        old.iter()
            .filter(|fragment| !kept.contains(&*fragment.key))
            .map(|fragment| Difference {
                key: fragment.key.clone(),
                change: Change::Removed,
            }),
    );
    out
}

/// Whether two fragments of one key say the same, with the same right to say it.
fn says_the_same(before: &Fragment, after: &Fragment) -> bool {
    before.text == after.text && before.authority == after.authority && before.trust == after.trust
}

/// The values of one longest increasing subsequence of distinct numbers (patience sorting).
fn longest_increasing(values: &[usize]) -> std::collections::BTreeSet<usize> {
    let mut tops: Vec<usize> = Vec::new();
    let mut before: BTreeMap<usize, usize> = BTreeMap::new();
    for &value in values {
        let pile = tops.partition_point(|top| *top < value);
        if let Some(previous) = pile.checked_sub(1).and_then(|pile| tops.get(pile)) {
            before.insert(value, *previous);
        }
        match tops.get_mut(pile) {
            Some(top) => *top = value,
            None => tops.push(value),
        }
    }
    std::iter::successors(tops.last().copied(), |value| before.get(value).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::said;
    use crate::{Authority, Kind, Trust};

    fn fragments(texts: &[(&str, &str)]) -> Vec<Fragment> {
        texts
            .iter()
            .map(|(key, text)| said(*key, Kind::UserPrompt, Authority::User, Trust::User, *text))
            .collect()
    }

    #[test]
    fn names_what_was_added_removed_changed_and_moved() {
        let old = fragments(&[("a", "1"), ("b", "1"), ("c", "1"), ("d", "1"), ("gone", "1")]);
        let new = fragments(&[("b", "1"), ("c", "2"), ("d", "1"), ("a", "1"), ("new", "1")]);
        let shown: Vec<String> = differences(&old, &new)
            .iter()
            .map(|d| format!("{:?} {}", d.change, d.key))
            .collect();
        assert_eq!(shown, ["Changed c", "Moved a", "Added new", "Removed gone"]);
    }

    #[test]
    fn another_trust_is_a_change() {
        let old = fragments(&[("a", "1")]);
        let new = vec![Fragment {
            trust: Trust::Project,
            ..old[0].clone()
        }];
        assert_eq!(differences(&old, &new)[0].change, Change::Changed);
    }

    #[test]
    fn equal_requests_do_not_differ() {
        let old = fragments(&[("a", "1"), ("b", "1")]);
        assert_eq!(differences(&old, &old), []);
    }
}
