//! What an answer says of its cost.

use bindery_cache::{Diagnosis, Format};
use bindery_core::Usage;
use bindery_core::log::Json;
use bindery_wire::{Provider, ReplyDecoder, ReplyEvent, decode_body};
use hyper::HeaderMap;
use hyper::header::CONTENT_TYPE;
use serde_json::{Map, Value};

/// What is kept of an answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) id: Option<String>,
    pub(super) usage: Option<Usage>,
    /// The provider's own numbers.
    pub(super) reported: Option<Json>,
    /// The provider's own explanation, as an object that holds it.
    pub(super) diagnosis: Option<Json>,
    /// A failure within a stream.
    pub(super) failure: Option<bindery_wire::Failure>,
}

/// Reads an answer, or what there is of it.
pub(super) fn read(format: Format, headers: &HeaderMap, body: &[u8]) -> Answer {
    let Some(provider) = provider(format) else {
        return Answer::default();
    };
    let is_stream = headers
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"));
    let mut answer = Answer::default();
    if is_stream {
        let mut decoder = ReplyDecoder::new(provider);
        answer.take(decoder.push(body));
        for line in body.split(|byte| *byte == b'\n') {
            answer.raw_line(line);
        }
    } else {
        answer.take(decode_body(provider, body).0);
        if let Ok(value) = serde_json::from_slice(body) {
            answer.raw(&value);
        }
    }
    answer
}

fn provider(format: Format) -> Option<Provider> {
    Some(match format {
        Format::Anthropic => Provider::Anthropic,
        Format::OpenaiResponses => Provider::OpenaiResponses,
        Format::OpenaiChat => Provider::OpenaiChat,
        Format::Deepseek => Provider::Deepseek,
        Format::Gemini => return None,
    })
}

impl Answer {
    fn take(&mut self, events: Vec<ReplyEvent>) {
        for event in events {
            match event {
                ReplyEvent::Start { id, .. } => self.id = self.id.take().or(id),
                ReplyEvent::Usage(usage) => self.usage = Some(usage),
                ReplyEvent::Failed(failure) => self.failure = Some(failure),
                _ => {}
            }
        }
    }

    /// The provider's own words, from a line of a stream. Only few lines hold any.
    fn raw_line(&mut self, line: &[u8]) {
        let Some(data) = line.strip_prefix(b"data:") else {
            return;
        };
        let holds = |name: &[u8]| memchr::memmem::find(data, name).is_some();
        if !holds(b"\"usage\"") && !holds(b"diagnostics\"") {
            return;
        }
        if let Ok(value) = serde_json::from_slice(data) {
            self.raw(&value);
        }
    }

    fn raw(&mut self, value: &Value) {
        let inner = ["message", "response"]
            .into_iter()
            .filter_map(|name| value.get(name));
        for holder in std::iter::once(value).chain(inner) {
            if let Some(Value::Object(usage)) = holder.get("usage") {
                self.add_reported(usage);
            }
            for name in ["diagnostics", "prompt_cache_diagnostics"] {
                if let Some(said) = holder.get(name).filter(|said| !said.is_null()) {
                    self.diagnosis = Some(Json::new(&Value::Object(Map::from_iter([(
                        name.to_owned(),
                        said.clone(),
                    )]))));
                }
            }
        }
    }

    /// Numbers come in parts: the input first, the output at the end.
    fn add_reported(&mut self, usage: &Map<String, Value>) {
        let known = self.reported.take().map(|json| json.value());
        let mut all = match known {
            Some(Value::Object(known)) => known,
            _ => Map::new(),
        };
        all.extend(usage.clone());
        self.reported = Some(Json::new(&Value::Object(all)));
    }

    /// The provider's explanation, understood.
    pub(super) fn explained(&self) -> Option<Diagnosis> {
        Diagnosis::read(self.diagnosis.as_ref()?.as_str())
    }
}

/// The count of an answer that counts.
pub(super) fn counted(body: &[u8]) -> Option<u64> {
    serde_json::from_slice::<Value>(body)
        .ok()?
        .get("input_tokens")?
        .as_u64()
}
