//! The page for people: every layer in order, the boundary drawn, and what each fragment is.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use bindery::{Layer, NextRequest, Reuse, Row, TokenCount};

use super::scanned::Scanned;
use crate::layout::{cell, fit, fit_end, right, thousands};
use crate::terminal::{Palette, Terminal, printable};

/// Widths of all columns but the two that share what is left.
const AUTHORITY: usize = 9;
const TRUST: usize = 8;
const CACHE: usize = 7;
const TOKENS: usize = 9;
/// Spaces between columns, and before the first.
const GAPS: usize = 7;

/// Writes the table.
pub(crate) fn write(
    request: &NextRequest,
    rows: &[Scanned],
    window: Option<u64>,
    terminal: &mut Terminal,
) -> io::Result<()> {
    let page = Page::new(terminal.width, terminal.palette);
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

struct Page {
    width: usize,
    key: usize,
    source: usize,
    palette: Palette,
}

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const CYAN: Style = AnsiColor::Cyan.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

impl Page {
    fn new(width: usize, palette: Palette) -> Self {
        let left = width
            .saturating_sub(AUTHORITY + TRUST + CACHE + TOKENS + GAPS)
            .max(20);
        let key = left / 2;
        Self {
            width,
            key,
            source: left - key,
            palette,
        }
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
        let line = self.columns("fragment", "source", "authority", "trust", "cache", "tokens");
        writeln!(out, "{}", self.palette.paint(DIM, &line))
    }

    fn columns(
        &self,
        key: &str,
        source: &str,
        authority: &str,
        trust: &str,
        cache: &str,
        tokens: &str,
    ) -> String {
        format!(
            "  {} {} {} {} {} {}",
            cell(key, self.key),
            cell(source, self.source),
            cell(authority, AUTHORITY),
            cell(trust, TRUST),
            cell(cache, CACHE),
            right(tokens, TOKENS)
        )
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
        let left = self.width.saturating_sub(TOKENS + 1);
        let line = format!("{} {}", cell(name, left), right(&thousands(total), TOKENS));
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
        let line = self.columns(
            &key,
            &source,
            row.authority.name(),
            row.trust.name(),
            cache,
            &thousands(row.tokens),
        );
        let untrusted = !row.trust.may_command();
        let line = if untrusted {
            self.palette.paint(YELLOW, &line)
        } else {
            line
        };
        writeln!(out, "{line}")?;
        match &row.grant {
            Some(grant) => writeln!(out, "    granted by {}", printable(&grant.to_string())),
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
        let share = |tokens: u64, of: u64| {
            if of == 0 {
                0.0
            } else {
                100.0 * tokens as f64 / of as f64
            }
        };
        writeln!(out)?;
        let of_window = window.map_or(String::new(), |window| {
            format!(
                " · {:.1} % of a window of {}",
                share(all.value, window),
                thousands(TokenCount::exact(window))
            )
        });
        writeln!(
            out,
            "total     {} tokens in {} fragments{of_window}",
            thousands(all),
            rows.len()
        )?;
        let shared = sum(&[Reuse::Shared]);
        let next = sum(&[Reuse::Shared, Reuse::Session]);
        for (label, count, who) in [
            ("cache", shared, "shared by every session"),
            ("", next, "readable by the next request"),
        ] {
            let share = share(count.value, all.value);
            writeln!(out, "{label:<9} {} tokens ({share:.0} %) {who}", thousands(count))?;
        }
        writeln!(
            out,
            "body      {} bytes",
            thousands(TokenCount::exact(request.encoded.body.len() as u64))
        )?;
        let scanned = rows.iter().filter(|one| one.was_scanned()).count();
        let found = rows.iter().filter(|one| !one.scan.findings.is_empty()).count();
        writeln!(out, "scanned   {scanned} of {} fragments, {found} with findings", rows.len())
    }

    fn remark(&self, out: &mut impl Write, one: &Scanned) -> io::Result<()> {
        match one.remark() {
            Some(remark) => writeln!(out, "    {}", self.palette.paint(YELLOW, &remark)),
            None => Ok(()),
        }
    }
}
