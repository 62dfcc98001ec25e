//! Codex's rollouts: the items as they were sent, the base instructions, the model, and what each answer used.

use std::sync::Arc;

use bindery_core::{Counting, ReportedUsage, Usage};

use super::{TranscriptExchange, UNRECORDED, moment, quoted};
use crate::Format;
use crate::json::Fields;

const UNKNOWN: &[&str] = &["tools", "parameters other than the model and the effort"];

/// Types of items that only the model makes.
const OF_THE_MODEL: [&str; 7] = [
    "reasoning",
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "web_search_call",
    "tool_search_call",
    "image_generation_call",
];

/// One rollout.
#[derive(Default)]
pub(super) struct Rollout {
    client: Option<Arc<str>>,
    session: Option<Arc<str>>,
    model: String,
    effort: Option<String>,
    items: Vec<String>,
    last_input_ms: Option<u64>,
    open: Option<TranscriptExchange>,
}

type Read = Result<Vec<TranscriptExchange>, String>;

impl Rollout {
    pub(super) fn line(&mut self, number: u64, fields: &Fields<'_>) -> Read {
        let at = fields.text("timestamp").and_then(|text| moment(&text));
        let Some(payload) = fields.get("payload").and_then(Fields::of) else {
            return Err("no rollout line: it has no `payload`".to_owned());
        };
        let kind = payload.text("type").unwrap_or_default();
        match &*fields.text("type").unwrap_or_default() {
            "session_meta" => self.began(&payload),
            "turn_context" => {
                self.model = payload.text("model").unwrap_or_default().into_owned();
                self.effort = ["effort", "reasoning_effort"]
                    .into_iter()
                    .find_map(|name| payload.text(name))
                    .map(std::borrow::Cow::into_owned);
            }
            "response_item" => return Ok(self.item(number, at, fields.get("payload").unwrap_or_default())),
            "compacted" => {
                let finished = self.finish();
                self.compacted(&payload);
                return Ok(finished);
            }
            "token_usage_record" => return Ok(self.used(payload.get("usage"), payload.text("response_id"))),
            "event_msg" if kind == "token_count" => {
                let info = payload.get("info").and_then(Fields::of);
                return Ok(self.used(info.as_ref().and_then(|info| info.get("last_token_usage")), None));
            }
            _ => {}
        }
        Ok(Vec::new())
    }

    pub(super) fn finish(&mut self) -> Vec<TranscriptExchange> {
        self.open.take().into_iter().collect()
    }

    fn began(&mut self, payload: &Fields<'_>) {
        let version = payload.text("cli_version").unwrap_or_default();
        self.client = Some(format!("codex/{version}").into());
        self.session = payload.text("id").map(|id| id.as_ref().into());
        let instructions = payload.get("base_instructions").and_then(Fields::of);
        let text = instructions
            .as_ref()
            .and_then(|instructions| instructions.text("text"))
            .or_else(|| payload.text("instructions"));
        if let Some(text) = text {
            self.items.push(format!(
                r#"{{"type":"message","role":"developer","content":[{{"type":"input_text","text":{}}}]}}"#,
                quoted(&text)
            ));
        }
    }

    fn item(&mut self, number: u64, at: Option<u64>, raw: &str) -> Vec<TranscriptExchange> {
        let Some(fields) = Fields::of(raw) else {
            return Vec::new();
        };
        let kind = fields.text("type").unwrap_or_default();
        let of_the_model = OF_THE_MODEL.contains(&&*kind)
            || (kind == "message" && fields.text("role").is_some_and(|role| role == "assistant"));
        let mut out = Vec::new();
        if of_the_model {
            if self.open.is_none() {
                self.open = Some(self.request(number, at));
            }
        } else {
            out = self.finish();
            self.last_input_ms = at.or(self.last_input_ms);
        }
        self.items.push(sent(&fields));
        out
    }

    /// The request that is answered from here on: everything before.
    fn request(&self, line: u64, at: Option<u64>) -> TranscriptExchange {
        let sent_ms = self.last_input_ms.or(at);
        let tools = format!(r#"{{"type":"function","name":"{UNRECORDED}","parameters":{{}}}}"#);
        let effort = self.effort.as_ref().map_or_else(String::new, |effort| {
            format!(r#","reasoning":{{"effort":{}}}"#, quoted(effort))
        });
        let key = self.session.as_ref().map_or_else(String::new, |session| {
            format!(r#","prompt_cache_key":{}"#, quoted(session))
        });
        let (model, items) = (quoted(&self.model), self.items.join(","));
        TranscriptExchange {
            line,
            at_ms: sent_ms,
            began_ms: at.zip(sent_ms).map(|(at, sent)| at.saturating_sub(sent)),
            client: self.client.clone(),
            session: self.session.clone(),
            agent: None,
            format: Format::OpenaiResponses,
            route: None,
            body: format!(r#"{{"model":{model}{effort}{key},"tools":[{tools}],"input":[{items}]}}"#),
            unknown: UNKNOWN,
            usage: None,
            reported: None,
            response: None,
            response_id: None,
            request_id: None,
            diagnosis: None,
        }
    }

    /// History that a summary took the place of.
    fn compacted(&mut self, payload: &Fields<'_>) {
        if let Some(history) = payload.get("replacement_history").and_then(crate::json::items) {
            self.items = history
                .into_iter()
                .map(|raw| Fields::of(raw).map_or_else(|| raw.to_owned(), |fields| sent(&fields)))
                .collect();
        }
    }

    /// What an answer used. The same is told twice, in two kinds of lines: the first counts.
    fn used(
        &mut self,
        usage: Option<&str>,
        response: Option<std::borrow::Cow<'_, str>>,
    ) -> Vec<TranscriptExchange> {
        let Some(fields) = usage.and_then(Fields::of) else {
            return Vec::new();
        };
        let Some(mut open) = self.open.take() else {
            return Vec::new();
        };
        open.usage = Some(buckets(&fields));
        open.reported = usage.map(str::to_owned);
        open.response_id = response.map(|id| id.as_ref().into());
        vec![open]
    }
}

fn buckets(fields: &Fields<'_>) -> Usage {
    let number = |name: &str| fields.get(name).and_then(|raw| raw.parse().ok()).unwrap_or(0);
    let reported = ReportedUsage {
        input: number("input_tokens"),
        read: number("cached_input_tokens"),
        write_30m: number("cache_write_input_tokens"),
        output: number("output_tokens"),
        reasoning: number("reasoning_output_tokens"),
        ..ReportedUsage::default()
    };
    reported.buckets(Counting::Inclusive)
}

/// An item without what the program keeps of it for itself.
fn sent(fields: &Fields<'_>) -> String {
    let kept: Vec<String> = fields
        .iter()
        .filter(|(name, _)| !matches!(*name, "internal_chat_message_metadata_passthrough" | "metadata"))
        .map(|(name, value)| format!("{}:{value}", quoted(name)))
        .collect();
    format!("{{{}}}", kept.join(","))
}
