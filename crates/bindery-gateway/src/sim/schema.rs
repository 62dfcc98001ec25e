//! The smallest value that a JSON schema takes, as far as its usual words go.

use serde_json::{Map, Value, json};

/// How deep schemas are followed.
const DEEPEST: usize = 8;

/// A value of a schema.
pub(super) fn instance(schema: &Value) -> Value {
    value(schema, 0)
}

fn value(schema: &Value, depth: usize) -> Value {
    let field = |name: &str| schema.get(name);
    if let Some(given) = field("const").or_else(|| field("default")) {
        return given.clone();
    }
    let first = |name: &str| field(name).and_then(Value::as_array).and_then(|all| all.first());
    if let Some(given) = first("enum") {
        return given.clone();
    }
    if depth == DEEPEST {
        return Value::Null;
    }
    if let Some(other) = ["anyOf", "oneOf", "allOf"].into_iter().find_map(first) {
        return value(other, depth + 1);
    }
    let kind = field("type").and_then(|kind| kind.as_str().or_else(|| kind.as_array()?.first()?.as_str()));
    match kind {
        Some("object") => object(schema, depth),
        None if field("properties").is_some() => object(schema, depth),
        Some("array") => {
            let wanted = field("minItems").and_then(Value::as_u64).unwrap_or(0).min(4);
            let item = field("items").map_or(Value::Null, |items| value(items, depth + 1));
            (0..wanted).map(|_| item.clone()).collect()
        }
        Some("integer" | "number") => field("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("boolean") => json!(false),
        Some("null") => Value::Null,
        _ => json!("simulated"),
    }
}

fn object(schema: &Value, depth: usize) -> Value {
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let fields: Map<String, Value> = required
        .filter_map(Value::as_str)
        .map(|name| {
            let inner = schema.get("properties").and_then(|all| all.get(name));
            (
                name.to_owned(),
                inner.map_or(json!("simulated"), |inner| value(inner, depth + 1)),
            )
        })
        .collect();
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_value_has_what_is_required() {
        let schema = json!({"type": "object", "required": ["title", "n", "kind", "list"], "properties": {
            "title": {"type": "string"}, "n": {"type": "integer", "minimum": 3}, "left_out": {"type": "string"},
            "kind": {"enum": ["a", "b"]},
            "list": {"type": "array", "minItems": 1, "items": {"type": ["boolean", "null"]}}}});
        let expected = json!({"title": "simulated", "n": 3, "kind": "a", "list": [false]});
        assert_eq!(instance(&schema), expected);
    }

    #[test]
    fn a_schema_without_end_ends() {
        let mut schema = json!({"type": "string"});
        for _ in 0..100 {
            schema = json!({"type": "object", "required": ["x"], "properties": {"x": schema}});
        }
        assert!(instance(&schema).is_object());
    }
}
