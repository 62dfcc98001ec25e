//! What a repository may only make stricter.

use super::key::{KEYS, KeyInfo, Shape};
use super::layer::{Chosen, Layered};
use super::value::Value;
use crate::notice::Notice;

/// The project's layer without the values that are milder than what holds without it, and a notice for
/// each of these. Such a value is no error: one repository is worked on by people of different caution.
pub(super) fn stricter(own: &Layered, mut project: Layered) -> (Layered, Vec<Notice>) {
    let mut notices = Vec::new();
    for info in KEYS {
        let Shape::Strictness(words) = info.shape else {
            continue;
        };
        let Some(holds) = own.winner(info.key) else {
            continue;
        };
        let least = degree(words, &holds.value);
        let milder = project.sift(info.key, |chosen| degree(words, &chosen.value) >= least);
        notices.extend(milder.iter().map(|chosen| ignored(info, chosen, holds)));
    }
    (project, notices)
}

fn degree(words: &[&str], value: &Value) -> Option<usize> {
    match value {
        Value::Text(text) => words.iter().position(|word| word == text),
        _ => None,
    }
}

fn ignored(info: &KeyInfo, chosen: &Chosen<Value>, holds: &Chosen<Value>) -> Notice {
    let message = format!(
        "a repository may only make `{}` stricter: {} is milder than {}, which holds ({})",
        info.name, chosen.value, holds.value, holds.origin
    );
    Notice::warning("setting-milder", chosen.origin.at.clone(), message).mend(format!(
        "set it in your own config.toml or with -c {}=… if that is what you want",
        info.name
    ))
}
