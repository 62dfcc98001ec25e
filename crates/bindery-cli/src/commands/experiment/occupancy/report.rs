//! The outcome for people, and whether the experiment passes.

use std::io::{self, Write as _};

use super::{Outcome, Page};
use crate::terminal::Terminal;

/// Why the experiment does not pass; empty if it does: Bindery loses nothing, lets nothing rise, and costs
/// less than every other policy.
pub(super) fn failures(outcomes: &[Outcome]) -> Vec<String> {
    let mut out = Vec::new();
    for ours in outcomes.iter().filter(|one| one.policy == "bindery") {
        let level = ours.level;
        if !ours.verdict.success {
            out.push(format!(
                "at {level} % the task fails: {:?} lost",
                ours.verdict.lost
            ));
        }
        if ours.verdict.recovered < ours.verdict.references {
            out.push(format!("at {level} % not every reference can be read"));
        }
        if ours.verdict.injected {
            out.push(format!("at {level} % the injection is in the system layer"));
        }
        for other in outcomes
            .iter()
            .filter(|one| one.level == level && one.policy != ours.policy)
        {
            if ours.cost_picodollars >= other.cost_picodollars {
                out.push(format!("at {level} % {} costs no more", other.policy));
            }
        }
    }
    out
}

pub(super) fn table(page: &Page, terminal: &mut Terminal) -> io::Result<()> {
    let out = &mut terminal.out;
    writeln!(
        out,
        "{} · {} · window {} · build log {} tokens · {} steps after room was made",
        if page.simulated {
            "simulated"
        } else {
            page.provider
        },
        page.model,
        page.window,
        page.log_tokens,
        page.steps
    )?;
    writeln!(
        out,
        "\n{:>5}  {:<16} {:>11} {:>11} {:>10} {:>12} {:>6} {:>11} {:>7} {:>9} {:>5}",
        "full",
        "policy",
        "input",
        "cache read",
        "written",
        "cost",
        "lost",
        "references",
        "needle",
        "injected",
        "task"
    )?;
    for one in &page.outcomes {
        let verdict = &one.verdict;
        let yes = |is: bool| if is { "yes" } else { "no" };
        writeln!(
            out,
            "{:>4}%  {:<16} {:>11} {:>11} {:>10} {:>12} {:>6} {:>11} {:>7} {:>9} {:>5}",
            one.level,
            one.policy,
            one.input,
            one.cache_read,
            one.cache_written,
            one.cost,
            format!("{}/{}", verdict.lost.len(), verdict.wanted),
            format!("{}/{}", verdict.recovered, verdict.references),
            yes(verdict.needle),
            yes(verdict.injected),
            if verdict.success { "ok" } else { "fails" }
        )?;
    }
    for failure in &page.failures {
        writeln!(out, "\nfails: {failure}")?;
    }
    if page.passes {
        writeln!(
            out,
            "\npasses: nothing lost, nothing raised, and less paid than by either of the others"
        )?;
    }
    Ok(())
}
