//! Our app server's methods beside those of the installed Codex: the table of `docs/app-server.md`, made from
//! both schemas. `cargo xtask control` fails where the page says something else.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::client::Client;
use super::install::Installed;
use super::process::{bare, run as run_program};
use crate::say;

/// The page.
const PAGE: &str = "docs/app-server.md";
/// The row above the table's.
const HEAD: &str = "| method | the same | ours alone | theirs alone |\n|---|---|---|---|\n";

/// Has Codex write its schema and compares the page with it.
pub(super) fn check(installed: &Installed, root: &Path) -> Result<()> {
    let (home, out) = (root.join("home"), root.join("schema"));
    fs::create_dir_all(&home)?;
    let mut command = bare(&installed.program(Client::Codex), root);
    command
        .args(["app-server", "generate-json-schema", "--experimental", "--out"])
        .arg(&out)
        .env("HOME", &home)
        .env("TMPDIR", root);
    run_program(&mut command, &root.join("logs"))?;
    let read = |path: &Path| -> Result<Value> {
        let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        Ok(serde_json::from_str(&text)?)
    };
    let theirs = read(&out.join("ClientRequest.json"))?;
    let ours = read(Path::new("schema/app-server.json"))?;
    let table = table(&ours, &theirs);
    let page = fs::read_to_string(PAGE)?;
    if !page.contains(&table) {
        bail!("{PAGE} lacks the table that the schemas give:\n\n{table}");
    }
    say(&format!(
        "app server: {} methods beside Codex's, as {PAGE} has them",
        table.lines().count() - 2
    ));
    Ok(())
}

/// A row for each of our methods.
fn table(ours: &Value, theirs: &Value) -> String {
    let mut out = HEAD.to_owned();
    let methods = ours.get("methods").and_then(Value::as_object);
    for (name, method) in methods.into_iter().flatten() {
        let own = method
            .get("params")
            .map_or_else(Vec::new, |params| names(ours, params));
        let row = match params_of(theirs, name) {
            None => format!("| `{name}` | there is no such method | {} | |", list(&own)),
            Some(params) => {
                let other = names(theirs, params);
                let (same, alone): (Vec<_>, Vec<_>) = own.into_iter().partition(|name| other.contains(name));
                let rest = other.iter().filter(|name| !same.contains(name)).count();
                let rest = if rest == 0 {
                    String::new()
                } else {
                    rest.to_string()
                };
                format!("| `{name}` | {} | {} | {rest} |", list(&same), list(&alone))
            }
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{row}");
    }
    out
}

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// The parameters of a method in Codex's schema of client requests.
fn params_of<'v>(schema: &'v Value, method: &str) -> Option<&'v Value> {
    let requests = schema.get("oneOf").and_then(Value::as_array)?;
    let is = |request: &&Value| {
        request
            .pointer("/properties/method/enum/0")
            .and_then(Value::as_str)
            == Some(method)
    };
    requests.iter().find(is)?.pointer("/properties/params")
}

/// The names of an object's properties, its reference followed.
fn names(root: &Value, schema: &Value) -> Vec<String> {
    let path = schema
        .get("$ref")
        .and_then(Value::as_str)
        .map(|path| path.trim_start_matches('#'));
    let object = path.map_or(Some(schema), |path| root.pointer(path));
    let properties = object
        .and_then(|object| object.get("properties"))
        .and_then(Value::as_object);
    properties.map_or_else(Vec::new, |properties| properties.keys().cloned().collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_are_the_same_ours_or_theirs() {
        let ours = json!({
            "methods": {"a": {"params": {"$ref": "#/$defs/A"}}, "b": {"params": {"$ref": "#/$defs/A"}}},
            "$defs": {"A": {"properties": {"x": {}, "y": {}}}},
        });
        let theirs = json!({
            "oneOf": [{"properties": {"method": {"enum": ["a"]}, "params": {"$ref": "#/definitions/P"}}}],
            "definitions": {"P": {"properties": {"x": {}, "z": {}}}},
        });
        let rows: Vec<String> = table(&ours, &theirs).lines().skip(2).map(str::to_owned).collect();
        assert_eq!(
            rows,
            [
                "| `a` | `x` | `y` | 1 |",
                "| `b` | there is no such method | `x`, `y` | |"
            ]
        );
    }
}
