//! `bindery hook table`.

use std::io::Write;

use bindery::hooks::{READ_AT, Reading, markdown, readings, table};
use serde::Serialize;

use crate::layout::cell;
use crate::status::Status;
use crate::terminal::Terminal;

#[derive(Serialize)]
struct Page {
    schema: &'static str,
    /// Rule, hook, and what they come to.
    permissions: Vec<Pair>,
    /// The events of `answers`, in order.
    events: Vec<&'static str>,
    answers: Vec<Reading>,
}

#[derive(Serialize)]
struct Pair {
    rule: bindery::hooks::Rule,
    hook: bindery::hooks::Rule,
    call: bindery::hooks::Permission,
}

pub(super) fn run(json: bool, as_markdown: bool, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let out = &mut terminal.out;
    if as_markdown {
        write!(out, "{}", markdown())?;
    } else if json {
        let pair = |(rule, hook, call)| Pair { rule, hook, call };
        let page = Page {
            schema: "bindery.hook-table/1",
            permissions: table().into_iter().map(pair).collect(),
            events: READ_AT.map(bindery::hooks::Event::name).into(),
            answers: readings(),
        };
        writeln!(out, "{}", serde_json::to_string_pretty(&page)?)?;
    } else {
        for line in markdown().lines().filter(|line| !line.starts_with("|---")) {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            match cells.split_first() {
                // The second table says at length how a hook answers; its columns are the events.
                Some((first, rest)) if rest.len() > 2 => {
                    let rest: Vec<String> = rest.iter().map(|text| cell(text, 22)).collect();
                    writeln!(out, "{} {}", cell(first, 44), rest.join(" ").trim_end())?;
                }
                _ => {
                    let cells: Vec<String> = cells.iter().map(|text| cell(text, 18)).collect();
                    writeln!(out, "{}", cells.join("").trim_end())?;
                }
            }
        }
    }
    Ok(Status::Success)
}
