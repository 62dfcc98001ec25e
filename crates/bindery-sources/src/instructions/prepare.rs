//! From a file's bytes to the text that a client sends.

use std::path::Path;

use super::comments::strip_block_comments;
use super::diagnostic::{Code, Diagnostic, Severity};
use crate::dialect::{Bom, Comments, Decode, Files, FrontMatter, TextRules, Trim};
use crate::front_matter::split;
use crate::reading::{Contents, Decoded, Encoding, decode};

/// A file's text, ready to be judged.
#[derive(Debug, Clone, Default)]
pub(super) struct Prepared {
    /// The text as the client sends it, before caps and wrapper.
    pub(super) text: String,
    /// The front matter block, where there is one.
    pub(super) block: Option<Block>,
    /// The text in which imports are looked for: front matter off, comments still there.
    pub(super) body: String,
    /// Lines of the file before `body`.
    pub(super) lines_before: u32,
    /// Whether the client refuses the bytes.
    pub(super) not_text: bool,
    pub(super) notes: Vec<Diagnostic>,
}

/// A front matter block and where it stands.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    /// The text between the fences.
    pub(super) text: String,
    /// The line of the file on which that begins, from 1.
    pub(super) line: u32,
}

/// The text rules that hold for one file set.
pub(super) struct Rules<'a> {
    decode: Decode,
    bom: Bom,
    trim: Trim,
    comments: Comments,
    front_matter: &'a FrontMatter,
}

impl<'a> Rules<'a> {
    pub(super) fn of(general: &'a TextRules, files: &'a Files) -> Self {
        Self {
            decode: files.decode.unwrap_or(general.decode),
            bom: files.bom.unwrap_or(general.bom),
            trim: files.trim.unwrap_or(general.trim),
            comments: files.comments.unwrap_or(general.comments),
            front_matter: files.front_matter.as_ref().unwrap_or(&general.front_matter),
        }
    }

    /// The same rules with another trimming.
    pub(super) fn trimmed(self, trim: Trim) -> Self {
        Self { trim, ..self }
    }
}

/// Applies the rules to a file.
pub(super) fn prepare(path: &Path, contents: &Contents, rules: &Rules<'_>) -> Prepared {
    let decoded = decode(&contents.bytes, rules.decode);
    let mut prepared = Prepared {
        notes: encoding_notes(path, contents, &decoded),
        not_text: rules.decode == Decode::Utf8Strict && decoded.first_invalid.is_some(),
        ..Prepared::default()
    };
    let raw = decoded.text;
    let has_mark = raw.starts_with('\u{FEFF}');
    let unmarked = raw.trim_start_matches('\u{FEFF}');
    let text = if rules.bom == Bom::Strip { unmarked } else { &raw };
    let parts = split(text, rules.front_matter.fence);
    if has_mark && parts.block.is_none() && split(unmarked, rules.front_matter.fence).block.is_some() {
        let message = "a byte order mark hides the front matter from this client; save the file without it";
        prepared
            .notes
            .push(Diagnostic::new(Code::HiddenFrontMatter, Severity::Warning, path, message).at_line(1));
    } else if parts.block.is_none() && unmarked.starts_with("---\n") {
        let message = "`---` opens front matter that is never closed; it counts as text";
        prepared
            .notes
            .push(Diagnostic::new(Code::UnclosedFrontMatter, Severity::Warning, path, message).at_line(1));
    }
    prepared.block = parts.block.map(|text| Block {
        text: text.to_owned(),
        line: parts.block_line,
    });
    prepared.lines_before = parts.lines_before;
    parts.body.clone_into(&mut prepared.body);
    let alone = rules.front_matter.keep_if_alone && parts.body.trim().is_empty();
    let kept = if rules.front_matter.strip && !alone {
        parts.body
    } else {
        text
    };
    let kept = match rules.comments {
        Comments::StripBlocks => strip_block_comments(kept),
        Comments::Keep => None,
    }
    .unwrap_or_else(|| kept.to_owned());
    prepared.text = finish(kept, rules);
    prepared
}

fn finish(text: String, rules: &Rules<'_>) -> String {
    let text = match rules.trim {
        Trim::None => text,
        Trim::Both if rules.bom == Bom::Keep => text.trim().to_owned(),
        Trim::Both => text.trim_matches(is_trimmed).to_owned(),
    };
    match rules.bom {
        Bom::StripLast if text.starts_with('\u{FEFF}') => text.trim_start_matches('\u{FEFF}').to_owned(),
        _ => text,
    }
}

fn is_trimmed(letter: char) -> bool {
    letter.is_whitespace() || letter == '\u{FEFF}'
}

fn encoding_notes(path: &Path, contents: &Contents, decoded: &Decoded) -> Vec<Diagnostic> {
    let mut notes = Vec::new();
    let mut note = |code, severity, message: String, offset: Option<usize>| {
        let mut note = Diagnostic::new(code, severity, path, message);
        if let Some(offset) = offset {
            let lines = contents
                .bytes
                .iter()
                .take(offset)
                .filter(|byte| **byte == b'\n')
                .count();
            note = note
                .at_offset(offset)
                .at_line(u32::try_from(lines + 1).unwrap_or(u32::MAX));
        }
        notes.push(note);
    };
    match (decoded.encoding, decoded.looks_like) {
        (Encoding::Utf8, Some(meant @ ("UTF-16LE" | "UTF-16BE"))) => {
            note(
                Code::Encoding,
                Severity::Error,
                format!("{meant}, which this client reads as UTF-8: the model sees noise; save it as UTF-8"),
                None,
            );
        }
        (Encoding::Utf16Le | Encoding::Utf16Be, _) => {
            note(
                Code::Encoding,
                Severity::Warning,
                "UTF-16, converted; other clients read noise: save it as UTF-8".to_owned(),
                None,
            );
        }
        _ => {}
    }
    if let Some(offset) = decoded.first_invalid {
        let guess = decoded
            .looks_like
            .map_or(String::new(), |meant| format!(" (it looks like {meant})"));
        note(
            Code::InvalidUtf8,
            Severity::Warning,
            format!("not valid from byte {offset}{guess}; what is broken became U+FFFD"),
            Some(offset),
        );
    }
    if let Some(offset) = decoded.first_nul.filter(|_| decoded.looks_like.is_none()) {
        note(
            Code::Nul,
            Severity::Warning,
            format!("a NUL character at byte {offset}"),
            Some(offset),
        );
    }
    if contents.is_bounded() {
        let message = format!(
            "{} bytes, of which the first {} were read",
            contents.size,
            contents.bytes.len()
        );
        note(Code::ReadBound, Severity::Error, message, None);
    }
    notes
}
