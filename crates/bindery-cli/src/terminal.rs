//! Where a command writes: data to stdout, talk to stderr, with colour only where somebody sees it.

use std::cell::RefCell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::rc::Rc;

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;

use crate::outside;

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The two streams of a command. Bytes go through untouched: whoever wants colour asks [`Palette`] for
/// it, so that data is never mistaken for styling.
pub(crate) struct Terminal {
    /// Data.
    pub(crate) out: Box<dyn Write>,
    /// Talk.
    pub(crate) err: Box<dyn Write>,
    /// The width to fill, in columns.
    pub(crate) width: usize,
    /// Whether stdout is a terminal: raw bytes get a final newline only there.
    pub(crate) interactive: bool,
    /// Styles for stdout.
    pub(crate) palette: Palette,
    /// Styles for stderr.
    pub(crate) err_palette: Palette,
}

/// Styles, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Palette {
    colored: bool,
}

/// What is printed is made to fit this where nobody says how wide the terminal is.
const DEFAULT_WIDTH: usize = 80;
/// Lines are not drawn wider than this: eyes lose the row.
const MAX_WIDTH: usize = 120;

impl Terminal {
    /// The process's own streams.
    pub(crate) fn open(color: Color) -> Self {
        let stdout = io::stdout();
        let interactive = stdout.is_terminal();
        let palette = |auto: ColorChoice| Palette {
            colored: match color {
                Color::Auto => auto != ColorChoice::Never,
                Color::Always => true,
                Color::Never => false,
            },
        };
        let real = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = outside::columns().or_else(real).unwrap_or(DEFAULT_WIDTH);
        Self {
            palette: palette(AutoStream::choice(&stdout)),
            err_palette: palette(AutoStream::choice(&io::stderr())),
            out: Box::new(BufWriter::new(stdout)),
            err: Box::new(io::stderr()),
            width: width.clamp(40, MAX_WIDTH),
            interactive,
        }
    }
}

/// What is written instead of going to stdout.
#[derive(Clone, Default)]
struct Kept(Rc<RefCell<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Terminal {
    /// Runs `write` and keeps what it writes to stdout.
    pub(crate) fn keeping<T>(
        &mut self,
        write: impl FnOnce(&mut Self) -> anyhow::Result<T>,
    ) -> anyhow::Result<(T, Vec<u8>)> {
        let kept = Kept::default();
        let out = std::mem::replace(&mut self.out, Box::new(kept.clone()));
        let outcome = write(self);
        self.out = out;
        Ok((outcome?, kept.0.take()))
    }
}

impl Palette {
    /// No styles.
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { colored: false }
    }

    /// `text` in `style`, or as it is.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        if self.colored {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

/// Text as one line that no terminal obeys: control characters, and what would make text run backwards
/// or disappear, are shown as escapes.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let hides = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
        if c.is_control() || hides {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
