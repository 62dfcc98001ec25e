//! The reference of events in `docs/log.md` is written from the types: it cannot fall behind.

use std::fmt::Write as _;
use std::path::Path;

use bindery_core::log::{Payload, Seq, examples};
use serde_json::Value;

const BEGIN: &str =
    "<!-- events: begin (written by `BINDERY_UPDATE=1 cargo test -p bindery-store reference`) -->\n";
const END: &str = "<!-- events: end -->";

fn reference() -> String {
    let mut out = String::from(BEGIN);
    for row in Payload::CATALOGUE {
        let meaning = row.meaning.trim();
        let example = examples()
            .into_iter()
            .zip(1..)
            .find(|(draft, _)| draft.payload.kind() == row.kind)
            .map(|(draft, place)| draft.at(Seq::new(place)).encode().unwrap())
            .unwrap();
        let value: Value = serde_json::from_str(&example.data).unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        write!(
            out,
            "\n### `{}` (version {})\n\n{meaning}\n\n```json\n{pretty}\n```\n",
            row.kind, row.version
        )
        .unwrap();
    }
    out.push('\n');
    out
}

#[test]
fn the_reference_shows_every_event() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/log.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("docs/log.md has the begin marker");
    let (shown, after) = rest.split_once(END).expect("docs/log.md has the end marker");
    let expected = reference();
    if format!("{BEGIN}{shown}") == expected {
        return;
    }
    if std::env::var_os("BINDERY_UPDATE").is_some() {
        std::fs::write(&path, format!("{before}{expected}{END}{after}")).unwrap();
        return;
    }
    panic!("docs/log.md is out of date: run with BINDERY_UPDATE=1");
}
