//! A body cut where providers' caches can tell two requests apart.

use bindery_core::{ContentHash, Lane};
use serde_json::Value;

use crate::Provider;

/// How long an entry that a mark asks for shall live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MarkLifetime {
    /// Five minutes: the default.
    FiveMinutes,
    /// One hour.
    OneHour,
}

/// The smallest piece of a body by which a cache works: a tool, a block of the system prompt, a block
/// or item of the conversation. In the order of the cached prefix: tools, system, messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The lane it came by.
    pub lane: Lane,
    /// A hash of its content and role, without any mark.
    pub hash: ContentHash,
    /// How many bytes its JSON has, without any mark.
    pub bytes: u64,
    /// Whether a breakpoint is set on it.
    pub mark: Option<MarkLifetime>,
    /// Whether a message of the user's side ends with it.
    pub ends_user_message: bool,
}

impl Segment {
    /// The segments of a provider's body.
    pub fn of_body(provider: Provider, body: &[u8]) -> Result<Vec<Self>, serde_json::Error> {
        let body: Value = serde_json::from_slice(body)?;
        let mut out = Vec::new();
        let list = |key: &str| body.get(key).and_then(Value::as_array).into_iter().flatten();
        for tool in list("tools") {
            out.push(Self::new(Lane::Tools, "tool", tool, false));
        }
        for key in ["system", "instructions"] {
            match body.get(key) {
                Some(Value::Array(blocks)) => {
                    out.extend(
                        blocks
                            .iter()
                            .map(|block| Self::new(Lane::System, "system", block, false)),
                    );
                }
                Some(text) => out.push(Self::new(Lane::System, "system", text, false)),
                None => {}
            }
        }
        let items = match provider {
            Provider::OpenaiResponses => "input",
            _ => "messages",
        };
        for message in list(items) {
            match (provider, message.get("content")) {
                (Provider::Anthropic, Some(Value::Array(blocks))) => {
                    let role = role(message);
                    let end = blocks.len().saturating_sub(1);
                    let blocks = blocks.iter().enumerate();
                    out.extend(blocks.map(|(at, block)| {
                        Self::new(Lane::Messages, role, block, role == "user" && at == end)
                    }));
                }
                _ => out.push(Self::item(message)),
            }
        }
        Ok(out)
    }

    fn item(message: &Value) -> Self {
        let role = role(message);
        let lane = match role {
            "system" | "developer" => Lane::System,
            _ => Lane::Messages,
        };
        let ends = matches!(role, "user" | "tool" | "function_call_output");
        Self::new(lane, role, message, ends)
    }

    fn new(lane: Lane, role: &str, content: &Value, ends_user_message: bool) -> Self {
        let mark =
            content
                .get("cache_control")
                .map(|control| match control.get("ttl").and_then(Value::as_str) {
                    Some("1h") => MarkLifetime::OneHour,
                    _ => MarkLifetime::FiveMinutes,
                });
        let mut content = content.clone();
        if let Some(object) = content.as_object_mut() {
            object.shift_remove("cache_control");
        }
        let text = content.to_string();
        Self {
            lane,
            hash: ContentHash::of_fields("segment", [role.as_bytes(), text.as_bytes()]),
            bytes: text.len() as u64,
            mark,
            ends_user_message,
        }
    }
}

/// The role of a message; the type of an item that has none.
fn role(message: &Value) -> &str {
    let text = |key: &str| message.get(key).and_then(Value::as_str);
    text("role").or_else(|| text("type")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn segments(provider: Provider, body: &Value) -> Vec<Segment> {
        Segment::of_body(provider, body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_mark_is_seen_and_changes_no_hash() {
        let body = |control: Value| {
            let mut block = json!({"type": "text", "text": "a"});
            if !control.is_null() {
                block["cache_control"] = control;
            }
            segments(
                Provider::Anthropic,
                &json!({"messages": [{"role": "user", "content": [block, {"type": "text", "text": "b"}]}]}),
            )
        };
        let plain = body(Value::Null);
        let five = body(json!({"type": "ephemeral"}));
        let hour = body(json!({"type": "ephemeral", "ttl": "1h"}));
        assert_eq!(
            (
                plain[0].mark,
                plain[0].ends_user_message,
                plain[1].ends_user_message
            ),
            (None, false, true)
        );
        assert_eq!(five[0].mark, Some(MarkLifetime::FiveMinutes));
        assert_eq!(hour[0].mark, Some(MarkLifetime::OneHour));
        assert_eq!((plain[0].hash, plain[0].bytes), (hour[0].hash, hour[0].bytes));
    }

    #[test]
    fn the_order_is_that_of_the_prefix_whatever_the_body_s() {
        let body = json!({"input": [{"type": "message", "role": "developer", "content": []},
            {"type": "function_call_output", "call_id": "c", "output": "x"}],
            "instructions": "i", "tools": [{"name": "t"}]});
        let shown: Vec<_> = segments(Provider::OpenaiResponses, &body)
            .iter()
            .map(|segment| (segment.lane, segment.ends_user_message))
            .collect();
        assert_eq!(
            shown,
            [
                (Lane::Tools, false),
                (Lane::System, false),
                (Lane::System, false),
                (Lane::Messages, true)
            ]
        );
    }
}
