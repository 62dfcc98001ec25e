//! Variables: values for `{{name}}`.

use super::{BoxFuture, Evaluation, ProviderError, RegisterError};
use crate::Text;

/// Computes a variable's value, at most once a step. `None` means undefined here: only a text that
/// refers to it fails.
pub trait VariableProvider: Send + Sync {
    /// The value.
    fn value<'a>(&'a self, evaluation: &'a Evaluation) -> BoxFuture<'a, Result<Option<Text>, ProviderError>>;
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
