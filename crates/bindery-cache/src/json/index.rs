//! Where the values of a body end, found in one pass, so that each look into it need not search again.

use super::skip;

/// A string that is shorter is as quickly searched as looked up.
const WORTH_IT: usize = 64;

/// The ends of a body's objects, arrays and long strings.
#[derive(Debug, Default)]
pub(crate) struct Index {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

/// What is known of where values end; without anything, they are searched for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends<'i> {
    index: Option<&'i Index>,
    /// Where the body begins.
    body: usize,
}

impl Index {
    /// The index of a body that was checked. One of more than four gigabytes has none.
    pub(crate) fn of(body: &str) -> Self {
        let mut out = Self::default();
        if u32::try_from(body.len()).is_err() {
            return out;
        }
        let bytes = body.as_bytes();
        let mut open: Vec<usize> = Vec::new();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let end = match byte {
                b'"' => {
                    let Some(end) = skip::string(bytes, at) else {
                        break;
                    };
                    if end - at > WORTH_IT {
                        out.push(at, end);
                    }
                    end
                }
                b'{' | b'[' => {
                    open.push(out.starts.len());
                    out.push(at, 0);
                    at + 1
                }
                b'}' | b']' => {
                    let opened = open.pop().and_then(|opened| out.ends.get_mut(opened));
                    if let (Some(end), Ok(here)) = (opened, u32::try_from(at + 1)) {
                        *end = here;
                    }
                    at + 1
                }
                _ => at + 1,
            };
            at = end;
        }
        out
    }

    fn push(&mut self, start: usize, end: usize) {
        // The body's length was found to fit.
        if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) {
            self.starts.push(start);
            self.ends.push(end);
        }
    }

    /// What it knows of slices of the body that it was made of.
    pub(crate) fn ends<'i>(&'i self, body: &str) -> Ends<'i> {
        Ends {
            index: Some(self),
            body: body.as_ptr().addr(),
        }
    }
}

impl Ends<'_> {
    /// Nothing is known.
    pub(crate) const NONE: Ends<'static> = Ends { index: None, body: 0 };

    /// The end of the value that begins at a byte of a slice, if it is known.
    pub(super) fn of(self, raw: &str, at: usize) -> Option<usize> {
        let index = self.index?;
        let slice = raw.as_ptr().addr().checked_sub(self.body)?;
        let start = u32::try_from(slice + at).ok()?;
        let found = index.starts.binary_search(&start).ok()?;
        let end = usize::try_from(*index.ends.get(found)?)
            .ok()?
            .checked_sub(slice)?;
        (end > at && end <= raw.len()).then_some(end)
    }
}
