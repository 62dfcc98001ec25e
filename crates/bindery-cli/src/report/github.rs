//! Annotations of GitHub Actions (workflow commands).

use std::io::{self, Write};

/// How an annotation is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Error,
    Warning,
    Notice,
}

/// One annotation. Numbers are from 1; 0 leaves them out.
pub(crate) struct Annotation<'a> {
    pub(crate) weight: Weight,
    /// The path, safe to print.
    pub(crate) path: &'a str,
    pub(crate) line: usize,
    pub(crate) end_line: usize,
    pub(crate) column: usize,
    pub(crate) title: &'a str,
    pub(crate) message: &'a str,
}

pub(crate) fn write(annotation: &Annotation<'_>, out: &mut dyn Write) -> io::Result<()> {
    let command = match annotation.weight {
        Weight::Error => "error",
        Weight::Warning => "warning",
        Weight::Notice => "notice",
    };
    write!(out, "::{command} file={}", property(annotation.path))?;
    for (name, number) in [
        ("line", annotation.line),
        ("endLine", annotation.end_line),
        ("col", annotation.column),
    ] {
        if number > 0 {
            write!(out, ",{name}={number}")?;
        }
    }
    writeln!(
        out,
        ",title={}::{}",
        property(annotation.title),
        data(annotation.message)
    )
}

/// Escapes of a message.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_message_ends_the_command() {
        let mut out = Vec::new();
        let annotation = Annotation {
            weight: Weight::Warning,
            path: "a,b:c.md",
            line: 3,
            end_line: 0,
            column: 0,
            title: "x",
            message: "100 %\n::error::y",
        };
        write(&annotation, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "::warning file=a%2Cb%3Ac.md,line=3,title=x::100 %25%0A::error::y\n"
        );
    }
}
