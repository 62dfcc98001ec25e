//! What a session that goes on keeps asking: provider, model and limits of its last request, unless other
//! ones are named. A setting that is another by now would cost the whole prefix.

use bindery::Provider;
use bindery::log::SessionState;
use bindery::sources::settings::{Key, Request, Settings};
use bindery::sources::variants::{self, Because, Fixed};

use super::arguments::RunArgs;
use super::model::Choice;

/// What the last header says; nothing for a new session.
#[derive(Debug, Clone, Default)]
pub(super) struct Pinned {
    provider: Option<String>,
    model: Option<String>,
    max_tokens: Option<u64>,
    effort: Option<String>,
    tier: Option<String>,
    variants: Vec<Fixed>,
}

impl Pinned {
    pub(super) fn of(state: &SessionState) -> Self {
        let settings = state.settings();
        let settings = settings.iter().map(|(name, value)| (&**name, value.as_str()));
        let variants = variants::of_session(settings)
            .into_iter()
            .map(|(experiment, variant)| Fixed {
                experiment,
                variant,
                because: Because::Session,
            });
        let variants = variants.collect();
        let Some(latest) = state.header() else {
            return Self {
                variants,
                ..Self::default()
            };
        };
        let params: serde_json::Value =
            serde_json::from_str(latest.header.params.as_str()).unwrap_or_default();
        Self {
            provider: Some(latest.header.provider.to_string()),
            model: Some(latest.header.model.to_string()),
            max_tokens: params["max_tokens"].as_u64(),
            effort: params["effort"].as_str().map(str::to_owned),
            tier: params["tier"].as_str().map(str::to_owned),
            variants,
        }
    }

    /// What the settings are asked: flags first, then what is kept. A model belongs to its provider, so that
    /// another provider keeps none.
    pub(super) fn request(&self, args: &RunArgs) -> Request {
        let named = Choice::of(args).family();
        let provider = |name: &String| name.parse::<Provider>().ok();
        let same =
            named.is_none() || named.as_ref().and_then(provider) == self.provider.as_ref().and_then(provider);
        let mut request = args.request(named.or_else(|| self.provider.clone()));
        request.flags.variants.extend(self.variants.iter().cloned());
        if same {
            let said = |key: Key| request.overrides.iter().any(|given| sets(given, key));
            let free = |key: Key| !said(key);
            let (model, most) = (free(Key::Model), free(Key::MaxTokens));
            let words = [(Key::Effort, &self.effort), (Key::Tier, &self.tier)];
            let words: Vec<_> = words.into_iter().filter(|(key, _)| free(*key)).collect();
            let flags = &mut request.flags;
            flags.model = flags
                .model
                .take()
                .or_else(|| self.model.clone().filter(|_| model));
            flags.max_tokens = flags.max_tokens.or(self.max_tokens.filter(|_| most));
            for (key, kept) in words {
                let named = flags.words.iter().any(|(given, _)| *given == key);
                flags
                    .words
                    .extend(kept.clone().filter(|_| !named).map(|word| (key, word)));
            }
        }
        request
    }

    /// What to say where the settings ask for another model by now than the session goes on with.
    pub(super) fn note(&self, args: &RunArgs, plain: &Settings) -> Option<String> {
        let (kept, wanted) = (self.model.as_ref()?, plain.model()?.value);
        let named = args.model.is_some() || args.provider.is_some();
        (wanted != *kept && !named).then(|| {
            format!(
                "note: the session goes on with {kept}; the settings say {wanted} by now, and `--model {wanted}` \
                 takes it: every request then begins anew in the cache"
            )
        })
    }
}

/// Whether `-c KEY=VALUE` sets this key.
fn sets(given: &str, key: Key) -> bool {
    given
        .split_once('=')
        .is_some_and(|(name, _)| name.trim() == key.name())
}
