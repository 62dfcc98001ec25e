//! The published vocabularies.

use serde::{Deserialize, Serialize};

/// A published vocabulary with its rules for cutting text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Encoding {
    /// Of GPT-4o and the GPT and o models after it.
    #[serde(rename = "o200k_base")]
    O200kBase,
    /// Of GPT-4, GPT-3.5 and the embedding models.
    #[serde(rename = "cl100k_base")]
    Cl100kBase,
}

impl Encoding {
    /// The name under which it is published.
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }
}
