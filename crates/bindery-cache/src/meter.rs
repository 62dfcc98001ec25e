//! Where the tokens of a request are: by fragment, file, tool, server, hook.

use std::collections::BTreeMap;

use bindery_core::Kind;
use serde::Serialize;

use crate::Measured;
use crate::segment::mcp_server;

/// The tokens of one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MeterRow {
    /// The fragment: `instructions:/repo/CLAUDE.md`, `tool:Bash`, `hook:SessionStart`, `user-prompt`, …
    pub fragment: String,
    /// What it is.
    pub kind: Kind,
    /// The MCP server, for tools of one.
    pub server: Option<String>,
    /// Its tokens, over all places where it stands.
    pub tokens: u64,
}

/// Rows in the order of the prefix. Their sum is the request's; where a block holds several fragments, its
/// tokens are shared by bytes.
pub fn meter(request: &Measured) -> Vec<MeterRow> {
    let mut rows: Vec<MeterRow> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (index, segment) in request.request().segments().iter().enumerate() {
        let bytes: u128 = segment.pieces.iter().map(|piece| piece.range.len() as u128).sum();
        let (mut passed, mut given) = (0_u128, 0);
        let tokens = request.tokens(index);
        for (at, piece) in segment.pieces.iter().enumerate() {
            passed += piece.range.len() as u128;
            let last = at + 1 == segment.pieces.len();
            let share = u128::from(tokens) * passed / bytes.max(1);
            let end = if last {
                tokens
            } else {
                u64::try_from(share).unwrap_or(tokens)
            };
            let fragment = piece.key();
            let row = *known.entry(fragment.clone()).or_insert_with(|| {
                rows.push(MeterRow {
                    server: piece.source.as_deref().and_then(mcp_server).map(str::to_owned),
                    fragment,
                    kind: piece.kind,
                    tokens: 0,
                });
                rows.len() - 1
            });
            if let Some(row) = rows.get_mut(row) {
                row.tokens += end - given;
            }
            given = end;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixtures::anthropic;

    #[test]
    fn every_source_has_its_row() {
        let request = anthropic(
            "t:mcp~~x~~t1=900 s:S=50 \
             u:<system-reminder>¶Contents_of_/r/CLAUDE.md_(project):¶¶text¶</system-reminder>=100 \
             +:SessionStart_hook_additional_context:_a=6000 +:hello=5 a:yes=5 u:more=5",
        );
        let shown: Vec<String> = meter(&request)
            .iter()
            .map(|row| {
                format!(
                    "{} {}{}",
                    row.tokens,
                    row.fragment,
                    row.server.as_ref().map_or(String::new(), |s| format!(" @{s}"))
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        900 tool:mcp__x__t1 @x
        50 system
        23 reminder
        77 instructions:/r/CLAUDE.md
        6000 hook:SessionStart
        10 user-prompt
        5 assistant-text
        ");
    }

    proptest! {
        #[test]
        fn the_sum_is_the_request_s(tokens in prop::collection::vec(0..5000u64, 4)) {
            let parts = format!("t:a={} s:A¶#_B¶c¶#_C¶d={} u:q¶<env>¶x¶</env>={} a:b={}", tokens[0], tokens[1], tokens[2], tokens[3]);
            let request = anthropic(&parts);
            prop_assert_eq!(meter(&request).iter().map(|row| row.tokens).sum::<u64>(), request.total());
        }
    }
}
