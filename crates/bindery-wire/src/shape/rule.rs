//! The rules, each with a name that stays and what to do about it.

use serde::{Serialize, Serializer};

/// A rule of request shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ShapeRule {
    /// The body lacks what every request needs.
    Body,
    /// There is no message.
    NoMessages,
    /// The conversation does not begin with the user.
    FirstRole,
    /// A role that the format does not have.
    Role,
    /// A message says nothing.
    EmptyMessage,
    /// A text block is empty or blank.
    EmptyText,
    /// The answer that is to be continued ends with white space.
    TrailingSpace,
    /// A call has no result where it must stand.
    Unanswered,
    /// A result answers no call that stands before it.
    Orphan,
    /// A call is answered twice.
    AnsweredTwice,
    /// Two calls have one id.
    CallTwice,
    /// A call's input is no object.
    CallInput,
    /// A result stands after other content.
    ResultsFirst,
    /// More cache marks than a request may have.
    TooManyMarks,
    /// A cache mark where none may stand.
    MarkPlace,
    /// A longer lifetime after a shorter one.
    MarkOrder,
    /// A tool's name is missing or has characters that are refused.
    ToolName,
    /// Two tools have one name.
    ToolTwice,
    /// A tool's schema is no object schema.
    ToolSchema,
    /// Thinking that is not as the provider gave it, or settings that exclude each other.
    Thinking,
    /// An image or document that is refused.
    Media,
}

impl ShapeRule {
    /// Every rule.
    pub const ALL: [Self; 21] = [
        Self::Body,
        Self::NoMessages,
        Self::FirstRole,
        Self::Role,
        Self::EmptyMessage,
        Self::EmptyText,
        Self::TrailingSpace,
        Self::Unanswered,
        Self::Orphan,
        Self::AnsweredTwice,
        Self::CallTwice,
        Self::CallInput,
        Self::ResultsFirst,
        Self::TooManyMarks,
        Self::MarkPlace,
        Self::MarkOrder,
        Self::ToolName,
        Self::ToolTwice,
        Self::ToolSchema,
        Self::Thinking,
        Self::Media,
    ];

    /// Its name, which stays.
    pub fn code(self) -> &'static str {
        match self {
            Self::Body => "request-body",
            Self::NoMessages => "request-no-messages",
            Self::FirstRole => "request-first-role",
            Self::Role => "request-role",
            Self::EmptyMessage => "request-empty-message",
            Self::EmptyText => "request-empty-text",
            Self::TrailingSpace => "request-trailing-space",
            Self::Unanswered => "request-call-unanswered",
            Self::Orphan => "request-result-orphan",
            Self::AnsweredTwice => "request-call-answered-twice",
            Self::CallTwice => "request-call-id-twice",
            Self::CallInput => "request-call-input",
            Self::ResultsFirst => "request-results-first",
            Self::TooManyMarks => "request-marks-many",
            Self::MarkPlace => "request-mark-place",
            Self::MarkOrder => "request-mark-order",
            Self::ToolName => "request-tool-name",
            Self::ToolTwice => "request-tool-twice",
            Self::ToolSchema => "request-tool-schema",
            Self::Thinking => "request-thinking",
            Self::Media => "request-media",
        }
    }

    /// What it finds, in one line without a final period.
    pub fn about(self) -> &'static str {
        match self {
            Self::Body => "the body lacks what every request needs",
            Self::NoMessages => "there is no message",
            Self::FirstRole => "the conversation does not begin with the user",
            Self::Role => "a role that the format does not have",
            Self::EmptyMessage => "a message says nothing",
            Self::EmptyText => "a text block is empty or blank",
            Self::TrailingSpace => "the answer that is to be continued ends with white space",
            Self::Unanswered => "a call has no result where it must stand",
            Self::Orphan => "a result answers no call that stands before it",
            Self::AnsweredTwice => "a call is answered twice",
            Self::CallTwice => "two calls have one id",
            Self::CallInput => "a call's input is no object",
            Self::ResultsFirst => "a result stands after other content",
            Self::TooManyMarks => "more cache marks than a request may have",
            Self::MarkPlace => "a cache mark where none may stand",
            Self::MarkOrder => "a longer lifetime after a shorter one",
            Self::ToolName => "a tool's name is missing or has characters that are refused",
            Self::ToolTwice => "two tools have one name",
            Self::ToolSchema => "a tool's schema is no object schema",
            Self::Thinking => {
                "thinking that is not as the provider gave it, or settings that exclude each other"
            }
            Self::Media => "an image or document that is refused",
        }
    }

    /// What to do about it.
    pub fn mend(self) -> &'static str {
        match self {
            Self::Body => "give the body the field that the provider's reference requires",
            Self::NoMessages => "send at least one message of the user",
            Self::FirstRole => {
                "let the conversation begin with the user; a cut must fall before a user's message"
            }
            Self::Role => "use the roles of this provider's format",
            Self::EmptyMessage => "leave the message out, or say something",
            Self::EmptyText => "leave the empty block out",
            Self::TrailingSpace => "cut the white space at the end of the last answer",
            Self::Unanswered => {
                "put a result for the call where it belongs; for one that never ran, a result that says so"
            }
            Self::Orphan => "remove the result, or keep the call that it answers",
            Self::AnsweredTwice => "keep one result for each call",
            Self::CallTwice => "give each call an id of its own",
            Self::CallInput => "send the input as the model gave it",
            Self::ResultsFirst => "put all results before the rest of the message",
            Self::TooManyMarks => {
                "keep the marks that pay: the end of the static part, and the end of the conversation"
            }
            Self::MarkPlace => "mark a block that can be cached, such as the last text or tool before it",
            Self::MarkOrder => {
                "let no mark be followed by one of a longer lifetime (tools, system, messages)"
            }
            Self::ToolName => "use a name of letters, digits, `_` and `-`",
            Self::ToolTwice => "give each tool a name of its own",
            Self::ToolSchema => "describe the input as a JSON Schema of type `object`",
            Self::Thinking => {
                "send the blocks back as they came, or leave them out together with the calls they led to"
            }
            Self::Media => "send fewer or smaller images and documents, of a kind the provider reads",
        }
    }
}

impl Serialize for ShapeRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}
