//! Why a document cannot be used, and what to do.

use crate::reading::Problem;

/// Why a document cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// Its path gives no bytes.
    #[error("{0}")]
    Unreadable(Problem),
    /// It is larger than what is read at once.
    #[error(
        "it has {size} bytes, and {} are the most; let the agent read it with its tools, which stream",
        super::MOST_BYTES
    )]
    TooLarge {
        /// Its bytes.
        size: u64,
    },
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It is neither text nor a kind that is known.
    #[error(
        "it is neither text, HTML, PDF, PNG, JPEG, GIF nor WebP: from byte {at} on it is no text; convert it first"
    )]
    Binary {
        /// The first byte that shows it.
        at: usize,
    },
    /// An image that ends too early, or lies about itself.
    #[error("it is a broken image: {0}")]
    BrokenImage(String),
    /// A document that asks for a password.
    #[error("it is encrypted and asks for a password; save it without one")]
    Encrypted,
    /// A document that cannot be read.
    #[error("it is a broken document: {0}")]
    Broken(String),
    /// A document that takes too long to read, or too much memory.
    #[error("it could not be read within {0}")]
    Costly(&'static str),
    /// A document of pictures.
    #[error(
        "its {pages} pages have no text, as scans have none; attach them as images, or run a text recognition first"
    )]
    NoText {
        /// How many pages it has.
        pages: usize,
    },
}
