//! Telling people what was refused, skipped, demoted, shadowed or could not be said.

use std::io::{self, Write};

use anstyle::AnsiColor;
use bindery::Note;
use bindery::assembly::Shadowed;
use bindery::sources::{Level, Notice};

use crate::layout::folded;
use crate::terminal::{Palette, Terminal, printable};

/// Notices of reading, on stderr: level, stable code, place, what happened, and what to do.
pub(crate) fn tell(notices: &[Notice], terminal: &mut Terminal) -> io::Result<()> {
    write(notices, terminal.err_palette, &mut terminal.err)
}

/// The same, for whoever has no terminal at hand.
pub(crate) fn write(notices: &[Notice], palette: Palette, err: &mut dyn Write) -> io::Result<()> {
    for notice in notices {
        let (level, color) = match notice.level {
            Level::Note => ("note", AnsiColor::Cyan),
            Level::Warning => ("warning", AnsiColor::Yellow),
            Level::Error => ("error", AnsiColor::Red),
        };
        let label = format!("{level}[{}]", notice.code);
        let label = palette.paint(color.on_default().bold(), &label);
        writeln!(err, "{label}: {notice}")?;
    }
    Ok(())
}

/// What took no part in an assembly, below a table.
pub(crate) fn shadowed(shadowed: &[Shadowed], terminal: &mut Terminal) -> io::Result<()> {
    for one in shadowed {
        let line = format!("left out  {} {}: {}", one.what, printable(&one.name), one.reason);
        writeln!(terminal.out, "{}", folded(&line, terminal.width))?;
    }
    Ok(())
}

/// What a provider's format could not say, below a table.
pub(crate) fn notes(notes: &[Note], terminal: &mut Terminal) -> io::Result<()> {
    for note in notes {
        let of = match note.fragments.join(", ") {
            keys if keys.is_empty() => String::new(),
            keys => format!(" ({keys})"),
        };
        let line = format!("note      {}{of}", note.message);
        writeln!(terminal.out, "{}", folded(&line, terminal.width))?;
    }
    Ok(())
}
