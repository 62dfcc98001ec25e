//! Where cache breakpoints go in an Anthropic request.
//!
//! At most four, in the order of the prefix: the last tool, the end of the static system text, and the
//! ends of the last two messages from the user's side that are not mere reminders. The older of these
//! two is where the previous request wrote; the newer is where the next one will read.

use bindery_core::{Kind, Message, Part, Role};

/// How many breakpoints a provider takes (Anthropic: "a maximum of 4 blocks with `cache_control`").
const MOST: usize = 4;

/// The lifetime and number of breakpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheMarks {
    /// The most breakpoints to set: at most 4 are ever set, 0 sets none.
    pub most: usize,
    /// Whether entries live an hour instead of five minutes. One lifetime for all: a mixed request would
    /// have to put the longer first, and a changed lifetime is a changed prefix.
    pub one_hour: bool,
}

impl Default for CacheMarks {
    fn default() -> Self {
        Self {
            most: MOST,
            one_hour: false,
        }
    }
}

/// The breakpoints of one request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Placement {
    /// On the last tool.
    pub(crate) tools: bool,
    /// On the system block with this index.
    pub(crate) system: Option<usize>,
    /// On these parts: (message, part).
    pub(crate) parts: Vec<(usize, usize)>,
}

/// Places breakpoints: the ends of messages first when there are too few for all, since they cover
/// everything before them.
pub(crate) fn place(
    marks: CacheMarks,
    tools: usize,
    static_block: Option<usize>,
    messages: &[Message],
) -> Placement {
    let mut left = marks.most.min(MOST);
    let mut placement = Placement::default();
    let mut tails: Vec<(usize, usize)> = messages
        .iter()
        .enumerate()
        .rev()
        .filter_map(|(at, message)| Some((at, tail(message)?)))
        .take(2)
        .collect();
    if let Some(newest) = tails.first().copied().filter(|_| left > 0) {
        placement.parts.push(newest);
        left -= 1;
    }
    if static_block.is_some() && left > 0 {
        placement.system = static_block;
        left -= 1;
    }
    if let Some(older) = tails
        .pop()
        .filter(|older| left > 0 && !placement.parts.contains(older))
    {
        placement.parts.insert(0, older);
        left -= 1;
    }
    placement.tools = tools > 0 && left > 0;
    placement
}

/// Whether a message is one of those whose ends get a mark when they are the newest.
pub(crate) fn takes_mark(message: &Message) -> bool {
    tail(message).is_some()
}

/// The last part of a message that may carry a mark and will stand at the same place in the next request.
fn tail(message: &Message) -> Option<usize> {
    if message.role != Role::User {
        return None;
    }
    message.parts.iter().rposition(is_markable)
}

/// Empty text and reasoning take no mark; a reminder is gone in the next request.
fn is_markable(part: &Part) -> bool {
    match part {
        Part::Text(fragments) => {
            fragments.iter().any(|fragment| !fragment.text.is_empty())
                && !fragments.iter().any(|fragment| fragment.kind == Kind::Reminder)
        }
        Part::ToolCall { .. } | Part::ToolResult { .. } | Part::Media { .. } => true,
        Part::Reasoning { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation() -> Vec<Message> {
        vec![
            Message::user("m0", "a"),
            Message::assistant("m1", "b"),
            Message::user("m2", "c"),
        ]
    }

    fn placed(most: usize) -> Placement {
        place(
            CacheMarks {
                most,
                one_hour: false,
            },
            8,
            Some(0),
            &conversation(),
        )
    }

    #[test]
    fn four_go_to_tools_static_text_and_two_message_ends() {
        assert_eq!(
            placed(4),
            Placement {
                tools: true,
                system: Some(0),
                parts: vec![(0, 0), (2, 0)]
            }
        );
        assert_eq!(placed(9), placed(4));
    }

    #[test]
    fn fewer_keep_what_covers_most() {
        assert_eq!(
            placed(3),
            Placement {
                tools: false,
                system: Some(0),
                parts: vec![(0, 0), (2, 0)]
            }
        );
        assert_eq!(
            placed(2),
            Placement {
                tools: false,
                system: Some(0),
                parts: vec![(2, 0)]
            }
        );
        assert_eq!(
            placed(1),
            Placement {
                tools: false,
                system: None,
                parts: vec![(2, 0)]
            }
        );
        assert_eq!(placed(0), Placement::default());
    }

    #[test]
    fn empty_text_is_never_marked() {
        let messages = [Message::user("m0", "")];
        assert_eq!(
            place(CacheMarks::default(), 0, None, &messages),
            Placement::default()
        );
    }
}
