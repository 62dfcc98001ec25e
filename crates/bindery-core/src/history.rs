//! A conversation as every provider takes it.
//!
//! Pure passes, each with one invariant, in an order in which no later pass breaks an earlier one's. A
//! sound history comes back as it is, borrowed; whatever had to be mended is reported. What is said here
//! holds for the messages that come out:
//!
//! 1. calls and reasoning stand on the assistant's side, results, images and documents on the user's;
//! 2. no text is blank, no message is without parts;
//! 3. no two calls have one id, none is empty, and every input is a JSON object;
//! 4. every call has exactly one result: in the user's turn that follows the message that calls, before
//!    anything else there; no result answers anything else;
//! 5. reasoning leads to something: text or a call follows it before the user speaks again;
//! 6. the user begins;
//! 7. a last answer does not end with white space.
//!
//! Reasoning is kept byte for byte or left out whole. Results that are missing are put there and say so.

mod beginning;
mod blank;
mod growing;
mod ids;
mod inputs;
mod pairs;
mod reasoning;
mod sides;

pub use growing::Growing;

use std::borrow::Cow;
use std::sync::Arc;

use crate::{Message, Part};

/// A sound history, and what was done to get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Normalised<'m> {
    /// The messages; borrowed where nothing had to be mended.
    pub messages: Cow<'m, [Message]>,
    /// Every repair, in the order of the passes.
    pub repairs: Vec<Repair>,
}

/// One repair.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Repair {
    /// What was done.
    pub kind: RepairKind,
    /// The fragment concerned, by key.
    pub fragment: Arc<str>,
    /// The matter, for people.
    pub message: String,
}

/// A kind of repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RepairKind {
    /// A part stood on the wrong side and was left out.
    WrongSide,
    /// Blank text was left out.
    BlankText,
    /// The input of a call was no JSON object and was put into one.
    UnreadableInput,
    /// A call got another id.
    CallRenamed,
    /// A result answered no call and was left out.
    OrphanResult,
    /// A call had a second result, which was left out.
    SecondResult,
    /// A result stood elsewhere and was put after its call.
    ResultMoved,
    /// A call had no result and got one that says so.
    ResultMissing,
    /// Reasoning that led to nothing was left out.
    ReasoningLedNowhere,
    /// The assistant began, and a note stands before it.
    BeginningMissing,
    /// White space at the end of the last answer was cut.
    TrailingSpace,
}

/// The history as every provider takes it. Linear in its size; a sound one is only read.
pub fn normalise(messages: &[Message]) -> Normalised<'_> {
    let mut work = Work {
        messages: Cow::Borrowed(messages),
        repairs: Vec::new(),
    };
    sides::pass(&mut work);
    blank::pass(&mut work);
    inputs::pass(&mut work);
    ids::pass(&mut work);
    pairs::pass(&mut work);
    reasoning::pass(&mut work);
    beginning::pass(&mut work);
    blank::trailing(&mut work);
    Normalised {
        messages: work.messages,
        repairs: work.repairs,
    }
}

/// A history while passes work on it.
struct Work<'m> {
    messages: Cow<'m, [Message]>,
    repairs: Vec<Repair>,
}

impl Work<'_> {
    fn note(&mut self, kind: RepairKind, part: Option<&Part>, message: impl Into<String>) {
        let fragment = part.and_then(|part| part.fragments().first());
        self.repairs.push(Repair {
            kind,
            fragment: fragment.map_or_else(|| "".into(), |fragment| fragment.key.clone()),
            message: message.into(),
        });
    }

    /// Leaves out the parts that `reject` names a repair for, and messages that this leaves empty.
    fn leave_out(
        &mut self,
        mut reject: impl FnMut(usize, usize, &Message, &Part) -> Option<(RepairKind, String)>,
    ) {
        let mut gone: Vec<(usize, usize)> = Vec::new();
        let mut repairs = Vec::new();
        for (at, message) in self.messages.iter().enumerate() {
            for (index, part) in message.parts.iter().enumerate() {
                if let Some((kind, why)) = reject(at, index, message, part) {
                    gone.push((at, index));
                    repairs.push((kind, part.clone(), why));
                }
            }
        }
        for (kind, part, why) in repairs {
            self.note(kind, Some(&part), why);
        }
        let empty = self
            .messages
            .iter()
            .filter(|message| message.parts.is_empty())
            .count();
        for _ in 0..empty {
            self.note(RepairKind::BlankText, None, "a message had no parts");
        }
        if gone.is_empty() && empty == 0 {
            return;
        }
        let messages = self.messages.to_mut();
        for (at, message) in messages.iter_mut().enumerate() {
            let mut index = 0;
            message.parts.retain(|_| {
                let keep = gone.binary_search(&(at, index)).is_err();
                index += 1;
                keep
            });
        }
        messages.retain(|message| !message.parts.is_empty());
    }
}

#[cfg(test)]
mod tests;
