//! The notes of a memory file: what can be found and recalled by itself.

/// A list item, or a paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// The first and the last line, from 1.
    pub(super) lines: (u32, u32),
    /// The heading above it; empty where there is none.
    pub(super) heading: String,
    /// Its text.
    pub(super) text: String,
}

/// Cuts a Markdown text into its notes. Front matter is skipped; what stands between fences stays together.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let mut out = Cutter::default();
    let skipped = front_matter(text);
    for (index, line) in text.lines().enumerate().skip(skipped) {
        out.line(crate::notice::number(index + 1), line);
    }
    out.end();
    out.pieces
}

/// How many lines the front matter takes.
fn front_matter(text: &str) -> usize {
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return 0;
    }
    lines
        .position(|line| line.trim_end() == "---")
        .map_or(0, |position| position + 2)
}

#[derive(Default)]
struct Cutter {
    pieces: Vec<Piece>,
    heading: String,
    open: Option<Piece>,
    is_fenced: bool,
}

impl Cutter {
    fn line(&mut self, number: u32, line: &str) {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        if self.is_fenced {
            self.is_fenced = !is_fence;
            self.add(number, line);
        } else if line.trim().is_empty() {
            self.end();
        } else if line.starts_with('#') {
            self.end();
            line.trim_start_matches('#').trim().clone_into(&mut self.heading);
        } else {
            if ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark)) {
                self.end();
            }
            self.is_fenced = is_fence;
            self.add(number, line);
        }
    }

    fn add(&mut self, number: u32, line: &str) {
        match &mut self.open {
            Some(open) => {
                open.lines.1 = number;
                open.text.push('\n');
                open.text.push_str(line);
            }
            None => {
                self.open = Some(Piece {
                    lines: (number, number),
                    heading: self.heading.clone(),
                    text: line.to_owned(),
                });
            }
        }
    }

    fn end(&mut self) {
        self.pieces.extend(self.open.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_paragraphs_and_fences_are_notes_and_headings_stand_above_them() {
        let text = "---\nname: x\n---\n# Deploys\n- one\n- two\n  more of two\n\nA paragraph\nof two lines.\n\n```\ncode\n\nmore\n```\n";
        let shown: Vec<String> = pieces(text)
            .iter()
            .map(|piece| format!("{:?} {} {:?}", piece.lines, piece.heading, piece.text))
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        (5, 5) Deploys "- one"
        (6, 7) Deploys "- two\n  more of two"
        (9, 10) Deploys "A paragraph\nof two lines."
        (12, 16) Deploys "```\ncode\n\nmore\n```"
        "#);
        assert_eq!(pieces(""), []);
        assert_eq!(pieces("---\nnever closed").len(), 1);
    }
}
