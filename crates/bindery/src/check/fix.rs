//! Safe changes of a file's bytes.

use super::diagnostic::Fix;

/// A file with fixes made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The new bytes.
    pub bytes: Vec<u8>,
    /// How many fixes were made.
    pub made: usize,
    /// How many were left: the file is no longer what it was, or two fixes touch one place.
    pub left: usize,
}

/// Makes fixes. Bytes that no fix names stay as they are, whatever they are.
pub fn apply(bytes: &[u8], fixes: &[&Fix]) -> Applied {
    let mut fixes: Vec<&Fix> = fixes.to_vec();
    fixes.sort_by_key(|fix| (fix.range.start, fix.range.end));
    fixes.dedup();
    let mut out = Vec::with_capacity(bytes.len());
    let (mut at, mut made, mut left) = (0, 0, 0);
    for fix in fixes {
        let is_same = bytes.get(fix.range.clone()) == Some(fix.old.as_bytes());
        if !is_same || fix.range.start < at {
            left += 1;
            continue;
        }
        out.extend_from_slice(bytes.get(at..fix.range.start).unwrap_or_default());
        out.extend_from_slice(fix.new.as_bytes());
        at = fix.range.end;
        made += 1;
    }
    out.extend_from_slice(bytes.get(at..).unwrap_or_default());
    Applied {
        bytes: out,
        made,
        left,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fix(range: std::ops::Range<usize>, old: &str, new: &str) -> Fix {
        Fix {
            range,
            old: old.to_owned(),
            new: new.to_owned(),
        }
    }

    #[test]
    fn only_what_is_named_changes() {
        let bytes = b"a\xff Docs/x and docs\r\n";
        let applied = apply(bytes, &[&fix(3..7, "Docs", "docs")]);
        assert_eq!(applied.bytes, b"a\xff docs/x and docs\r\n");
        assert_eq!((applied.made, applied.left), (1, 0));
    }

    #[test]
    fn a_changed_file_and_an_overlap_are_left_alone() {
        let (first, second, stale) = (fix(0..3, "abc", "X"), fix(2..4, "cd", "Y"), fix(4..5, "?", "Z"));
        let applied = apply(b"abcde", &[&second, &first, &stale]);
        assert_eq!(applied.bytes, b"Xde");
        assert_eq!((applied.made, applied.left), (1, 2));
    }
}
