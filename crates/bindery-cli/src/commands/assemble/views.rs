//! Views other than the table: exact bytes, blocks, spans.

use std::io::{self, Write};

use bindery::{Block, Encoding, NextRequest, SpanPart, SystemPrompt};
use serde::Serialize;

use super::arguments::View;
use crate::terminal::Terminal;

/// Exact bytes. A terminal gets a final newline, a file does not.
pub(super) fn raw(bytes: &[u8], terminal: &mut Terminal) -> io::Result<()> {
    terminal.out.write_all(bytes)?;
    if terminal.interactive {
        terminal.out.write_all(b"\n")?;
    }
    Ok(())
}

/// A view of the system prompt alone: a request that cannot be made has one, too. Says whether `view` is one.
pub(super) fn of_prompt(view: View, prompt: &SystemPrompt, terminal: &mut Terminal) -> io::Result<bool> {
    match view {
        View::Blocks => blocks(prompt, terminal)?,
        View::Text => raw(prompt.full_text().as_bytes(), terminal)?,
        View::Prefix => raw(prompt.cacheable_prefix().as_bytes(), terminal)?,
        View::Table | View::Request | View::Spans | View::Json => return Ok(false),
    }
    Ok(true)
}

/// The system prompt's blocks, each under a line that says what it is.
fn blocks(prompt: &SystemPrompt, terminal: &mut Terminal) -> io::Result<()> {
    for block in prompt.blocks() {
        let scope = match &block {
            Block::Boundary => "boundary, consumed by the adapter".to_owned(),
            Block::Text {
                scope,
                fragments,
                tail,
            } => {
                let scope = format!("{scope:?}").to_lowercase();
                format!("{scope} block, {} fragments", fragments.len() + tail.len())
            }
        };
        writeln!(terminal.out, "--- {scope}\n{}", block.shown())?;
    }
    Ok(())
}

#[derive(Serialize)]
struct SpansPage<'a> {
    schema: &'static str,
    body_bytes: usize,
    spans: &'a bindery::SpanMap,
}

/// Every span: byte range of the body, fragment, part and how the text is written there.
pub(super) fn spans(request: &NextRequest, json: bool, terminal: &mut Terminal) -> anyhow::Result<()> {
    let encoded = &request.encoded;
    if json {
        let page = SpansPage {
            schema: "bindery.spans/1",
            body_bytes: encoded.body.len(),
            spans: &encoded.spans,
        };
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
        return Ok(());
    }
    writeln!(
        terminal.out,
        "{:>8} {:>8}  {:<11} {:<11} fragment",
        "start", "end", "part", "written as"
    )?;
    for span in encoded.spans.spans() {
        let part = match span.part {
            SpanPart::Text => "text",
            SpanPart::Name => "name",
            SpanPart::Description => "description",
            SpanPart::Schema => "schema",
            SpanPart::Data => "data",
        };
        let encoding = match span.encoding {
            Encoding::JsonString => "json string",
            Encoding::Json => "json",
        };
        let key = crate::terminal::printable(&span.key);
        writeln!(
            terminal.out,
            "{:>8} {:>8}  {part:<11} {encoding:<11} {key}",
            span.range.start, span.range.end
        )?;
    }
    Ok(())
}
