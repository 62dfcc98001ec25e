//! Requests, one a line: a body alone, or an object that holds a body and what is known of its answer.

use super::{TranscriptExchange, moment};
use crate::Format;
use crate::json::{self, Fields};

/// Reads one line.
pub(super) fn line(number: u64, line: &str, fields: &Fields<'_>) -> Result<TranscriptExchange, String> {
    let held = fields.get("body").or_else(|| fields.get("request"));
    let body = match held {
        // A body that was kept as text.
        Some(raw) if raw.starts_with('"') => json::string(raw).unwrap_or_default().into_owned(),
        Some(raw) => raw.to_owned(),
        None => line.to_owned(),
    };
    let fields = if held.is_some() { Some(fields) } else { None };
    let text = |names: &[&str]| -> Option<std::sync::Arc<str>> {
        let fields = fields?;
        names
            .iter()
            .find_map(|name| fields.text(name))
            .map(|text| text.as_ref().into())
    };
    let number_of = |names: &[&str]| {
        let fields = fields?;
        names.iter().find_map(|name| fields.get(name)?.parse().ok())
    };
    let raw = |name: &str| {
        let raw = fields?.get(name)?;
        (raw != "null").then(|| raw.to_owned())
    };
    let format = match text(&["format"]) {
        Some(name) => name.parse::<Format>().map_err(|error| error.to_string())?,
        None => Format::of_body(&body).ok_or_else(|| {
            "no request: it has neither `body` nor `messages` nor `input` nor `contents`".to_owned()
        })?,
    };
    let said = text(&["at", "timestamp", "time"]);
    let at_ms = number_of(&["at_ms"]).or_else(|| moment(said.as_deref()?));
    let response = raw("response").map(|response| match json::string(&response) {
        Some(text) => text.into_owned(),
        None => response,
    });
    Ok(TranscriptExchange {
        line: number,
        at_ms,
        began_ms: number_of(&["began_ms"]),
        client: text(&["client"]),
        session: text(&["session", "session_id"]),
        agent: text(&["agent"]),
        format,
        route: text(&["route", "base_url"]),
        body,
        unknown: &[],
        usage: None,
        reported: raw("usage"),
        response,
        response_id: text(&["response_id"]),
        request_id: text(&["request_id"]),
        diagnosis: ["diagnostics", "prompt_cache_diagnostics"]
            .into_iter()
            .find_map(|name| Some(format!(r#"{{"{name}":{}}}"#, fields?.get(name)?))),
    })
}
