//! The ledger as text, word for word, after compaction.

use std::fmt::Write as _;

use super::{How, Ledger, LedgerItem, LedgerKind};
use crate::marker::{escape_reserved, wrap};
use crate::{Authority, Fragment, Group, Kind, Lane, Source, Trust};

/// The key of the fragments that restate a ledger, with a number behind it.
pub const RESTATED: &str = "compaction:ledger";

/// The words before it. Text that people edit lives in files.
const PREAMBLE: &str = include_str!("../../../../sections/compaction/ledger.md");

/// What follows the last item.
const END: &str = "(end of what was kept)";

impl Ledger {
    /// The fragments that restate it: one for each degree of trust, so that what the model or a tool said
    /// does not pass for what the user said.
    pub fn restate(&self) -> Vec<Fragment> {
        let items = self.items();
        let tier = |trust: Trust| {
            if trust.may_command() {
                Trust::User
            } else {
                Trust::External
            }
        };
        [Trust::User, Trust::External]
            .into_iter()
            .filter_map(|trust| {
                let of: Vec<&LedgerItem> = items
                    .iter()
                    .copied()
                    .filter(|item| tier(item.trust) == trust)
                    .collect();
                (!of.is_empty()).then(|| fragment(trust, &of))
            })
            .collect()
    }
}

impl LedgerItem {
    /// The text as it stands in a restatement: outside text that can neither open nor close a marker.
    pub fn restated(&self) -> String {
        escape_reserved(&self.text).into_owned()
    }
}

fn fragment(trust: Trust, items: &[&LedgerItem]) -> Fragment {
    let mut text = PREAMBLE.trim_end().to_owned();
    for item in items {
        let state = item
            .state
            .as_deref()
            .map(|state| format!(", {state}"))
            .unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n\n{}{state} (event {}, {}):\n{}",
            title(item.kind),
            item.event,
            how(item.how),
            item.restated()
        );
    }
    // A last line, so that white space at the end of the last item is not cut with that of the whole.
    text.push_str("\n\n");
    text.push_str(END);
    let source = Source::Plugin {
        name: "ledger".into(),
    };
    Fragment {
        key: format!("{RESTATED}:{}", trust.name()).into(),
        kind: Kind::Summary,
        lane: Lane::Messages,
        group: Group::Appended,
        authority: Authority::User,
        trust,
        text: wrap(Kind::Summary, &source, trust, &text).into(),
        source,
        grant: None,
    }
}

fn title(kind: LedgerKind) -> &'static str {
    match kind {
        LedgerKind::Goal => "Goal",
        LedgerKind::Criterion => "Acceptance criterion",
        LedgerKind::Constraint => "Constraint",
        LedgerKind::Decision => "Decision",
        LedgerKind::Fact => "Confirmed fact",
        LedgerKind::Plan => "Step of the plan",
        LedgerKind::Unfinished => "Unfinished",
        LedgerKind::Verifier => "Verifier",
        LedgerKind::Request => "The user's last request",
    }
}

fn how(how: How) -> &'static str {
    match how {
        How::Marked => "marked by the user",
        How::Detected => "in the user's words",
        How::Noted => "noted by the model",
        How::Recorded => "recorded",
    }
}
