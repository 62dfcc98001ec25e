//! Byte offsets to lines and columns.

/// Starts of lines of one text. Lines end at `\n`; columns count characters from 1.
#[derive(Debug, Clone)]
pub struct LineIndex {
    starts: Vec<usize>,
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
        Self { starts }
    }

    /// Line and column of a byte, both from 1. An offset past the end is the end.
    pub fn locate(&self, text: &[u8], offset: usize) -> (usize, usize) {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = text.get(start..offset).unwrap_or_default();
        // A character is counted at its first byte; a broken byte counts as one.
        let column = before.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        (line, column + 1)
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
}
