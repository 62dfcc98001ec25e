//! What stands in the place of what gave way.

use super::cut::Cut;
use crate::ledger::Ledger;
use crate::marker::{escape_reserved, wrap};
use crate::{Authority, Fragment, Group, Kind, Lane, Message, Part, Role, Source, Trust};

/// The key of the fragment that holds a summary.
pub const SUMMARY: &str = "compaction:summary";

/// The words before a summary. Text that people edit lives in files.
const HEAD: &str = include_str!("../../../../sections/compaction/head.md");

/// A summary of what gave way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its text.
    pub text: String,
    /// Who wrote it: `extract`, a model and the version of its instructions, a hook.
    pub by: String,
}

/// The messages: carried context first, byte for byte, so that a cached prefix goes on as far as it can;
/// then one message with the ledger and the summary.
pub fn replacement(cut: &Cut, ledger: &Ledger, summary: &Summary) -> Vec<Message> {
    let mut messages = cut.carried.clone();
    let head = fragment("compaction:head", Trust::Builtin, "runtime", HEAD.trim_end());
    let text = escape_reserved(summary.text.trim());
    let told = fragment(SUMMARY, Trust::External, &summary.by, &text);
    let fragments = std::iter::once(head).chain(ledger.restate()).chain([told]);
    messages.push(Message {
        role: Role::User,
        parts: fragments.map(|fragment| Part::Text(vec![fragment])).collect(),
        is_meta: true,
    });
    messages
}

fn fragment(key: &str, trust: Trust, by: &str, text: &str) -> Fragment {
    let source = Source::Plugin {
        name: format!("compaction:{by}").into(),
    };
    Fragment {
        key: key.into(),
        kind: Kind::Summary,
        lane: Lane::Messages,
        group: Group::Appended,
        authority: Authority::User,
        trust,
        text: wrap(Kind::Summary, &source, trust, text).into(),
        source,
        grant: None,
    }
}
