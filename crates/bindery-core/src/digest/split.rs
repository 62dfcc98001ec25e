//! Bytes in pieces, cut into lines.

/// A line that is longer is read as several: nobody may make us hold it.
const LONGEST: usize = 64 << 10;

/// Cuts bytes into numbered lines. Whoever reads a text again counts as its digest did.
#[derive(Debug, Default)]
pub struct Splitter {
    /// The beginning of a line whose end has not come.
    carry: Vec<u8>,
    count: u64,
}

impl Splitter {
    /// Reads on, and gives every line that ended, without its end, with its number from 1.
    pub fn push(&mut self, mut piece: &[u8], seen: &mut dyn FnMut(u64, &[u8])) {
        while !piece.is_empty() {
            let room = LONGEST.saturating_sub(self.carry.len());
            let near = piece.get(..room.min(piece.len())).unwrap_or(piece);
            let (line, after) = match memchr::memchr(b'\n', near) {
                Some(end) => (piece.get(..end).unwrap_or_default(), end + 1),
                None if near.len() == room => (near, near.len()),
                None => {
                    self.carry.extend_from_slice(near);
                    return;
                }
            };
            self.count += 1;
            if self.carry.is_empty() {
                seen(self.count, line);
            } else {
                self.carry.extend_from_slice(line);
                seen(self.count, &self.carry);
                self.carry.clear();
            }
            piece = piece.get(after..).unwrap_or_default();
        }
    }

    /// Gives the last line, which may have no end.
    pub fn end(&mut self, seen: &mut dyn FnMut(u64, &[u8])) {
        if !self.carry.is_empty() {
            self.count += 1;
            seen(self.count, &self.carry);
            self.carry.clear();
        }
    }
}
