//! Compiled patterns as plain data: what the build script writes and a scanner reads.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::filter::{Bytes, Filter};
use super::grid::Numbering;
use super::load::{PatternError, PatternSet};
use super::{Form, Pattern};

/// A keyword, by number.
pub(crate) type Keyword = u16;

/// Everything a scanner needs of some pattern files.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tables<'a> {
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) words: Lists,
    /// Expressions over the folded text.
    #[serde(borrow)]
    pub(crate) plain: Grid<'a>,
    /// A [`Grid`] of expressions over words that were joined, written out.
    #[serde(borrow)]
    pub(crate) joined: Cow<'a, [u8]>,
}

/// The word lists of pattern files.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(crate) struct Lists {
    pub(crate) negations: Vec<String>,
    pub(crate) mentions: Vec<String>,
    pub(crate) described: Vec<String>,
    pub(crate) topics: Vec<String>,
    pub(crate) probes: Vec<String>,
    /// Words of the patterns that are also looked for in broken words.
    pub(crate) stems: Vec<String>,
}

/// Expressions of one form, by their keywords.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Grid<'a> {
    /// First bytes and length of each keyword.
    pub(crate) keywords: Vec<(u64, u8)>,
    /// The groups that each keyword anchors.
    pub(crate) anchored: Rows<Anchor>,
    /// Bytes with which matches may go on.
    pub(crate) nexts: Vec<Bytes>,
    /// The sets of keywords that each keyword belongs to.
    pub(crate) sets: Rows<u16>,
    /// How many sets of keywords there are.
    pub(crate) set_count: u16,
    #[serde(borrow)]
    pub(crate) groups: Vec<GroupRow<'a>>,
    /// What the segments of the expressions look for; many have one in common.
    #[serde(borrow)]
    pub(crate) bodies: Vec<Body<'a>>,
}

/// That a keyword anchors a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Anchor {
    pub(crate) group: u16,
    /// With which of [`Grid::nexts`] a match may go on there.
    next: u16,
    /// The same after a blank.
    after_blank: u16,
    /// The state of the group's filter after the keyword.
    pub(crate) state: u8,
}

impl Anchor {
    pub(super) fn new(
        group: u16,
        row: &GroupRow<'_>,
        keyword: &[u8],
        nexts: &mut Numbering<Bytes>,
    ) -> Result<Self, PatternError> {
        let state = row.filter.after(keyword);
        let (next, after_blank) = if row.leading {
            (
                row.filter.next(state),
                row.filter.next(row.filter.step(state, b' ')),
            )
        } else {
            (Bytes::ALL, Bytes::ALL)
        };
        Ok(Self {
            group,
            state,
            next: nexts.of(&next)?,
            after_blank: nexts.of(&after_blank)?,
        })
    }

    /// Whether the text behind the keyword may fit: one or two bytes show most places that do not.
    #[inline]
    pub(crate) fn may_precede(self, rest: &[u8], nexts: &[Bytes]) -> bool {
        let has = |next: u16, byte| nexts.get(usize::from(next)).is_none_or(|next| next.has(byte));
        match *rest {
            [b' ', second, ..] => has(self.after_blank, second) && has(self.next, b' '),
            [first, ..] => has(self.next, first),
            [] => true,
        }
    }
}

/// Items by number.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Rows<T> {
    /// Where the items of each number start; one more for the end.
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self {
            starts: Vec::new(),
            items: Vec::new(),
        }
    }
}

/// Expressions with the same anchors.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GroupRow<'a> {
    /// Whether the anchors stand at the start of a match.
    pub(crate) leading: bool,
    /// Whether every match has the sign of an address.
    pub(crate) has_at: bool,
    #[serde(borrow)]
    pub(crate) filter: Filter<'a>,
    pub(crate) trials: Vec<TrialRow>,
    /// Unless one of these follows the anchor, no expression can match. Empty if that cannot be said.
    pub(crate) any_of: Vec<Need>,
}

/// That one of some keywords follows an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Need {
    /// The set of keywords.
    pub(crate) set: u16,
    /// The most words that start between the anchor and the keyword, or [`super::UNLIMITED`].
    pub(crate) within: u8,
}

/// One expression.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TrialRow {
    /// The pattern it belongs to.
    pub(crate) pattern: u16,
    /// What must follow the anchor.
    pub(crate) needs: Vec<Need>,
    /// If the first segment is the anchor with a blank, the most blanks in it; else zero.
    pub(crate) blanks: u8,
    /// For each part without a long gap, the most words before it, and the number of its body.
    pub(crate) segments: Vec<(u8, u16)>,
}

/// What a part of an expression looks for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Body<'a> {
    #[serde(borrow)]
    pub(crate) filter: Filter<'a>,
    /// A [`Program`], written out: most are never needed.
    #[serde(borrow)]
    pub(crate) program: Cow<'a, [u8]>,
}

impl Tables<'static> {
    /// Compiles what was read.
    pub(crate) fn compile(set: PatternSet) -> Result<Self, PatternError> {
        let of_form = |joined: bool| {
            let chosen = set.expressions.iter();
            chosen.filter(move |(_, form, _)| (*form == Form::Joined) == joined)
        };
        let plain = Grid::compile(of_form(false))?;
        let joined = Grid::compile(of_form(true))?;
        Ok(Self {
            words: Lists {
                stems: set.stems.into_iter().collect(),
                ..set.words
            },
            plain,
            joined: Cow::Owned(written(&joined)?),
            patterns: set.patterns,
        })
    }
}

pub(super) fn written(value: &impl Serialize) -> Result<Vec<u8>, PatternError> {
    postcard::to_allocvec(value).map_err(|error| PatternError::Engine(error.to_string()))
}

impl Grid<'_> {
    /// The same without borrowed bytes.
    pub(crate) fn into_owned(self) -> Grid<'static> {
        let group = |row: GroupRow| GroupRow {
            leading: row.leading,
            has_at: row.has_at,
            filter: row.filter.into_owned(),
            trials: row.trials,
            any_of: row.any_of,
        };
        let body = |body: Body| Body {
            filter: body.filter.into_owned(),
            program: Cow::Owned(body.program.into_owned()),
        };
        Grid {
            groups: self.groups.into_iter().map(group).collect(),
            bodies: self.bodies.into_iter().map(body).collect(),
            keywords: self.keywords,
            anchored: self.anchored,
            nexts: self.nexts,
            sets: self.sets,
            set_count: self.set_count,
        }
    }
}

impl Lists {
    /// Takes the words of other lists, too.
    pub(crate) fn extend(&mut self, other: Self) {
        self.negations.extend(other.negations);
        self.mentions.extend(other.mentions);
        self.described.extend(other.described);
        self.topics.extend(other.topics);
        self.probes.extend(other.probes);
        self.stems.extend(other.stems);
    }
}

impl<T> Rows<T> {
    pub(super) fn new(rows: Vec<Vec<T>>) -> Self {
        let mut starts = vec![0];
        let mut items = Vec::new();
        for row in rows {
            items.extend(row);
            starts.push(u32::try_from(items.len()).unwrap_or(u32::MAX));
        }
        Self { starts, items }
    }

    /// Where the items of each number start, with one more for the end, and all items.
    pub(crate) fn into_parts(self) -> (Vec<u32>, Vec<T>) {
        (self.starts, self.items)
    }
}
