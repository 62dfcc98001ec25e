//! The page for people: every layer in order, the boundary drawn, and what each fragment is.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use bindery::{Layer, NextRequest, Reuse, Row, TokenCount};

use unicode_width::UnicodeWidthStr;

use super::scanned::Scanned;
use crate::layout::{cell, fit, fit_end, folded, percent, right, thousands};
use crate::terminal::{Palette, Terminal, printable};

/// Widths of all columns but those that share what is left.
const AUTHORITY: usize = 9;
const TRUST: usize = 8;
const CACHE: usize = 7;
/// Counts may need more: a cut number would lie.
const LEAST_TOKENS: usize = 9;
/// Narrower pages do without the source; much narrower ones also without what the layer mostly tells.
const WITH_SOURCE: usize = 66;
const WITH_AUTHORITY: usize = 50;

/// Writes the table.
pub(crate) fn write(
    request: &NextRequest,
    rows: &[Scanned],
    window: Option<u64>,
    terminal: &mut Terminal,
) -> io::Result<()> {
    let page = Page::new(terminal.width, rows, terminal.palette);
    let out = &mut terminal.out;
    page.title(out, request)?;
    page.header(out)?;
    for layer in [
        Layer::Tools,
        Layer::Static,
        Layer::Dynamic,
        Layer::Tail,
        Layer::Messages,
    ] {
        let of_layer: Vec<&Scanned> = rows.iter().filter(|one| one.row.layer == layer).collect();
        if layer == Layer::Dynamic && has_boundary(rows) {
            page.boundary(out)?;
        }
        if of_layer.is_empty() {
            continue;
        }
        page.layer(out, layer, &of_layer)?;
        for one in of_layer {
            page.row(out, &one.row)?;
            page.remark(out, one)?;
        }
    }
    page.totals(out, request, rows, window)
}

fn has_boundary(rows: &[Scanned]) -> bool {
    let has = |layers: &[Layer]| rows.iter().any(|one| layers.contains(&one.row.layer));
    has(&[Layer::Static]) && has(&[Layer::Dynamic, Layer::Tail])
}

/// Widths of the columns; one of no width is not shown.
struct Page {
    width: usize,
    key: usize,
    source: usize,
    authority: usize,
    trust: usize,
    cache: usize,
    tokens: usize,
    palette: Palette,
}

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const CYAN: Style = AnsiColor::Cyan.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

impl Page {
    fn new(width: usize, rows: &[Scanned], palette: Palette) -> Self {
        let total: TokenCount = rows.iter().map(|one| one.row.tokens).sum();
        let mut page = Self {
            width,
            key: 0,
            source: 0,
            authority: if width < WITH_AUTHORITY { 0 } else { AUTHORITY },
            trust: TRUST,
            cache: if width < WITH_AUTHORITY { 0 } else { CACHE },
            tokens: thousands(total).width().max(LEAST_TOKENS),
            palette,
        };
        let taken = page.columns(["", "", "", "", "", ""]).width();
        // One more for the gap after it.
        let left = width.saturating_sub(taken + 1).max(1);
        page.source = if width < WITH_SOURCE { 0 } else { left / 2 };
        page.key = left - page.source - usize::from(page.source > 0);
        page
    }

    fn title(&self, out: &mut impl Write, request: &NextRequest) -> io::Result<()> {
        let title = format!(
            "{} · {} · mode {}",
            request.provider,
            printable(&request.params.model),
            request.rendered.assembly.mode
        );
        writeln!(out, "{}\n", self.palette.paint(BOLD, &fit(&title, self.width)))
    }

    fn header(&self, out: &mut impl Write) -> io::Result<()> {
        let line = self.columns(["fragment", "source", "authority", "trust", "cache", "tokens"]);
        writeln!(out, "{}", self.palette.paint(DIM, &line))
    }

    fn columns(&self, [key, source, authority, trust, cache, tokens]: [&str; 6]) -> String {
        let mut line = String::from(" ");
        for (text, width) in [
            (key, self.key),
            (source, self.source),
            (authority, self.authority),
            (trust, self.trust),
            (cache, self.cache),
        ] {
            if width > 0 {
                line.push(' ');
                line.push_str(&cell(text, width));
            }
        }
        format!("{line} {}", right(tokens, self.tokens))
    }

    fn layer(&self, out: &mut impl Write, layer: Layer, rows: &[&Scanned]) -> io::Result<()> {
        let name = match layer {
            Layer::Tools => "tools",
            Layer::Static => "system · static",
            Layer::Dynamic => "system · dynamic",
            Layer::Tail => "system · tail",
            Layer::Messages => "messages",
        };
        let total: TokenCount = rows.iter().map(|one| one.row.tokens).sum();
        let left = self.width.saturating_sub(self.tokens + 1);
        let line = format!("{} {}", cell(name, left), right(&thousands(total), self.tokens));
        writeln!(out, "{}", self.palette.paint(BOLD, &line))
    }

    fn row(&self, out: &mut impl Write, row: &Row) -> io::Result<()> {
        let cache = match row.reuse {
            Reuse::Shared => "shared",
            Reuse::Session => "session",
            Reuse::None => "-",
        };
        let key = printable(&row.key);
        let source = fit_end(&printable(&row.source.to_string()), self.source);
        let tokens = thousands(row.tokens);
        let line = self.columns([
            &key,
            &source,
            row.authority.name(),
            row.trust.name(),
            cache,
            &tokens,
        ]);
        let untrusted = !row.trust.may_command();
        let line = if untrusted {
            self.palette.paint(YELLOW, &line)
        } else {
            line
        };
        writeln!(out, "{line}")?;
        match &row.grant {
            Some(grant) => {
                let line = format!("    granted by {}", printable(&grant.to_string()));
                writeln!(out, "{}", fit(&line, self.width))
            }
            None => Ok(()),
        }
    }

    fn boundary(&self, out: &mut impl Write) -> io::Result<()> {
        let label = " cache boundary ";
        let side = self.width.saturating_sub(label.chars().count());
        let line = format!("{}{label}{}", "═".repeat(side / 2), "═".repeat(side - side / 2));
        writeln!(out, "{}", self.palette.paint(CYAN, &line))
    }

    fn totals(
        &self,
        out: &mut impl Write,
        request: &NextRequest,
        rows: &[Scanned],
        window: Option<u64>,
    ) -> io::Result<()> {
        let sum = |reuse: &[Reuse]| -> TokenCount {
            rows.iter()
                .filter(|one| reuse.contains(&one.row.reuse))
                .map(|one| one.row.tokens)
                .sum()
        };
        let all = sum(&[Reuse::Shared, Reuse::Session, Reuse::None]);
        writeln!(out)?;
        let of_window = window.map_or(String::new(), |window| {
            format!(
                " · {} of a window of {}",
                percent(all.value, window),
                thousands(TokenCount::exact(window))
            )
        });
        let mut line = |text: String| writeln!(out, "{}", folded(&text, self.width));
        line(format!(
            "total     {} tokens in {} fragments{of_window}",
            thousands(all),
            rows.len()
        ))?;
        let shared = sum(&[Reuse::Shared]);
        let next = sum(&[Reuse::Shared, Reuse::Session]);
        for (label, count, who) in [
            ("cache", shared, "shared by every session"),
            ("", next, "readable by the next request"),
        ] {
            let share = percent(count.value, all.value);
            line(format!("{label:<9} {} tokens ({share}) {who}", thousands(count)))?;
        }
        let bytes = TokenCount::exact(request.encoded.body.len() as u64);
        line(format!("body      {} bytes", thousands(bytes)))?;
        let scanned = rows.iter().filter(|one| one.was_scanned()).count();
        let found = rows.iter().filter(|one| !one.scan.findings.is_empty()).count();
        line(format!(
            "scanned   {scanned} of {} fragments, {found} with findings",
            rows.len()
        ))
    }

    fn remark(&self, out: &mut impl Write, one: &Scanned) -> io::Result<()> {
        match one.remark() {
            Some(remark) => {
                let line = fit(&format!("    {remark}"), self.width);
                writeln!(out, "{}", self.palette.paint(YELLOW, &line))
            }
            None => Ok(()),
        }
    }
}
