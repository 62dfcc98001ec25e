//! Byte offsets to lines and columns.

/// Starts of lines of one text. Lines end at `\n`; columns count characters from 1.
#[derive(Debug, Clone)]
pub struct LineIndex {
    starts: Vec<usize>,
    /// Characters before each stretch of [`STRETCH`] bytes, so that long lines are not counted again.
    characters: Vec<usize>,
}

/// Bytes between two counts of characters.
const STRETCH: usize = 1024;

/// A character is counted at its first byte; a broken byte counts as one.
fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

impl LineIndex {
    /// Reads the line starts of `text`.
    pub fn new(text: &[u8]) -> Self {
        let mut starts = vec![0];
        starts.extend(
            text.iter()
                .enumerate()
                .filter(|(_, byte)| **byte == b'\n')
                .map(|(at, _)| at + 1),
        );
        let mut before = 0;
        let counts = text.chunks(STRETCH).map(|stretch| {
            let count = before;
            before += characters(stretch);
            count
        });
        Self {
            starts,
            characters: counts.collect(),
        }
    }

    /// Line and column of a byte, both from 1. An offset past the end is the end.
    pub fn locate(&self, text: &[u8], offset: usize) -> (usize, usize) {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = self.characters_before(text, offset) - self.characters_before(text, start);
        (line, column + 1)
    }

    fn characters_before(&self, text: &[u8], offset: usize) -> usize {
        let stretch = offset / STRETCH;
        let counted = self.characters.get(stretch).copied();
        // The end of the text may be the end of the last stretch.
        let stretch = if counted.is_some() {
            stretch
        } else {
            stretch.saturating_sub(1)
        };
        let before = counted
            .or_else(|| self.characters.get(stretch).copied())
            .unwrap_or(0);
        before + characters(text.get(stretch * STRETCH..offset).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "ab\ncäd\n".as_bytes();
        let index = LineIndex::new(text);
        assert_eq!(index.locate(text, 0), (1, 1));
        assert_eq!(index.locate(text, 3), (2, 1));
        assert_eq!(index.locate(text, 6), (2, 3));
        assert_eq!(index.locate(text, 99), (3, 1));
    }

    #[test]
    fn long_lines_are_counted_in_stretches() {
        let text = "é".repeat(2 * STRETCH);
        let index = LineIndex::new(text.as_bytes());
        for at in [
            0,
            1,
            STRETCH / 2,
            STRETCH - 1,
            STRETCH,
            2 * STRETCH - 3,
            2 * STRETCH,
        ] {
            assert_eq!(index.locate(text.as_bytes(), 2 * at), (1, at + 1));
        }
    }
}
