//! The protocol as JSON Schema and as TypeScript, made from its types.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::protocol::{ErrorData, METHODS, Method, NOTIFICATIONS, SERVER_REQUESTS};

/// The JSON Schema of every method and notification.
pub fn json_schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut entry = |method: &Method| {
        let params = (method.params)(&mut generator).to_value();
        let result = method.result.map(|result| result(&mut generator).to_value());
        let mut out = json!({"params": params});
        if let (Some(result), Value::Object(out)) = (result, &mut out) {
            out.insert("result".to_owned(), result);
        }
        (method.name.to_owned(), out)
    };
    let methods: Map<String, Value> = METHODS.iter().map(&mut entry).collect();
    let notifications: Map<String, Value> = NOTIFICATIONS.iter().map(&mut entry).collect();
    let asked: Map<String, Value> = SERVER_REQUESTS.iter().map(&mut entry).collect();
    let error = generator.subschema_for::<ErrorData>().to_value();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "bindery app-server",
        "methods": methods,
        "serverRequests": asked,
        "notifications": notifications,
        "errorData": error,
        "$defs": generator.take_definitions(true),
    })
}

/// The same as TypeScript.
pub fn typescript() -> String {
    let schema = json_schema();
    let mut lines = vec!["// Made by `bindery app-server schema --typescript`; do not edit.".to_owned()];
    for (name, definition) in entries(&schema, "$defs") {
        lines.extend(comment(definition, ""));
        let Some(properties) = definition.get("properties").and_then(Value::as_object) else {
            lines.push(format!("export type {name} = {};", typed(definition)));
            continue;
        };
        lines.push(format!("export interface {name} {{"));
        let required = definition.get("required").and_then(Value::as_array);
        let needed = |key: &str| required.is_some_and(|all| all.iter().any(|one| one == key));
        for (key, property) in properties {
            lines.extend(comment(property, "  "));
            let mark = if needed(key) { "" } else { "?" };
            lines.push(format!("  {key}{mark}: {};", typed(property)));
        }
        lines.push("}".to_owned());
    }
    for (title, key) in [
        ("Methods", "methods"),
        ("ServerRequests", "serverRequests"),
        ("Notifications", "notifications"),
    ] {
        lines.push(format!("export interface {title} {{"));
        for (name, method) in entries(&schema, key) {
            let params = method.get("params").map_or_else(|| "never".to_owned(), typed);
            lines.push(match method.get("result") {
                Some(result) => format!("  \"{name}\": {{ params: {params}; result: {} }};", typed(result)),
                None => format!("  \"{name}\": {params};"),
            });
        }
        lines.push("}".to_owned());
    }
    lines.push(String::new());
    lines.join("\n")
}

fn entries<'v>(schema: &'v Value, key: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    schema.get(key).and_then(Value::as_object).into_iter().flatten()
}

fn comment(schema: &Value, indent: &str) -> Option<String> {
    let text = schema.get("description").and_then(Value::as_str)?;
    Some(format!("{indent}/** {} */", text.replace('\n', " ")))
}

/// A schema as a type.
fn typed(schema: &Value) -> String {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    if let Some(name) = text("$ref").and_then(|path| path.rsplit('/').next()) {
        return name.to_owned();
    }
    if let Some(constant) = schema.get("const") {
        return constant.to_string();
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(all) = schema.get(key).and_then(Value::as_array) {
            return all.iter().map(typed).collect::<Vec<_>>().join(" | ");
        }
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return words.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    match schema.get("type") {
        Some(Value::Array(types)) => types
            .iter()
            .map(|one| named(one, schema))
            .collect::<Vec<_>>()
            .join(" | "),
        Some(one) => named(one, schema),
        None => "unknown".to_owned(),
    }
}

fn named(name: &Value, schema: &Value) -> String {
    match name.as_str().unwrap_or_default() {
        "string" => "string".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "boolean".to_owned(),
        "null" => "null".to_owned(),
        "array" => {
            let item = schema.get("items").map_or_else(|| "unknown".to_owned(), typed);
            format!("({item})[]")
        }
        "object" => match schema.get("properties").and_then(Value::as_object) {
            None => "Record<string, unknown>".to_owned(),
            Some(properties) => {
                let fields: Vec<String> = properties
                    .iter()
                    .map(|(key, value)| format!("{key}: {}", typed(value)))
                    .collect();
                format!("{{ {} }}", fields.join("; "))
            }
        },
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_checked_in_is_what_the_types_say() {
        let json = format!("{:#}\n", json_schema());
        let same = json == include_str!("../../../../schema/app-server.json");
        assert!(
            same,
            "put the output of `bindery app-server schema` into schema/app-server.json"
        );
        let same = typescript() == include_str!("../../../../schema/app-server.ts");
        assert!(
            same,
            "put the output of `bindery app-server schema --typescript` into schema/app-server.ts"
        );
    }
}
