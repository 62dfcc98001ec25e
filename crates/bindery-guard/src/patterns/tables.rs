//! Compiled patterns as plain data: what the build script writes and a scanner reads.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::filter::{self, Bytes, Filter};
use super::load::{PatternError, PatternSet};
use super::needs;
use super::program::Program;
use super::tokens::{self, UNLIMITED};
use super::{Expression, Form, Pattern};
use crate::heads::{self, key};

/// Sets of keywords that an expression is asked for: with more, more words would have to be noted.
const MOST_NEEDS: usize = 3;

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
    /// Whether the keyword and blanks are the first segment of all expressions of the group.
    pub(crate) whole: bool,
}

impl Anchor {
    fn new(
        group: u16,
        row: &GroupRow<'_>,
        (keyword, whole): (&[u8], bool),
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
            whole,
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

/// Expressions by their anchors, whether these lead, whether they are all of the first segment, whether
/// something must follow them, and whether that is the sign of an address: an expression that is worth a
/// try at every place would have the others of its group tried as often.
type Drafts = BTreeMap<(Vec<Keyword>, [bool; 4]), Draft>;

/// A group, and its anchors as the expressions spell them.
#[derive(Default)]
struct Draft {
    trials: Vec<TrialRow>,
    anchors: BTreeSet<Vec<u8>>,
    /// How many of the expressions have each anchor as their whole first segment.
    whole: BTreeMap<Vec<u8>, usize>,
}

impl Draft {
    fn is_whole(&self, anchor: &[u8]) -> bool {
        self.whole.get(anchor) == Some(&self.trials.len())
    }
}

/// A keyword with blanks between its words only: however these are separated, it is one keyword.
fn flat(word: &[u8]) -> Vec<u8> {
    word.iter().copied().map(heads::flat).collect()
}

/// Numbers in order of first use.
struct Numbering<T>(BTreeMap<T, u16>);

impl<T: Ord + Clone> Numbering<T> {
    fn of(&mut self, item: &T) -> Result<u16, PatternError> {
        if let Some(number) = self.0.get(item) {
            return Ok(*number);
        }
        let next = small(self.0.len())?;
        self.0.insert(item.clone(), next);
        Ok(next)
    }
}

impl<T> Numbering<T> {
    fn in_order(&self) -> Vec<&T> {
        let mut all: Vec<(u16, &T)> = self.0.iter().map(|(item, number)| (*number, item)).collect();
        all.sort_unstable_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, item)| item).collect()
    }
}

/// The parts of expressions, in order of first use.
#[derive(Default)]
struct Bodies {
    numbers: BTreeMap<Arc<str>, u16>,
    programs: Vec<Program>,
    /// The most words of each.
    words: Vec<u8>,
}

impl Bodies {
    fn of(&mut self, body: &Arc<str>) -> Result<u16, PatternError> {
        if let Some(number) = self.numbers.get(body) {
            return Ok(*number);
        }
        let next = small(self.programs.len())?;
        let program = Program::compile(body).map_err(PatternError::Engine)?;
        self.words.push(tokens::most(&program));
        self.programs.push(program);
        self.numbers.insert(body.clone(), next);
        Ok(next)
    }

    fn words_of(&self, body: u16) -> u8 {
        self.words.get(usize::from(body)).copied().unwrap_or(UNLIMITED)
    }
}

fn written(value: &impl Serialize) -> Result<Vec<u8>, PatternError> {
    postcard::to_allocvec(value).map_err(|error| PatternError::Engine(error.to_string()))
}

fn small(number: usize) -> Result<u16, PatternError> {
    u16::try_from(number).map_err(|_| PatternError::Engine("too many words or expressions".to_owned()))
}

impl Grid<'static> {
    fn compile<'b>(
        expressions: impl Iterator<Item = &'b (usize, Form, Expression)>,
    ) -> Result<Self, PatternError> {
        let mut keywords = Numbering(BTreeMap::new());
        let mut sets = Numbering(BTreeMap::new());
        let mut bodies = Bodies::default();
        let mut drafts: Drafts = BTreeMap::new();
        for (pattern, _, expression) in expressions {
            let mut numbers = |words: &[Vec<u8>]| -> Result<Vec<Keyword>, PatternError> {
                let words: BTreeSet<Vec<u8>> = words.iter().map(|word| flat(word)).collect();
                words.iter().map(|word| keywords.of(word)).collect()
            };
            let anchors = numbers(&expression.anchors)?;
            let mut segments = Vec::with_capacity(expression.segments.len());
            let mut rare: Vec<(&[Vec<u8>], u8)> = Vec::new();
            let mut within = 0_u8;
            for segment in &expression.segments {
                let gap = u8::try_from(segment.gap).unwrap_or(u8::MAX);
                let body = bodies.of(&segment.body)?;
                segments.push((gap, body));
                // `UNLIMITED` stays what it is.
                within = within.saturating_add(gap).saturating_add(bodies.words_of(body));
                rare.extend(segment.needs.iter().map(|keys| (keys.as_slice(), within)));
            }
            // The first of them is asked first; of the same keywords, the nearest.
            rare.sort_by_cached_key(|(keys, within)| (needs::weight_of(keys), *keys, *within));
            rare.dedup_by_key(|(keys, _)| *keys);
            rare.truncate(MOST_NEEDS);
            let mut needs = Vec::with_capacity(rare.len());
            for (keys, within) in rare {
                let set = sets.of(&numbers(keys)?)?;
                needs.push(Need { set, within });
            }
            let trial = TrialRow {
                pattern: small(*pattern)?,
                needs,
                blanks: expression.blanks,
                segments,
            };
            let kind = [
                expression.leading,
                expression.bare,
                trial.needs.is_empty(),
                expression.has_at,
            ];
            let draft = drafts.entry((anchors, kind)).or_default();
            draft.trials.push(trial);
            draft.anchors.extend(expression.anchors.iter().cloned());
            for anchor in &expression.whole {
                *draft.whole.entry(anchor.clone()).or_default() += 1;
            }
        }
        Self::gather(&keywords, &sets.0, drafts, &bodies.programs)
    }

    fn gather(
        keywords: &Numbering<Vec<u8>>,
        sets: &BTreeMap<Vec<Keyword>, u16>,
        drafts: Drafts,
        programs: &[Program],
    ) -> Result<Self, PatternError> {
        let by_number = keywords.in_order();
        let mut anchored = vec![Vec::new(); by_number.len()];
        let mut groups = Vec::with_capacity(drafts.len());
        let mut nexts = Numbering(BTreeMap::new());
        for (((_, [leading, .., has_at]), draft), number) in drafts.into_iter().zip(0..) {
            let trials = &draft.trials;
            let firsts = trials.iter().filter_map(|trial| trial.segments.first());
            let firsts: Vec<&Program> = firsts
                .filter_map(|(_, body)| programs.get(usize::from(*body)))
                .collect();
            let filter = Filter::new(&firsts, filter::GROUP_STATES);
            let group = GroupRow {
                leading,
                has_at,
                filter,
                any_of: any_of(trials),
                trials: trials.clone(),
            };
            for word in &draft.anchors {
                let keyword = keywords.0.get(&flat(word)).copied().map(usize::from);
                if let Some(row) = keyword.and_then(|keyword| anchored.get_mut(keyword)) {
                    let anchor = Anchor::new(number, &group, (word, draft.is_whole(word)), &mut nexts)?;
                    if !row.contains(&anchor) {
                        row.push(anchor);
                    }
                }
            }
            groups.push(group);
        }
        let mut in_sets = vec![Vec::new(); by_number.len()];
        for (words, set) in sets {
            for keyword in words {
                if let Some(row) = in_sets.get_mut(usize::from(*keyword)) {
                    row.push(*set);
                }
            }
        }
        let bodies = programs.iter().map(|program| {
            Ok(Body {
                filter: Filter::new(&[program], filter::BODY_STATES),
                program: Cow::Owned(written(program)?),
            })
        });
        Ok(Self {
            bodies: bodies.collect::<Result<_, PatternError>>()?,
            groups,
            keywords: by_number.iter().map(|word| key(word)).collect(),
            anchored: Rows::new(anchored),
            nexts: nexts.in_order().into_iter().copied().collect(),
            sets: Rows::new(in_sets),
            set_count: u16::try_from(sets.len()).unwrap_or(u16::MAX),
        })
    }
}

/// The first need of each expression, as far away as any has it; nothing if one of them has none.
fn any_of(trials: &[TrialRow]) -> Vec<Need> {
    let mut firsts: BTreeMap<u16, u8> = BTreeMap::new();
    for trial in trials {
        let Some(need) = trial.needs.first() else {
            return Vec::new();
        };
        let within = firsts.entry(need.set).or_default();
        *within = need.within.max(*within);
    }
    let need = |(set, within)| Need { set, within };
    firsts.into_iter().map(need).collect()
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
    fn new(rows: Vec<Vec<T>>) -> Self {
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
