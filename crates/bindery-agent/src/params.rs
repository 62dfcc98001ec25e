//! How a request is answered, as the header keeps it, and back.

use bindery_core::log::{Adapter, Header, Json};
use bindery_core::{ContentHash, Message};
use bindery_wire::{CacheMarks, Encoded, Params, Provider, Request, UnknownProvider, WireError};
use serde::{Deserialize, Serialize};

/// The version of the code that writes bodies: only this one promises the same bytes.
pub(crate) const ADAPTER_VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a header keeps of the parameters; the model stands beside it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    max_tokens: u32,
    stream: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cache_key: Option<String>,
    cache_marks: usize,
    one_hour: bool,
}

/// A logged request that cannot be encoded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RebuildError {
    /// A provider that this version does not have.
    #[error(transparent)]
    Provider(#[from] UnknownProvider),
    /// Parameters that this version does not know.
    #[error("the parameters of the header cannot be read ({0}); a newer version wrote them")]
    Params(#[from] serde_json::Error),
    /// The adapter refuses.
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// The parameters as JSON.
pub(crate) fn to_json(params: &Params) -> Json {
    let kept = Kept {
        max_tokens: params.max_tokens,
        stream: params.stream,
        cache_key: params.cache_key.clone(),
        cache_marks: params.marks.most,
        one_hour: params.marks.one_hour,
    };
    serde_json::to_value(kept).map_or_else(|_| Json::default(), |value| Json::new(&value))
}

/// The parameters of a header.
pub(crate) fn of_header(header: &Header) -> Result<Params, serde_json::Error> {
    let kept: Kept = serde_json::from_str(header.params.as_str())?;
    Ok(Params {
        model: header.model.to_string(),
        max_tokens: kept.max_tokens,
        stream: kept.stream,
        cache_key: kept.cache_key,
        marks: CacheMarks {
            most: kept.cache_marks,
            one_hour: kept.one_hour,
        },
    })
}

/// The body of a request that begins with `header` and says `messages`. The loop sends what this gives
/// and replay compares with what this gives: there is one way from a log to bytes.
pub fn encode(header: &Header, messages: &[Message]) -> Result<Encoded, RebuildError> {
    let provider: Provider = header.provider.parse()?;
    let params = of_header(header)?;
    let request = Request {
        system: &header.system,
        tools: &header.tools,
        messages,
        params: &params,
    };
    Ok(provider.encode(&request)?)
}

/// The code that writes bodies for a provider.
pub(crate) fn adapter(provider: Provider) -> Adapter {
    Adapter {
        name: provider.name().into(),
        version: ADAPTER_VERSION.into(),
    }
}

/// The hash and length by which a body is known.
pub(crate) fn fingerprint(body: &[u8]) -> (ContentHash, u64) {
    (ContentHash::of(body), body.len() as u64)
}
