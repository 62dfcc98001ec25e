//! Bodies, read and counted: what the cache's rules work on.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use anyhow::Context as _;
use bindery::Tokenizers;
use bindery_cache::typing::Typing;
use bindery_cache::{Exchange, Format, Measured, Measurer, RequestReader, UNRECORDED, WireRequest};

use super::Sent;

/// Among so many of the latest requests one is looked for that a request continues.
const RECENT: usize = 8;
/// How far apart requests are taken to be that nobody timed, in milliseconds.
const APART_MS: u64 = 1_000;

/// Reads and counts requests one after another.
pub(crate) struct Measuring<'t> {
    reader: RequestReader,
    tokenizers: &'t Tokenizers,
    measurers: BTreeMap<String, Measurer<'t>>,
    recent: VecDeque<(Option<Arc<str>>, Arc<WireRequest>)>,
    /// The tokens of what transcripts do not hold, by session and model.
    heads: BTreeMap<String, u64>,
    last_ms: u64,
    /// Whether times had to be made up.
    pub(crate) untimed: bool,
}

impl<'t> Measuring<'t> {
    pub(crate) fn new(tokenizers: &'t Tokenizers) -> anyhow::Result<Self> {
        let typing = Typing::built_in().context("the built-in patterns of requests")?;
        Ok(Self {
            reader: RequestReader::new(typing),
            tokenizers,
            measurers: BTreeMap::new(),
            recent: VecDeque::new(),
            heads: BTreeMap::new(),
            last_ms: 0,
            untimed: false,
        })
    }

    /// The exchange that a request is to those who explain it; why it cannot be read, where it cannot.
    pub(crate) fn exchange(&mut self, sent: &Sent) -> Result<Exchange, String> {
        let format = match sent.format {
            Some(format) => format,
            None => Format::of_body(&String::from_utf8_lossy(&sent.body))
                .ok_or_else(|| bindery_cache::ReadError::UnknownFormat.to_string())?,
        };
        let previous = self.previous(sent.session.as_ref());
        let read = self
            .reader
            .read_after(format, &sent.body, previous.as_deref())
            .map_err(|error| error.to_string())?;
        let request = Arc::new(read);
        self.remember(sent.session.clone(), request.clone());
        let measured = self.measured(sent, &request);
        let at_ms = self.time(sent.at_ms);
        Ok(Exchange {
            began_ms: sent.began_ms.map(|began| at_ms.saturating_add(began)),
            route: sent.route.clone(),
            session: sent.session.clone(),
            usage: sent.usage,
            response_id: sent.response_id.clone(),
            diagnosis: sent.diagnosis.clone(),
            ..Exchange::new(measured, at_ms)
        })
    }

    /// Simulators take requests in the order of time.
    fn time(&mut self, at_ms: Option<u64>) -> u64 {
        self.untimed |= at_ms.is_none();
        let at_ms = at_ms.unwrap_or(self.last_ms + APART_MS).max(self.last_ms);
        self.last_ms = at_ms;
        at_ms
    }

    fn previous(&self, session: Option<&Arc<str>>) -> Option<Arc<WireRequest>> {
        let of_session = self.recent.iter().rev().find(|(of, _)| of.as_ref() == session);
        of_session.map(|(_, request)| request.clone())
    }

    fn remember(&mut self, session: Option<Arc<str>>, request: Arc<WireRequest>) {
        self.recent.retain(|(of, _)| *of != session);
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((session, request));
    }

    fn measured(&mut self, sent: &Sent, request: &Arc<WireRequest>) -> Measured {
        let counter = self.tokenizers.counter(request.settings().model());
        let name = bindery::CountTokens::name(counter).to_owned();
        let book = self
            .measurers
            .entry(name)
            .or_insert_with(|| Measurer::new(counter));
        let measured = book.measure(request);
        let reported = sent.usage.map(|usage| usage.input()).filter(|input| *input > 0);
        if !sent.unknown.is_empty() {
            return self.put_together(sent, request, &measured, reported);
        }
        match reported {
            // What the provider counted is what it bills; ours only shares it out.
            Some(total) if !measured.is_exact() => measured.scaled_to(total),
            _ => measured,
        }
    }

    /// What a transcript does not hold has the tokens that are missing from the first report; from then on
    /// it stays as it is, and the messages are stretched to what was reported.
    fn put_together(
        &mut self,
        sent: &Sent,
        request: &Arc<WireRequest>,
        counted: &Measured,
        reported: Option<u64>,
    ) -> Measured {
        let segments = request.segments();
        let unrecorded = |at: usize| {
            segments.get(at).is_some_and(|segment| {
                segment.name.as_deref() == Some(UNRECORDED) || request.text(segment) == UNRECORDED
            })
        };
        let Some(head) = (0..segments.len()).find(|at| unrecorded(*at)) else {
            return counted.clone();
        };
        let rest = counted.total().saturating_sub(counted.tokens(head));
        let key = format!("{:?} {}", sent.session, request.settings().model());
        let head_tokens = match (self.heads.get(&key), reported) {
            (Some(known), _) => *known,
            (None, Some(total)) => {
                let missing = total.saturating_sub(rest);
                self.heads.insert(key, missing);
                missing
            }
            (None, None) => 0,
        };
        let told = reported
            .map_or(rest, |total| total.saturating_sub(head_tokens))
            .max(1);
        let scale = |tokens: u64| {
            let scaled = u128::from(tokens) * u128::from(told) / u128::from(rest.max(1));
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        let tokens: Vec<u64> = (0..segments.len())
            .map(|at| {
                if at == head {
                    head_tokens
                } else {
                    scale(counted.tokens(at))
                }
            })
            .collect();
        Measured::with_tokens(request, &tokens).estimated()
    }
}
