//! The provider's own count of the next request, when it is asked for.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Context as _;
use bindery::{NextRequest, TokenCount, Tokenizers};
use bindery_providers::{Endpoint, HttpModel, Secret};

use crate::layout::thousands;
use crate::status::UsageError;
use crate::terminal::{Terminal, printable};

/// Asks, and says how far the count here is from it.
pub(super) fn ask(
    request: &NextRequest,
    base: Option<&str>,
    environment: &BTreeMap<String, String>,
    tokenizers: &Tokenizers,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let (provider, params) = (request.provider, &request.params);
    if provider.count_path().is_none() {
        let message = format!("--count: {provider} has no endpoint that counts tokens");
        return Err(UsageError(message).into());
    }
    let variable = Endpoint::key_variable(provider);
    let key = environment.get(variable).and_then(|key| Secret::new(key));
    let elsewhere = base.or_else(|| {
        environment
            .get(Endpoint::url_variable(provider))
            .map(String::as_str)
    });
    if key.is_none() && elsewhere.is_none() {
        let message = format!("--count: there is no key for {provider}: set {variable}");
        return Err(UsageError(message).into());
    }
    let base = elsewhere.unwrap_or(Endpoint::published_url(provider));
    let endpoint = Endpoint::new(base).map_err(|error| UsageError::of(&error))?;
    let model = HttpModel::new(provider, endpoint, key)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let counted = runtime
        .context("starting the runtime")?
        .block_on(model.count(&request.encoded.body))
        .with_context(|| format!("{provider} did not count the request"))?;
    let ours = tokenizers.counter(&params.model);
    let here: TokenCount = request.rows(&ours).iter().map(|row| row.tokens).sum();
    writeln!(
        terminal.err,
        "counted by {provider}: {} tokens; here: {} by {}, which is {}",
        thousands(TokenCount::exact(counted)),
        thousands(here),
        printable(bindery::CountTokens::name(&ours)),
        error(here.value, counted)
    )?;
    terminal.err.flush()?;
    Ok(())
}

/// How far a count is from the provider's, in words.
fn error(here: u64, counted: u64) -> String {
    if here == counted {
        return "the same".to_owned();
    }
    let thousandths = u128::from(here.abs_diff(counted)) * 1_000 / u128::from(counted.max(1));
    let side = if here < counted { "less" } else { "more" };
    format!("{}.{} % {side}", thousandths / 10, thousandths % 10)
}

#[cfg(test)]
mod tests {
    use super::error;

    #[test]
    fn the_error_is_a_share_of_what_the_provider_counted() {
        assert_eq!(error(90, 100), "10.0 % less");
        assert_eq!(error(1_006, 1_000), "0.6 % more");
        assert_eq!(error(7, 7), "the same");
        assert_eq!(error(7, 0), "700.0 % more");
    }
}
