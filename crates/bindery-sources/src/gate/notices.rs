//! What people are told about findings, by file and line.

use bindery_guard::policy::{Approval, Extent, Verdict};
use bindery_guard::{Finding, Severity};

use super::Passage;
use crate::notice::{Level, Notice, Position, number};
use crate::visible::clipped;

/// Most findings of one text that are told one by one.
const MOST: usize = 8;

pub(super) fn no_scanner(passage: &Passage<'_>) -> Notice {
    Notice::warning(
        "scan-impossible",
        Position::whole(passage.shown),
        "it entered unscanned: the shipped patterns do not compile",
    )
    .mend("this is a mistake in Bindery; please report it")
}

/// The notices of one text, worst first where there are too many to tell.
pub(super) fn of(verdict: &Verdict, text: &str, findings: &[Finding], passage: &Passage<'_>) -> Vec<Notice> {
    if *verdict == Verdict::Unapproved {
        return vec![unapproved(findings, passage)];
    }
    let mut order: Vec<usize> = (0..findings.len()).collect();
    let rank = |index: &usize| findings.get(*index).map(|finding| finding.severity);
    if findings.len() > MOST {
        order.sort_by_key(|index| std::cmp::Reverse(rank(index)));
        order.truncate(MOST);
        order.sort_unstable();
    }
    let mut notices: Vec<Notice> = order
        .iter()
        .filter_map(|index| Some(one(verdict, *index, findings.get(*index)?, text, passage)))
        .collect();
    if let Some(more) = findings.len().checked_sub(MOST).filter(|more| *more > 0) {
        let message = format!("{more} more findings, none worse than these");
        notices.push(
            Notice::note("scan-more", Position::whole(passage.shown), message)
                .mend("`bindery scan` lists all findings of a file"),
        );
    }
    notices
}

fn one(verdict: &Verdict, index: usize, finding: &Finding, text: &str, passage: &Passage<'_>) -> Notice {
    let (code, fate) = match verdict {
        Verdict::Block { findings, extent } if findings.contains(&index) => match extent {
            Extent::Lines => ("scan-kept-out", "; its lines were kept out"),
            Extent::Whole => ("scan-kept-out", "; the whole text was kept out"),
        },
        Verdict::Label { findings } if findings.contains(&index) => {
            ("scan-labelled", "; the model is told so")
        }
        _ if passage.approval == Approval::Given => ("scan-approved", "; you approved this text"),
        _ => ("scan-finding", ""),
    };
    let message = format!(
        "{} ({}, {}){fate}",
        finding.reason, finding.kind, finding.severity
    );
    let level = match finding.severity {
        _ if passage.approval == Approval::Given => Level::Note,
        Severity::Note | Severity::Low => Level::Note,
        _ => Level::Warning,
    };
    let mend = match code {
        "scan-kept-out" => format!("read it; to let it in: {}", passage.approve),
        _ => String::new(),
    };
    Notice {
        level,
        excerpt: line(text, finding),
        ..Notice::warning(code, (passage.place)(number(finding.line)), message).mend(mend)
    }
}

fn unapproved(findings: &[Finding], passage: &Passage<'_>) -> Notice {
    let found = match findings.len() {
        0 => "nothing was found in it".to_owned(),
        1 => "it has 1 finding".to_owned(),
        more => format!("it has {more} findings"),
    };
    let message = format!("nobody approved it, so it was kept out; {found}");
    Notice::warning("scan-unapproved", Position::whole(passage.shown), message)
        .mend(format!("read it; to let it in: {}", passage.approve))
}

/// The line of a finding, what is hidden in it made visible.
fn line(text: &str, finding: &Finding) -> Option<String> {
    let line = text.lines().nth(finding.line.checked_sub(1)?)?;
    Some(clipped(line.trim_end(), 120)).filter(|line| !line.is_empty())
}
