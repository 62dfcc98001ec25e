//! The conversation, in no provider's dialect.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Authority, CountTokens, Fragment, Group, Kind, Lane, Media, Source, Text, TokenCount, Trust};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user's side: prompts, tool results, runtime context.
    User,
    /// The model.
    Assistant,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
    /// Built by the harness for the model, not said by anybody: reminders, snapshots, instructions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_meta: bool,
}

/// A part of a message; each becomes one content block or item of the provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    /// Text: fragments joined by blank lines.
    Text(Vec<Fragment>),
    /// What the model thought, with the provider's signature, to be returned unchanged.
    Reasoning {
        /// The thought.
        fragment: Fragment,
        /// The provider's proof that it was not altered.
        signature: Text,
    },
    /// The model calls a tool. The fragment's text is the input as JSON.
    ToolCall {
        /// The call's id.
        id: Arc<str>,
        /// The tool.
        name: Arc<str>,
        /// The input.
        input: Fragment,
    },
    /// An image, or a document as its maker wrote it.
    Media {
        /// What stands where it cannot be shown: its description, with the reference under which it is kept.
        fragment: Fragment,
        /// What is shown.
        media: Arc<Media>,
    },
    /// The answer to a call.
    ToolResult {
        /// The id of the call answered.
        id: Arc<str>,
        /// What the tool said.
        content: Fragment,
        /// Whether it failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

impl Message {
    /// A message of one text part.
    pub fn text(role: Role, fragments: Vec<Fragment>) -> Self {
        Self {
            role,
            parts: vec![Part::Text(fragments)],
            is_meta: false,
        }
    }

    /// The same message, marked as built by the harness.
    #[must_use]
    pub fn meta(mut self) -> Self {
        self.is_meta = true;
        self
    }

    /// What the user wrote.
    pub fn user(key: impl Into<Arc<str>>, text: impl Into<Text>) -> Self {
        Self::text(
            Role::User,
            vec![said(key, Kind::UserPrompt, Authority::User, Trust::User, text)],
        )
    }

    /// What the model wrote.
    pub fn assistant(key: impl Into<Arc<str>>, text: impl Into<Text>) -> Self {
        let fragment = said(
            key,
            Kind::AssistantText,
            Authority::Assistant,
            Trust::External,
            text,
        );
        Self::text(Role::Assistant, vec![fragment])
    }

    /// What it takes up, media included.
    pub fn tokens(&self, counter: &(impl CountTokens + ?Sized)) -> TokenCount {
        self.parts.iter().map(|part| part.tokens(counter)).sum()
    }

    /// The images and documents.
    pub fn media(&self) -> impl Iterator<Item = &Arc<Media>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Media { media, .. } => Some(media),
            _ => None,
        })
    }

    /// All fragments, in order.
    pub fn fragments(&self) -> impl Iterator<Item = &Fragment> {
        self.parts.iter().flat_map(Part::fragments)
    }
}

impl Part {
    /// An image or a document, from outside: its content is nobody's instruction.
    pub fn media(key: impl Into<Arc<str>>, source: Source, media: Media) -> Self {
        let fragment = Fragment {
            source,
            ..said(
                key,
                Kind::Document,
                Authority::User,
                Trust::External,
                media.to_string(),
            )
        };
        let media = Arc::new(media);
        Self::Media { fragment, media }
    }

    /// What it takes up: its texts as they are counted, an image by its pixels.
    pub fn tokens(&self, counter: &(impl CountTokens + ?Sized)) -> TokenCount {
        match self {
            Self::Media { media, .. } => media.tokens(),
            _ => self.fragments().iter().map(|one| counter.count(&one.text)).sum(),
        }
    }

    /// The part's fragments, in order.
    pub fn fragments(&self) -> &[Fragment] {
        match self {
            Self::Text(fragments) => fragments,
            Self::Reasoning { fragment, .. } | Self::Media { fragment, .. } => std::slice::from_ref(fragment),
            Self::ToolCall { input, .. } => std::slice::from_ref(input),
            Self::ToolResult { content, .. } => std::slice::from_ref(content),
        }
    }
}

/// A fragment of the conversation itself.
pub fn said(
    key: impl Into<Arc<str>>,
    kind: Kind,
    authority: Authority,
    trust: Trust,
    text: impl Into<Text>,
) -> Fragment {
    let key = key.into();
    Fragment {
        source: Source::Plugin {
            name: "conversation".into(),
        },
        key,
        kind,
        lane: Lane::Messages,
        group: Group::Appended,
        authority,
        trust,
        grant: None,
        text: text.into(),
    }
}
