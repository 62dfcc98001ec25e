//! Claude Code's transcripts: one line for each message of the user's side, for each block of an answer, and
//! for what the client attached.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{TranscriptExchange, UNRECORDED, moment, quoted};
use crate::Format;
use crate::json::{self, Fields};

const UNKNOWN: &[&str] = &[
    "system prompt",
    "tools",
    "instruction files read at the start",
    "breakpoints (assumed: end of the system prompt, end of the last message of the user)",
    "parameters other than the model",
    "the wording around attached texts",
];

/// The conversations of one transcript: of the main agent and of its sub-agents.
#[derive(Default)]
pub(super) struct Tracks {
    tracks: BTreeMap<Option<Arc<str>>, Track>,
    /// Exchanges that are complete, while one that was sent before them is not.
    waiting: Vec<TranscriptExchange>,
}

#[derive(Default)]
struct Track {
    messages: Vec<Said>,
    last_input_ms: Option<u64>,
    open: Option<Answer>,
}

/// A message.
struct Said {
    assistant: bool,
    blocks: Vec<String>,
    /// The lines it was written in, by their ids.
    lines: Vec<Arc<str>>,
}

/// An answer whose blocks are arriving.
struct Answer {
    id: Option<Arc<str>>,
    exchange: TranscriptExchange,
    /// The mark that the request is taken to have had: its lifetime is known from the answer alone.
    said: Said,
}

type Read = Result<Vec<TranscriptExchange>, String>;

impl Tracks {
    pub(super) fn line(&mut self, number: u64, fields: &Fields<'_>) -> Read {
        let kind = fields.text("type").unwrap_or_default();
        let agent = (fields.get("isSidechain") == Some("true")).then(|| {
            let named = fields.text("agentId");
            named.map_or_else(|| "sub-agent".into(), |id| id.as_ref().into())
        });
        let track = self.tracks.entry(agent.clone()).or_default();
        let complete = match &*kind {
            "user" => track.user(fields),
            "assistant" => track.assistant(number, agent, fields),
            "attachment" => {
                track.attached(fields);
                Ok(Vec::new())
            }
            "system"
                if fields
                    .text("subtype")
                    .is_some_and(|kind| kind == "compact_boundary") =>
            {
                let finished = track.finish();
                track.messages.clear();
                Ok(finished)
            }
            _ => Ok(Vec::new()),
        };
        self.waiting.extend(complete?);
        Ok(self.release())
    }

    pub(super) fn finish(&mut self) -> Vec<TranscriptExchange> {
        let rest = self.tracks.values_mut().flat_map(Track::finish);
        self.waiting.extend(rest);
        self.release()
    }

    /// What was sent before everything that still waits for its answer, in the order of sending: a main
    /// agent waits while its sub-agents talk.
    fn release(&mut self) -> Vec<TranscriptExchange> {
        let open = self.tracks.values().filter_map(|track| track.open.as_ref());
        let earliest = open.filter_map(|answer| answer.exchange.at_ms).min();
        self.waiting
            .sort_by_key(|exchange| (exchange.at_ms, exchange.line));
        let ready = self
            .waiting
            .partition_point(|exchange| earliest.is_none_or(|earliest| exchange.at_ms < Some(earliest)));
        self.waiting.drain(..ready).collect()
    }
}

impl Track {
    fn finish(&mut self) -> Vec<TranscriptExchange> {
        let Some(answer) = self.open.take() else {
            return Vec::new();
        };
        self.messages.push(answer.said);
        vec![answer.exchange]
    }

    fn user(&mut self, fields: &Fields<'_>) -> Read {
        let content = fields.get("message").and_then(Fields::of);
        let Some(content) = content.as_ref().and_then(|message| message.get("content")) else {
            return Err("no message: a line of the user without `message.content`".to_owned());
        };
        let finished = self.finish();
        let blocks = blocks(content);
        let answers = blocks.iter().any(|block| block.contains("\"tool_result\""));
        if !answers {
            self.go_back(fields.text("parentUuid").as_deref());
        }
        let at = fields.text("timestamp").and_then(|text| moment(&text));
        self.last_input_ms = at.or(self.last_input_ms);
        self.say(fields.text("uuid").as_deref(), blocks);
        Ok(finished)
    }

    /// A prompt that follows an earlier line than the last: what came after that line was taken back.
    fn go_back(&mut self, parent: Option<&str>) {
        let Some(parent) = parent else { return };
        let holds = |said: &Said| said.lines.iter().any(|line| **line == *parent);
        if let Some(at) = self.messages.iter().rposition(holds) {
            self.messages.truncate(at + 1);
        }
    }

    fn say(&mut self, line: Option<&str>, blocks: Vec<String>) {
        let line = line.map(Into::into);
        match self.messages.last_mut().filter(|last| !last.assistant) {
            Some(last) => {
                last.blocks.extend(blocks);
                last.lines.extend(line);
            }
            None => self.messages.push(Said {
                assistant: false,
                blocks,
                lines: line.into_iter().collect(),
            }),
        }
    }

    /// Texts that the client put in: nested instruction files, lists, what hooks said.
    fn attached(&mut self, fields: &Fields<'_>) {
        let Some(attachment) = fields.get("attachment").and_then(Fields::of) else {
            return;
        };
        let content = attachment.get("content");
        let inner = content.and_then(Fields::of);
        let text = inner
            .as_ref()
            .and_then(|inner| inner.text("content"))
            .or_else(|| attachment.text("content"))
            .or_else(|| {
                let lines = attachment.items("addedLines");
                let lines: Vec<String> = lines
                    .into_iter()
                    .filter_map(|line| Some(json::string(line)?.into_owned()))
                    .collect();
                (!lines.is_empty()).then(|| lines.join("\n").into())
            });
        let Some(text) = text else { return };
        let label = match (attachment.text("path"), attachment.text("hookEvent")) {
            (Some(path), _) => format!("Contents of {path}:\n\n"),
            (None, Some(event)) => format!("{event} hook additional context: "),
            (None, None) => String::new(),
        };
        let text = format!("<system-reminder>\n{label}{text}\n</system-reminder>");
        let block = format!(r#"{{"type":"text","text":{}}}"#, quoted(&text));
        self.say(fields.text("uuid").as_deref(), vec![block]);
    }

    fn assistant(&mut self, number: u64, agent: Option<Arc<str>>, fields: &Fields<'_>) -> Read {
        let Some(message) = fields.get("message").and_then(Fields::of) else {
            return Err("no message: a line of the assistant without `message`".to_owned());
        };
        let model = message.text("model").unwrap_or_default();
        // What the client says itself, of errors and interruptions, was never a request's answer.
        if model == "<synthetic>" || fields.get("isApiErrorMessage") == Some("true") {
            return Ok(Vec::new());
        }
        let id: Option<Arc<str>> = message.text("id").map(|id| id.as_ref().into());
        let goes_on = self
            .open
            .as_ref()
            .is_some_and(|open| open.id == id && id.is_some());
        let finished = if goes_on { Vec::new() } else { self.finish() };
        let usage = message.get("usage").filter(|usage| usage.starts_with('{'));
        if !goes_on {
            let exchange = self.request(number, agent, &model, usage, fields);
            self.open = Some(Answer {
                id: id.clone(),
                exchange,
                said: Said {
                    assistant: true,
                    blocks: Vec::new(),
                    lines: Vec::new(),
                },
            });
        }
        let Some(open) = &mut self.open else {
            return Ok(finished);
        };
        open.said
            .blocks
            .extend(message.get("content").map(blocks).unwrap_or_default());
        open.said
            .lines
            .extend(fields.text("uuid").map(|line| Arc::<str>::from(&*line)));
        if let Some(usage) = usage {
            open.exchange.reported = Some(usage.to_owned());
        }
        open.exchange.response_id = id;
        Ok(finished)
    }

    fn request(
        &self,
        line: u64,
        agent: Option<Arc<str>>,
        model: &str,
        usage: Option<&str>,
        fields: &Fields<'_>,
    ) -> TranscriptExchange {
        let at = fields.text("timestamp").and_then(|text| moment(&text));
        let sent = self.last_input_ms.or(at);
        let version = fields.text("version").unwrap_or_default();
        TranscriptExchange {
            line,
            at_ms: sent,
            began_ms: at.zip(sent).map(|(at, sent)| at.saturating_sub(sent)),
            client: Some(format!("claude-code/{version}").into()),
            session: fields.text("sessionId").map(|id| id.as_ref().into()),
            agent,
            format: Format::Anthropic,
            route: None,
            body: self.body(model, usage.is_some_and(for_an_hour)),
            unknown: UNKNOWN,
            usage: None,
            reported: None,
            response: None,
            response_id: None,
            request_id: fields.text("requestId").map(|id| id.as_ref().into()),
            diagnosis: None,
        }
    }

    /// The request as it can be put together, with marks where the client is known to set them.
    fn body(&self, model: &str, hour: bool) -> String {
        let mark = if hour {
            r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#
        } else {
            r#""cache_control":{"type":"ephemeral"}"#
        };
        let last = self.messages.iter().rposition(|said| !said.assistant);
        let messages: Vec<String> = self
            .messages
            .iter()
            .enumerate()
            .map(|(at, said)| {
                let role = if said.assistant { "assistant" } else { "user" };
                let mut blocks = said.blocks.join(",");
                if Some(at) == last && blocks.ends_with('}') {
                    blocks.truncate(blocks.len() - 1);
                    blocks.extend([",", mark, "}"]);
                }
                format!(r#"{{"role":"{role}","content":[{blocks}]}}"#)
            })
            .collect();
        format!(
            r#"{{"model":{},"system":[{{"type":"text","text":"{UNRECORDED}",{mark}}}],"messages":[{}]}}"#,
            quoted(model),
            messages.join(",")
        )
    }
}

/// Whether something was written for an hour.
fn for_an_hour(usage: &str) -> bool {
    let written = Fields::of(usage).and_then(|usage| Fields::of(usage.get("cache_creation")?));
    written.is_some_and(|written| {
        written
            .get("ephemeral_1h_input_tokens")
            .is_some_and(|tokens| tokens != "0")
    })
}

/// The blocks of a content: a text alone is one.
fn blocks(content: &str) -> Vec<String> {
    match json::items(content) {
        Some(items) => items.into_iter().map(str::to_owned).collect(),
        None if content.starts_with('"') => vec![format!(r#"{{"type":"text","text":{content}}}"#)],
        None => Vec::new(),
    }
}
