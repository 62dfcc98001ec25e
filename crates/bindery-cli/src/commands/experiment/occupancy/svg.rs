//! The costs as bars.

use std::fmt::Write as _;

use super::{Outcome, Page};

const WIDTH: i128 = 720;
const LEFT: i128 = 200;
const BAR: i128 = 18;

/// An SVG document: a bar for each policy at each level, with what was lost beside it.
pub(super) fn draw(page: &Page) -> String {
    let most = page
        .outcomes
        .iter()
        .map(|one| one.cost_picodollars)
        .max()
        .unwrap_or(1)
        .max(1);
    let mut rows = String::new();
    let mut y: i128 = 50;
    let mut level = None;
    for one in &page.outcomes {
        if level != Some(one.level) {
            level = Some(one.level);
            y += 14;
        }
        row(&mut rows, one, y, most);
        y += BAR + 4;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>Cost of a task in a full window</title>\n\
         <text x=\"10\" y=\"20\" font-size=\"14\">Cost of {steps} steps after room was made, {model}, simulated</text>\n\
         <text x=\"10\" y=\"38\" fill=\"#555\">in words: cost; what of {wanted} constraints was lost; whether the task succeeds</text>\n\
         {rows}</svg>\n",
        height = y + 20,
        steps = page.steps,
        model = escaped(&page.model),
        wanted = page.outcomes.first().map_or(0, |one| one.verdict.wanted),
    )
}

fn row(out: &mut String, one: &Outcome, y: i128, most: i128) {
    let width = (one.cost_picodollars * (WIDTH - LEFT - 230) / most).max(1);
    let fill = if one.verdict.success { "#2b7a4b" } else { "#b05a2a" };
    let words = format!(
        "{}; {} lost; {}",
        one.cost,
        one.verdict.lost.len(),
        if one.verdict.success { "succeeds" } else { "fails" }
    );
    let baseline = y + BAR - 5;
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<text x=\"10\" y=\"{baseline}\">{}% · {}</text>\n\
         <rect x=\"{LEFT}\" y=\"{y}\" width=\"{width}\" height=\"{BAR}\" fill=\"{fill}\"/>\n\
         <text x=\"{}\" y=\"{baseline}\">{}</text>\n",
        one.level,
        escaped(one.policy),
        LEFT + width + 6,
        escaped(&words)
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
