//! What a request asks, whatever its protocol.

use bindery_cache::Format;
use serde_json::Value;

/// A tool that a request offers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tool {
    pub(super) name: String,
    /// The group it belongs to, where tools come in groups (Responses).
    pub(super) namespace: Option<String>,
    /// `None` for one that takes plain text.
    pub(super) schema: Option<Value>,
}

/// Which tool has to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    /// As the model likes.
    Free,
    /// None.
    None,
    /// Any.
    Any,
    /// This one.
    Named(String),
}

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ask {
    pub(super) stream: bool,
    /// Whether a stream ends with usage (Chat).
    pub(super) include_usage: bool,
    pub(super) tools: Vec<Tool>,
    pub(super) choice: Choice,
    /// The schema that the text has to follow.
    pub(super) schema: Option<Value>,
    /// The text of the last message, if the user spoke last.
    pub(super) prompt: Option<String>,
    /// The size of what the last tool returned, if one did.
    pub(super) returned: Option<usize>,
    /// The most tokens that the answer may have.
    pub(super) most_tokens: Option<u64>,
}

impl Ask {
    pub(super) fn read(format: Format, body: &Value) -> Self {
        let last = last(format, body);
        let at = |pointer: &str| body.pointer(pointer);
        let is_true = |pointer: &str| at(pointer).and_then(Value::as_bool).unwrap_or(false);
        let schema = [
            "/output_config/format/schema",
            "/text/format/schema",
            "/response_format/json_schema/schema",
        ];
        let most = ["/max_tokens", "/max_output_tokens", "/max_completion_tokens"];
        Self {
            stream: is_true("/stream"),
            include_usage: is_true("/stream_options/include_usage"),
            tools: tools(body),
            choice: choice(body),
            schema: schema.into_iter().find_map(at).cloned(),
            prompt: last.filter(|last| !is_result(last)).map(text),
            returned: last.filter(|last| is_result(last)).map(|last| text(last).len()),
            most_tokens: most.into_iter().find_map(at).and_then(Value::as_u64),
        }
    }
}

/// The last message or item of the user's side.
fn last(format: Format, body: &Value) -> Option<&Value> {
    let list = if format == Format::OpenaiResponses {
        "input"
    } else {
        "messages"
    };
    let list = body.get(list)?;
    let Some(items) = list.as_array() else {
        return Some(list);
    };
    let is_aside = |item: &&Value| {
        let role = item.get("role").and_then(Value::as_str);
        matches!(role, Some("system" | "developer"))
            || item.get("type").is_some_and(|kind| kind == "additional_tools")
    };
    items.iter().rev().find(|item| !is_aside(item))
}

fn is_result(item: &Value) -> bool {
    let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
    let of_tool = item.get("role").is_some_and(|role| role == "tool")
        || kind.ends_with("_output")
        || kind == "tool_result";
    let blocks = item
        .get("content")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    of_tool
        || blocks
            .into_iter()
            .any(|block| block.get("type").is_some_and(|kind| kind == "tool_result"))
}

/// All text of a message, item or part.
fn text(item: &Value) -> String {
    match item {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .map(text)
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join("\n"),
        Value::Object(fields) => ["text", "content", "output"]
            .into_iter()
            .filter_map(|name| fields.get(name))
            .map(text)
            .collect(),
        _ => String::new(),
    }
}

fn tools(body: &Value) -> Vec<Tool> {
    let mut out = Vec::new();
    let listed = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    listed.for_each(|tool| add(tool, None, &mut out));
    let items = body.get("input").and_then(Value::as_array).into_iter().flatten();
    let items = items.filter(|item| item.get("type").is_some_and(|kind| kind == "additional_tools"));
    let later = items.filter_map(|item| item.get("tools")?.as_array()).flatten();
    later.for_each(|tool| add(tool, None, &mut out));
    out
}

fn add(tool: &Value, namespace: Option<&str>, out: &mut Vec<Tool>) {
    let inner = tool.get("function").unwrap_or(tool);
    let Some(name) = inner.get("name").and_then(Value::as_str) else {
        return;
    };
    if let Some(tools) = inner.get("tools").and_then(Value::as_array) {
        for tool in tools {
            add(tool, Some(name), out);
        }
        return;
    }
    let schema = ["input_schema", "parameters"]
        .into_iter()
        .find_map(|key| inner.get(key));
    let schema = schema.filter(|schema| schema.is_object());
    // Others without a schema are the provider's own.
    if schema.is_some() || tool.get("type").is_some_and(|kind| kind == "custom") {
        out.push(Tool {
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            schema: schema.cloned(),
        });
    }
}

fn choice(body: &Value) -> Choice {
    let Some(choice) = body.get("tool_choice") else {
        return Choice::Free;
    };
    let word = choice
        .as_str()
        .or_else(|| choice.get("type").and_then(Value::as_str));
    let name = choice.get("name").or_else(|| choice.pointer("/function/name"));
    match (word, name.and_then(Value::as_str)) {
        (_, Some(name)) => Choice::Named(name.to_owned()),
        (Some("none"), _) => Choice::None,
        (Some("any" | "required"), _) => Choice::Any,
        _ => Choice::Free,
    }
}
