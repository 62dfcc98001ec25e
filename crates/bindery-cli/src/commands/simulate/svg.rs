//! Each request as a bar: read, written, plain; one band a policy.

use std::fmt::Write as _;

use bindery::Usage;
use bindery_cache::Run;

use super::Simulated;

/// Width of the drawing and of the bars' field, height of a band and of its bars, in pixels.
const WIDTH: u64 = 920;
const FIELD: u64 = 760;
const BAND: u64 = 150;
const BARS: u64 = 100;
const LEFT: u64 = 130;
const TOP: u64 = 60;

/// The classes in the order in which they are stacked, from below.
const CLASSES: [(&str, &str); 3] = [("read", "read"), ("written", "written"), ("plain", "plain")];

pub(super) fn draw(simulated: &Simulated) -> String {
    let bands = simulated.runs.len() as u64;
    let height = TOP + bands * BAND + 20;
    let most = simulated
        .runs
        .iter()
        .flat_map(|run| run.requests.iter().flatten())
        .map(|request| request.usage.input())
        .max()
        .unwrap_or(0)
        .max(1);
    let mut out = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" font-family="system-ui, sans-serif" font-size="13">
<title>{}</title>
<style>
.read {{ fill: #2a9d5c }} .written {{ fill: #e08a1e }} .plain {{ fill: #8a8f98 }}
text {{ fill: #222 }} .axis {{ stroke: #999; stroke-width: 1 }} .ground {{ fill: #fff }}
@media (prefers-color-scheme: dark) {{ text {{ fill: #ddd }} .ground {{ fill: #16181c }} }}
</style>
<rect class="ground" width="{WIDTH}" height="{height}"/>
"#,
        escaped(&simulated.subject)
    );
    legend(&mut out, simulated);
    for (band, run) in (0..).zip(&simulated.runs) {
        self::band(&mut out, simulated, run, band, most);
    }
    out.push_str("</svg>\n");
    out
}

fn legend(out: &mut String, simulated: &Simulated) {
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        r#"<text x="10" y="22" font-weight="bold">{} · input tokens by request</text>"#,
        escaped(&simulated.models.join(", "))
    );
    for ((class, name), x) in CLASSES.into_iter().zip((0..).map(|at| 10 + at * 90)) {
        let _ = writeln!(
            out,
            r#"<rect class="{class}" x="{x}" y="34" width="12" height="12"/><text x="{}" y="45">{name}</text>"#,
            x + 18
        );
    }
}

fn band(out: &mut String, simulated: &Simulated, run: &Run, band: u64, most: u64) {
    let top = TOP + band * BAND + 20;
    let floor = top + BARS;
    let _ = writeln!(
        out,
        r#"<text x="10" y="{}">{}</text><text x="10" y="{}">{}</text>"#,
        top + 40,
        run.policy.name(),
        top + 60,
        run.cost.total()
    );
    let _ = writeln!(
        out,
        r#"<line class="axis" x1="{LEFT}" y1="{floor}" x2="{}" y2="{floor}"/><text x="{}" y="{}" font-size="10">{most}</text>"#,
        LEFT + FIELD,
        LEFT,
        top - 4
    );
    let count = run.requests.len().max(1) as u64;
    for (at, request) in (0..).zip(&run.requests) {
        let Some(request) = request else { continue };
        let number = usize::try_from(at)
            .ok()
            .and_then(|at| simulated.rows.get(at))
            .map_or(at + 1, |row| row.number);
        bar(
            out,
            &request.usage,
            &Place {
                at,
                count,
                floor,
                most,
                number,
            },
        );
    }
}

/// Where a bar stands.
struct Place {
    at: u64,
    count: u64,
    floor: u64,
    most: u64,
    number: u64,
}

fn bar(out: &mut String, usage: &Usage, place: &Place) {
    // In hundredths of a pixel, so that thousands of requests fit and nothing is rounded by a float.
    let hundredths = |part: u64, whole: u64, field: u64| {
        let scaled = u128::from(part) * u128::from(field) * 100 / u128::from(whole.max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    };
    let x = LEFT * 100 + hundredths(place.at, place.count, FIELD);
    let width = (hundredths(1, place.count, FIELD) * 8 / 10).clamp(20, 4_000);
    let tokens = [usage.read, usage.written(), usage.uncached];
    let _ = writeln!(
        out,
        r"<g><title>request {}: read {}, written {}, plain {}</title>",
        place.number,
        usage.read,
        usage.written(),
        usage.uncached
    );
    let mut below = 0;
    for ((class, _), tokens) in CLASSES.into_iter().zip(tokens) {
        if tokens == 0 {
            continue;
        }
        let (from, to) = (
            hundredths(below, place.most, BARS),
            hundredths(below + tokens, place.most, BARS),
        );
        below += tokens;
        let _ = writeln!(
            out,
            r#"<rect class="{class}" x="{}" y="{}" width="{}" height="{}"/>"#,
            pixels(x),
            pixels(place.floor * 100 - to),
            pixels(width),
            pixels(to - from)
        );
    }
    out.push_str("</g>\n");
}

fn pixels(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn escaped(text: &str) -> String {
    let plain = crate::terminal::printable(text);
    plain
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
