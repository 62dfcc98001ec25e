//! How a request is answered, as the header keeps it, and back.

use bindery_core::log::{Adapter, Extent, Header, Json};
use bindery_core::{ContentHash, Message, history};
use bindery_wire::{CacheMarks, Encoded, Growing, Params, Provider, Request, UnknownProvider, WireError};
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
    effort: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tier: Option<String>,
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
        effort: params.effort.clone(),
        tier: params.tier.clone(),
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
        effort: kept.effort,
        tier: kept.tier,
        cache_key: kept.cache_key,
        marks: CacheMarks {
            most: kept.cache_marks,
            one_hour: kept.one_hour,
        },
    })
}

/// Writes the bodies of a session, one after another: what was said once is written once. The loop sends
/// what this gives and replay compares with what this gives: there is one way from a log to bytes.
#[derive(Debug, Default)]
pub struct Bodies {
    growing: Option<Growing>,
    history: history::Growing,
    /// How far the surface had grown with the last body.
    last: Option<Extent>,
    /// Whether the last body said something else than the surface.
    mended: bool,
}

impl Bodies {
    /// The body of a request that begins with `header` and says `messages`, of a surface of that extent.
    pub fn write(
        &mut self,
        header: &Header,
        messages: &[Message],
        extent: Extent,
    ) -> Result<&Encoded, RebuildError> {
        let provider: Provider = header.provider.parse()?;
        let params = of_header(header)?;
        let last = self.last.replace(extent);
        let mut unchanged = last.map_or(0, |last| extent.unchanged_since(&last));
        // Whatever became of the history, what is sent is one that the provider takes.
        let sound = self.history.normalise(messages, unchanged);
        let is_mended = !sound.repairs.is_empty();
        if is_mended || std::mem::replace(&mut self.mended, is_mended) {
            unchanged = 0;
        }
        self.mended = is_mended;
        let request = Request {
            system: &header.system,
            tools: &header.tools,
            messages: &sound.messages,
            params: &params,
        };
        let mut growing = match self.growing.take() {
            Some(growing) if growing.provider() == provider => growing,
            _ => Growing::new(provider),
        };
        let written = growing.encode(&request, unchanged).map(|_| ());
        let growing = self.growing.insert(growing);
        written?;
        Ok(growing.last())
    }

    /// The last body.
    pub(crate) fn last(&self) -> Option<&Encoded> {
        self.growing.as_ref().map(Growing::last)
    }

    /// The hash of the last body and its length in bytes: by these it is known.
    pub fn fingerprint(&self) -> (ContentHash, u64) {
        let growing = self.growing.as_ref();
        growing.map_or((ContentHash::of(&[]), 0), Growing::fingerprint)
    }
}

/// The code that writes bodies for a provider.
pub(crate) fn adapter(provider: Provider) -> Adapter {
    Adapter {
        name: provider.name().into(),
        version: ADAPTER_VERSION.into(),
    }
}
