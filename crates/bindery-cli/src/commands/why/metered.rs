//! Where the tokens of requests are.

use std::collections::BTreeMap;
use std::io::Write;

use bindery::TokenCount;

use super::account::Explained;
use crate::layout::{cell, percent, right, thousands};
use crate::terminal::{Terminal, printable};

/// Fragments by their tokens, over all of the requests shown: what is sent again counts again.
pub(super) fn write(shown: &[&Explained], terminal: &mut Terminal) -> anyhow::Result<()> {
    let mut rows: Vec<(String, Option<String>, u64, u64)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for row in shown.iter().flat_map(|request| &request.meter) {
        let at = *known.entry(row.fragment.clone()).or_insert_with(|| {
            rows.push((row.fragment.clone(), row.server.clone(), 0, 0));
            rows.len() - 1
        });
        if let Some((_, _, tokens, times)) = rows.get_mut(at) {
            *tokens += row.tokens;
            *times += 1;
        }
    }
    let total: u64 = rows.iter().map(|(_, _, tokens, _)| tokens).sum();
    // Of equal ones, the one that stands first in the prefix.
    rows.sort_by_key(|(_, _, tokens, _)| std::cmp::Reverse(*tokens));
    let exact = shown.iter().all(|request| request.why.exact);
    let count = |tokens: u64| {
        thousands(if exact {
            TokenCount::exact(tokens)
        } else {
            TokenCount::estimate(tokens)
        })
    };
    let name = terminal.width.saturating_sub(12 + 9 + 10 + 16).max(20);
    writeln!(
        terminal.out,
        "\n{}{}{}{}  server",
        cell("fragment", name),
        right("tokens", 12),
        right("share", 9),
        right("requests", 10)
    )?;
    for (fragment, server, tokens, times) in &rows {
        let line = [
            cell(&printable(fragment), name),
            right(&count(*tokens), 12),
            right(&percent(*tokens, total), 9),
            right(&times.to_string(), 10),
            "  ".to_owned(),
            crate::layout::fit(&printable(server.as_deref().unwrap_or_default()), 14),
        ]
        .concat();
        writeln!(terminal.out, "{}", line.trim_end())?;
    }
    writeln!(
        terminal.out,
        "{}{}",
        cell("total", name),
        right(&count(total), 12)
    )?;
    Ok(())
}
