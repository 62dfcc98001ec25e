//! The surface: the messages that the next request derives from the log.

use super::{Replacement, Seq};
use crate::{Fragment, Message, Part, Role};

/// The messages in order, each with the events it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Surface {
    messages: Vec<Message>,
    /// As many as messages. A message of tool results has an event for each part, any other has one.
    origins: Vec<Vec<Seq>>,
    /// How often something else happened than that the end grew.
    edits: u64,
}

/// How far a surface had grown at a moment. What is said later stands behind it, unless an edit intervened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    edits: u64,
    messages: usize,
}

impl Extent {
    /// How many messages of `earlier` stand unchanged at the beginning of this one.
    pub fn unchanged_since(&self, earlier: &Self) -> usize {
        if self.edits == earlier.edits {
            // The last message may have been one of results that has got another since.
            earlier.messages.min(self.messages).saturating_sub(1)
        } else {
            0
        }
    }
}

/// Why a replacement cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplaceProblem {
    /// Nothing is shadowed.
    #[error("it shadows nothing")]
    Nothing,
    /// An event that stands nowhere on the surface, or is cited twice.
    #[error("event {0} does not stand on the surface, or is cited twice")]
    Absent(Seq),
    /// A message would be shadowed in part, or a stretch with a gap.
    #[error("the shadowed events are not whole messages that stand together (event {0} is left out)")]
    Gap(Seq),
    /// Calls and their results would be parted.
    #[error("it would part tool calls from their results at event {0}")]
    Parted(Seq),
    /// New content for something that is not one tool result.
    #[error("event {0} is no tool result")]
    NoResult(Seq),
    /// Messages that cannot stand by themselves.
    #[error("the new messages have calls without results, or results without calls")]
    Unpaired,
}

impl Surface {
    /// The messages, as a request takes them.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// How far it has grown.
    pub fn extent(&self) -> Extent {
        Extent {
            edits: self.edits,
            messages: self.messages.len(),
        }
    }

    /// The messages with the events they stand for.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (&[Seq], &Message)> {
        self.origins.iter().map(Vec::as_slice).zip(&self.messages)
    }

    pub(super) fn push(&mut self, seq: Seq, message: Message) {
        self.messages.push(message);
        self.origins.push(vec![seq]);
    }

    /// Puts a result where it belongs: in the message right after the one that `asked`, in the order of
    /// the calls there. Costs what stands between, which is nothing in the usual case.
    pub(super) fn answer(&mut self, seq: Seq, asked: Seq, result: Part) {
        let Some(at) = self.origins.iter().rposition(|origin| origin.contains(&asked)) else {
            return;
        };
        let after = at + 1;
        // A result that comes late stands before what was said meanwhile.
        self.edits += u64::from(after + 1 < self.messages.len());
        if !self.messages.get(after).is_some_and(is_results) {
            self.messages.insert(
                after,
                Message {
                    role: Role::User,
                    parts: vec![result],
                    is_meta: false,
                },
            );
            self.origins.insert(after, vec![seq]);
            return;
        }
        let (before, rest) = self.messages.split_at_mut(after);
        let calls = before.last().map_or(&[][..], |message| &message.parts);
        let place = |part: &Part| calls.iter().position(|call| answers(part, call));
        if let (Some(results), Some(origin)) = (rest.first_mut(), self.origins.get_mut(after)) {
            let at = results.parts.partition_point(|part| place(part) < place(&result));
            results.parts.insert(at, result);
            origin.insert(at.min(origin.len()), seq);
        }
    }

    /// Replaces what `shadowed` cites, or changes nothing and says why it cannot.
    pub(super) fn replace(
        &mut self,
        seq: Seq,
        shadowed: &[Seq],
        replacement: &Replacement,
    ) -> Result<(), ReplaceProblem> {
        match replacement {
            Replacement::Messages(messages) => {
                let range = self.range_of(shadowed)?;
                check_paired(messages)?;
                let origins = messages.iter().map(|_| vec![seq]);
                self.origins.splice(range.clone(), origins);
                self.messages.splice(range, messages.iter().cloned());
            }
            Replacement::Result(content) => self.replace_result(seq, shadowed, content)?,
        }
        self.edits += 1;
        Ok(())
    }

    fn replace_result(&mut self, seq: Seq, shadowed: &[Seq], new: &Fragment) -> Result<(), ReplaceProblem> {
        let cited = *shadowed.first().ok_or(ReplaceProblem::Nothing)?;
        if let Some(second) = shadowed.get(1) {
            return Err(ReplaceProblem::NoResult(*second));
        }
        let mut places = self.origins.iter().enumerate().filter_map(|(at, origin)| {
            Some((at, origin.iter().position(|event| *event == cited)?, origin.len()))
        });
        let (at, index, events) = places.next().ok_or(ReplaceProblem::Absent(cited))?;
        if places.next().is_some() {
            return Err(ReplaceProblem::NoResult(cited));
        }
        let message = self
            .messages
            .get_mut(at)
            .filter(|message| message.parts.len() == events);
        match message.and_then(|message| message.parts.get_mut(index)) {
            Some(Part::ToolResult { content, .. }) => *content = new.clone(),
            _ => return Err(ReplaceProblem::NoResult(cited)),
        }
        if let Some(event) = self.origins.get_mut(at).and_then(|origin| origin.get_mut(index)) {
            *event = seq;
        }
        Ok(())
    }

    /// The stretch of messages that `cited` names wholly.
    fn range_of(&self, cited: &[Seq]) -> Result<std::ops::Range<usize>, ReplaceProblem> {
        let mut wanted = cited.to_vec();
        wanted.sort_unstable();
        if let Some(pair) = wanted.windows(2).find(|pair| pair.first() == pair.last()) {
            return Err(ReplaceProblem::Absent(
                pair.first().copied().unwrap_or(Seq::FIRST),
            ));
        }
        let is_cited = |seq: &Seq| wanted.binary_search(seq).is_ok();
        let touched = |origin: &Vec<Seq>| origin.iter().any(is_cited);
        let first = self.origins.iter().position(touched);
        let last = self.origins.iter().rposition(touched);
        let (Some(first), Some(last)) = (first, last) else {
            return Err(cited
                .first()
                .map_or(ReplaceProblem::Nothing, |seq| ReplaceProblem::Absent(*seq)));
        };
        let inside = || self.origins.iter().take(last + 1).skip(first).flatten();
        if let Some(left_out) = inside().find(|seq| !is_cited(seq)) {
            return Err(ReplaceProblem::Gap(*left_out));
        }
        let mut found: Vec<Seq> = inside().copied().collect();
        found.sort_unstable();
        if let Some(absent) = wanted.iter().find(|seq| found.binary_search(seq).is_err()) {
            return Err(ReplaceProblem::Absent(*absent));
        }
        self.check_borders(first, last)?;
        Ok(first..last + 1)
    }

    /// Neither end of the stretch may lie between calls and their results.
    fn check_borders(&self, first: usize, last: usize) -> Result<(), ReplaceProblem> {
        let at = |index: usize| self.origins.get(index).and_then(|origin| origin.first()).copied();
        for results in [first, last + 1] {
            if self.messages.get(results).is_some_and(is_results) {
                return Err(ReplaceProblem::Parted(at(results).unwrap_or(Seq::FIRST)));
            }
        }
        Ok(())
    }
}

/// Whether a message holds the results of calls.
fn is_results(message: &Message) -> bool {
    matches!(message.parts.first(), Some(Part::ToolResult { .. }))
}

fn answers(result: &Part, call: &Part) -> bool {
    match (result, call) {
        (Part::ToolResult { id: result, .. }, Part::ToolCall { id: call, .. }) => result == call,
        _ => false,
    }
}

/// Every call of `messages` is answered in the message after it, and nothing else is answered.
fn check_paired(messages: &[Message]) -> Result<(), ReplaceProblem> {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let mut asked = Vec::new();
        for part in &message.parts {
            match part {
                Part::ToolCall { id, .. } => asked.push(&**id),
                Part::ToolResult { id, .. } => match open.iter().position(|call| *call == &**id) {
                    Some(at) => drop(open.swap_remove(at)),
                    None => return Err(ReplaceProblem::Unpaired),
                },
                Part::Text(_) | Part::Reasoning { .. } | Part::Media { .. } => {}
            }
        }
        if !open.is_empty() {
            return Err(ReplaceProblem::Unpaired);
        }
        open = asked;
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(ReplaceProblem::Unpaired)
    }
}
