//! What a scan reports: values for people and programs, never a decision. [`crate::policy`] decides.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Asks the reader to drop the instructions it was given.
    Override,
    /// Gives the reader another identity, or one without rules.
    Role,
    /// Imitates a system, tool or chat-template marker.
    ForgedMarker,
    /// Asks to keep something from the user.
    Conceal,
    /// Asks for the system prompt or the rest of the context.
    PromptLeak,
    /// Sends data out by command, URL or image.
    Exfiltration,
    /// Reads secrets for no stated need.
    SecretRead,
    /// Runs or fetches foreign code, or destroys data.
    Command,
    /// Survives the session: hooks, start-up files, settings.
    Persistence,
    /// Plants a standing order in memory.
    MemoryPoisoning,
    /// Steers tools from a tool's own description or result.
    ToolPoisoning,
    /// Lifts an approval, a sandbox or a permission.
    ApprovalBypass,
    /// Puts a false fact or a fixed answer into the reader's mouth.
    AnswerSteering,
    /// Pulls in code that imitates or is foreign to the project.
    SupplyChain,
    /// Text that a person reading the rendered page does not see.
    HiddenText,
    /// Escape sequences that a terminal obeys.
    TerminalEscape,
    /// Direction controls that show text in another order than it has.
    Bidi,
    /// Characters that nobody sees.
    Invisible,
    /// Letters of another script that look like Latin ones.
    Homoglyph,
    /// Instructions in an encoding.
    Encoded,
    /// Bytes that are not text.
    BrokenEncoding,
}

impl Kind {
    /// All kinds, in the order of declaration.
    pub const ALL: [Self; 21] = [
        Self::Override,
        Self::Role,
        Self::ForgedMarker,
        Self::Conceal,
        Self::PromptLeak,
        Self::Exfiltration,
        Self::SecretRead,
        Self::Command,
        Self::Persistence,
        Self::MemoryPoisoning,
        Self::ToolPoisoning,
        Self::ApprovalBypass,
        Self::AnswerSteering,
        Self::SupplyChain,
        Self::HiddenText,
        Self::TerminalEscape,
        Self::Bidi,
        Self::Invisible,
        Self::Homoglyph,
        Self::Encoded,
        Self::BrokenEncoding,
    ];

    /// The name used in JSON, SARIF and pattern files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Override => "override",
            Self::Role => "role",
            Self::ForgedMarker => "forged-marker",
            Self::Conceal => "conceal",
            Self::PromptLeak => "prompt-leak",
            Self::Exfiltration => "exfiltration",
            Self::SecretRead => "secret-read",
            Self::Command => "command",
            Self::Persistence => "persistence",
            Self::MemoryPoisoning => "memory-poisoning",
            Self::ToolPoisoning => "tool-poisoning",
            Self::ApprovalBypass => "approval-bypass",
            Self::AnswerSteering => "answer-steering",
            Self::SupplyChain => "supply-chain",
            Self::HiddenText => "hidden-text",
            Self::TerminalEscape => "terminal-escape",
            Self::Bidi => "bidi",
            Self::Invisible => "invisible",
            Self::Homoglyph => "homoglyph",
            Self::Encoded => "encoded",
            Self::BrokenEncoding => "broken-encoding",
        }
    }

    /// One sentence for rule lists, without a final period.
    pub fn about(self) -> &'static str {
        match self {
            Self::Override => "Text asks the model to drop the instructions it was given",
            Self::Role => "Text gives the model another identity, or one without rules",
            Self::ForgedMarker => "Text imitates a system, tool or chat-template marker",
            Self::Conceal => "Text asks the model to keep something from the user",
            Self::PromptLeak => "Text asks for the system prompt or the rest of the context",
            Self::Exfiltration => "Text sends data out by command, URL or image",
            Self::SecretRead => "Text reads secrets",
            Self::Command => "Text runs or fetches foreign code, or destroys data",
            Self::Persistence => "Text changes hooks, start-up files or settings",
            Self::MemoryPoisoning => "Text plants a standing order in the model's memory",
            Self::ToolPoisoning => "Text steers tools from a tool's own description or result",
            Self::ApprovalBypass => "Text lifts an approval, a sandbox or a permission",
            Self::AnswerSteering => "Text puts a fixed answer into the model's mouth",
            Self::SupplyChain => "Text pulls in foreign or imitated code",
            Self::HiddenText => "Text is hidden from a person who reads the rendered page",
            Self::TerminalEscape => "Text contains escape sequences that a terminal obeys",
            Self::Bidi => "Direction controls show text in another order than it has",
            Self::Invisible => "Text contains characters that nobody sees",
            Self::Homoglyph => "Letters of another script imitate Latin ones",
            Self::Encoded => "Instructions are hidden in an encoding",
            Self::BrokenEncoding => "Bytes are not text",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How bad it would be if the finding is what it looks like, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing, most likely harmless.
    Note,
    /// Suspicious only together with more.
    Low,
    /// A person should look.
    Medium,
    /// Looks like an attack.
    High,
    /// An attack that was also hidden.
    Critical,
}

impl Severity {
    /// The name used in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// One step worse, at most [`Severity::Critical`].
    #[must_use]
    pub fn raised(self) -> Self {
        match self {
            Self::Note => Self::Low,
            Self::Low => Self::Medium,
            Self::Medium => Self::High,
            Self::High | Self::Critical => Self::Critical,
        }
    }

    /// One step milder, at least [`Severity::Note`].
    #[must_use]
    pub fn lowered(self) -> Self {
        match self {
            Self::Note | Self::Low => Self::Note,
            Self::Medium => Self::Low,
            Self::High => Self::Medium,
            Self::Critical => Self::High,
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How sure the scanner is that the words mean what the rule looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The words occur in honest text, too.
    Low,
    /// Honest use is rare.
    Medium,
    /// No honest use is known.
    High,
}

/// Where in a document a finding stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Position {
    /// Running text.
    Prose,
    /// A fenced or indented code block.
    CodeBlock,
    /// Code within a line.
    InlineCode,
    /// A block quotation, or words within quotation marks.
    Quotation,
    /// An HTML comment, or a link definition nobody sees.
    Comment,
    /// HTML that a style or attribute hides.
    HiddenMarkup,
    /// The front matter of the file.
    FrontMatter,
    /// A link's or image's address, title or replacement text.
    LinkTarget,
}

impl Position {
    /// The name used in JSON and in reasons.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prose => "prose",
            Self::CodeBlock => "code-block",
            Self::InlineCode => "inline-code",
            Self::Quotation => "quotation",
            Self::Comment => "comment",
            Self::HiddenMarkup => "hidden-markup",
            Self::FrontMatter => "front-matter",
            Self::LinkTarget => "link-target",
        }
    }

    /// Whether a person who reads the rendered page does not see this place.
    pub fn is_hidden(self) -> bool {
        matches!(self, Self::Comment | Self::HiddenMarkup)
    }
}

/// How a text was read: plainly, or through a decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// As written, after folding case, width, accents and look-alikes.
    Plain,
    /// Single letters with a separator between each two.
    Spelled,
    /// Words broken by blanks.
    Joined,
    /// Digits standing for letters.
    Leet,
    /// Backwards.
    Reversed,
    /// Letters shifted by thirteen.
    Rot13,
    /// Base64.
    Base64,
    /// Ascii85.
    Ascii85,
    /// Hexadecimal.
    Hex,
    /// Binary digits.
    Binary,
    /// Morse code.
    Morse,
    /// Percent, HTML or backslash escapes.
    Escapes,
    /// Escapes of strings of JSON.
    JsonString,
    /// Tag characters.
    Tags,
    /// Variation selectors.
    VariationSelectors,
    /// Pairs of invisible characters standing for bits.
    InvisibleBits,
}

impl Reading {
    /// The name used in JSON and in reasons.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Spelled => "spelled letters",
            Self::Joined => "broken words",
            Self::Leet => "digits for letters",
            Self::Reversed => "reversed text",
            Self::Rot13 => "rot13",
            Self::Base64 => "base64",
            Self::Ascii85 => "ascii85",
            Self::Hex => "hexadecimal",
            Self::Binary => "binary digits",
            Self::Morse => "Morse code",
            Self::Escapes => "character escapes",
            Self::JsonString => "a JSON string",
            Self::Tags => "tag characters",
            Self::VariationSelectors => "variation selectors",
            Self::InvisibleBits => "invisible bits",
        }
    }
}

/// One thing that a person or a policy should know about a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable name of the rule, such as `en.override.instructions`.
    pub rule: Arc<str>,
    /// What it is about.
    pub kind: Kind,
    /// How bad it would be.
    pub severity: Severity,
    /// How sure the scanner is.
    pub confidence: Confidence,
    /// Bytes of the source.
    pub span: Range<usize>,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// Column of the first byte in characters, from 1.
    pub column: usize,
    /// Line of the last byte, from 1.
    pub end_line: usize,
    /// Column after the last byte in characters, from 1.
    pub end_column: usize,
    /// Where in the document it stands.
    pub position: Position,
    /// How the text was read.
    pub reading: Reading,
    /// Why it is reported, in plain words.
    pub reason: String,
    /// What the bytes say once decoded, at most [`DECODED_LIMIT`] characters; nothing where the
    /// source can be read as it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decoded: Option<String>,
}

/// Longest decoded text carried by a finding, in characters.
pub const DECODED_LIMIT: usize = 240;

impl Finding {
    /// Whether the default policy keeps an unapproved repository file with this finding out.
    pub fn blocking(&self) -> bool {
        self.severity >= Severity::High && self.confidence >= Confidence::Medium
    }
}
