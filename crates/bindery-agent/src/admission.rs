//! What tools return, on its way into the log: through the gate, as every text from outside.

use std::sync::Arc;

use bindery_core::log::{ScannedLine, ScannedResult};
use bindery_guard::policy::Approval;
use bindery_sources::Position;
use bindery_sources::gate::{Gate, Outcome, Passage, Scan};

use crate::agent::Agent;

/// The most characters of a call that name its result.
const MOST_NAME: usize = 100;

/// What lets a result in that was kept out: there is no approval for what a tool said once.
const APPROVE: &str = "run with `-c guard.external=allow`";

impl Agent {
    /// A result as it may enter, and what a scan of it came to, where that is worth keeping. `what` says
    /// in one line what the call did.
    pub(crate) fn admit(&mut self, place: u64, what: &str, text: String) -> (String, Option<ScannedResult>) {
        let Some(gate) = self.gate.clone() else {
            let verdict = spelled(&Outcome::NotScanned);
            let findings = Vec::new();
            return (text, Some(ScannedResult { verdict, findings }));
        };
        let fragment = format!("message:{place}.0");
        let admitted = outside(&gate, &fragment, &named(what), &text);
        let scan = gate.scan_of(&fragment).filter(is_worth_keeping);
        self.tell();
        (admitted, scan.as_ref().map(kept))
    }

    /// Passes on what there is to tell.
    pub(crate) fn tell(&mut self) {
        let notices = (self.notices)();
        if !notices.is_empty() {
            self.watch.told(&notices);
        }
    }
}

/// Text of trust `external` as the gate lets it in. `shown` names it for people.
pub(crate) fn outside(gate: &Gate, fragment: &str, shown: &str, text: &str) -> String {
    passed(gate, fragment, shown, bindery_core::Trust::External, text)
}

/// Text of any trust as the gate lets it in.
pub(crate) fn passed(
    gate: &Gate,
    fragment: &str,
    shown: &str,
    trust: bindery_core::Trust,
    text: &str,
) -> String {
    let passage = Passage {
        fragment,
        shown,
        trust,
        approval: Approval::Missing,
        approve: APPROVE,
        place: &|line| Position::line(shown, line),
    };
    gate.pass(text, &passage).into_owned()
}

fn is_worth_keeping(scan: &Scan) -> bool {
    scan.verdict != Outcome::Clean
}

fn kept(scan: &Scan) -> ScannedResult {
    let lines = scan.findings.iter().map(|finding| ScannedLine {
        line: finding.at.line,
        rule: finding.rule.clone(),
        kind: spelled(&finding.kind),
        severity: spelled(&finding.severity),
        reason: finding.reason.clone(),
    });
    ScannedResult {
        verdict: spelled(&scan.verdict),
        findings: lines.collect(),
    }
}

/// A name as it stands in JSON.
fn spelled(value: &impl serde::Serialize) -> Arc<str> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name.into(),
        _ => "?".into(),
    }
}

/// The call on one line, cut.
fn named(what: &str) -> String {
    let line: String = what
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if line.chars().count() <= MOST_NAME {
        return line;
    }
    let mut cut: String = line.chars().take(MOST_NAME).collect();
    cut.push('…');
    cut
}
