//! Variables: values for `{{name}}`.

use super::{BoxFuture, Evaluation, ProviderError, RegisterError};
use crate::{Text, Trust};

/// Computes a variable's value, at most once a step. `None` means undefined here: only a text that
/// refers to it fails.
pub trait VariableProvider: Send + Sync {
    /// The value.
    fn value<'a>(&'a self, evaluation: &'a Evaluation) -> BoxFuture<'a, Result<Option<Text>, ProviderError>>;

    /// How far the value is trusted. One that may not command is refused in the system prompt and
    /// replaced in contexts only.
    fn trust(&self) -> Trust {
        Trust::Builtin
    }
}

/// A variable whose value somebody outside can write (a branch name, a server's answer).
pub struct Outside<P> {
    provider: P,
    trust: Trust,
}

impl<P: VariableProvider> Outside<P> {
    /// A provider whose values have this trust.
    pub fn new(provider: P, trust: Trust) -> Self {
        Self { provider, trust }
    }
}

impl<P: VariableProvider> VariableProvider for Outside<P> {
    fn value<'a>(&'a self, evaluation: &'a Evaluation) -> BoxFuture<'a, Result<Option<Text>, ProviderError>> {
        self.provider.value(evaluation)
    }

    fn trust(&self) -> Trust {
        self.trust
    }
}

/// A fixed value.
impl VariableProvider for Text {
    fn value<'a>(&'a self, _: &'a Evaluation) -> BoxFuture<'a, Result<Option<Text>, ProviderError>> {
        Box::pin(std::future::ready(Ok(Some(self.clone()))))
    }
}

/// A value computed by a plain function.
impl<F> VariableProvider for F
where
    F: Fn(&Evaluation) -> Result<Option<String>, ProviderError> + Send + Sync,
{
    fn value<'a>(&'a self, evaluation: &'a Evaluation) -> BoxFuture<'a, Result<Option<Text>, ProviderError>> {
        Box::pin(std::future::ready(
            self(evaluation).map(|value| value.map(Text::from)),
        ))
    }
}

/// Checks `[a-z][a-z0-9_]*`.
pub(crate) fn check_variable_name(name: &str) -> Result<(), RegisterError> {
    if is_variable_name(name) {
        return Ok(());
    }
    Err(RegisterError::InvalidName {
        what: "variable",
        name: name.escape_debug().to_string(),
        rule: "it must be a lower-case letter, then lower-case letters, digits and underscores",
    })
}

pub(crate) fn is_variable_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}
