//! Bodies: text that is there, or text that a provider computes when asked.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::{ContentHash, Mode, Text};

/// A boxed future. The core only awaits; which runtime drives it is the embedder's choice.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Whatever went wrong inside a provider, told to the caller of the assembly as it is.
pub type ProviderError = Box<dyn std::error::Error + Send + Sync>;

/// A cheap stand-in for a source's content: a file's version, a connection's state. Equal versions
/// promise equal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceVersion(pub u128);

impl SourceVersion {
    /// A version made from anything that has bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let hash = ContentHash::of(bytes);
        let (first, _) = hash.as_bytes().split_first_chunk().unwrap_or((&[0; 16], &[]));
        Self(u128::from_le_bytes(*first))
    }
}

/// What a provider may know of the assembly it is called for.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// The name of the innermost scope.
    pub scope: Arc<str>,
    /// The prompt mode. Text is kept by mode; within one step the first assembly's answer stands for all.
    pub mode: Mode,
}

/// Computes text. Called at most once a step, and less often where its cadence allows.
pub trait TextProvider: Send + Sync {
    /// The version of the source, if it can be told without reading it. For session cadence: the text
    /// is kept until this changes, or, where it is `None`, until it is invalidated by name.
    fn version(&self) -> Option<SourceVersion> {
        None
    }

    /// The text. Empty text contributes nothing.
    fn text<'a>(&'a self, evaluation: &'a Evaluation) -> BoxFuture<'a, Result<Text, ProviderError>>;
}

/// The body of a section or context.
#[derive(Clone)]
pub enum Body {
    /// Text that is there.
    Text(Text),
    /// Text that is computed.
    Provider(Arc<dyn TextProvider>),
}

impl Body {
    /// A body computed by a plain function.
    pub fn compute<F>(function: F) -> Self
    where
        F: Fn(&Evaluation) -> Result<String, ProviderError> + Send + Sync + 'static,
    {
        Self::Provider(Arc::new(Computed(function)))
    }

    /// A body computed by a provider.
    pub fn provider(provider: impl TextProvider + 'static) -> Self {
        Self::Provider(Arc::new(provider))
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<Text> for Body {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

struct Computed<F>(F);

impl<F> TextProvider for Computed<F>
where
    F: Fn(&Evaluation) -> Result<String, ProviderError> + Send + Sync,
{
    fn text<'a>(&'a self, evaluation: &'a Evaluation) -> BoxFuture<'a, Result<Text, ProviderError>> {
        Box::pin(std::future::ready((self.0)(evaluation).map(Text::from)))
    }
}
