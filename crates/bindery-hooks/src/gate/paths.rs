//! Which paths a call is about.

use serde_json::{Map, Value};

/// Fields whose text is one path, in the tools of the clients and ours.
const FIELDS: [&str; 4] = ["path", "file_path", "notebook_path", "filename"];
/// What stands before a path in a patch as Codex writes them.
const PATCH: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// The paths that a call names, relative to `root` where they lie in it. Empty where it names none: what a
/// shell command touches cannot be known.
pub fn paths(input: &Map<String, Value>, cwd: &str, root: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let named = FIELDS
        .iter()
        .filter_map(|field| input.get(*field).and_then(Value::as_str));
    let lines = input.values().filter_map(Value::as_str).flat_map(str::lines);
    let patched = lines.filter_map(|line| PATCH.iter().find_map(|start| line.strip_prefix(start)));
    for path in named.chain(patched) {
        let path = relative(&lexical(cwd, path.trim()), root);
        if !out.contains(&path) {
            out.push(path);
        }
    }
    out
}

/// A path without `.` and `..`, from `base` where it is relative. Links are not followed.
pub fn lexical(base: &str, path: &str) -> String {
    let whole = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{base}/{path}")
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    format!("/{}", parts.join("/"))
}

fn relative(path: &str, root: &str) -> String {
    let root = lexical("/", root);
    let inner = path.strip_prefix(&root).and_then(|rest| rest.strip_prefix('/'));
    inner.unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_found_where_clients_write_them_and_cannot_sneak_around() {
        let of = |input: Value| paths(input.as_object().unwrap(), "/p/sub", "/p");
        assert_eq!(of(json!({"file_path": "/p/src/a.rs"})), ["src/a.rs"]);
        assert_eq!(of(json!({"path": "../src/./a.rs"})), ["src/a.rs"]);
        assert_eq!(of(json!({"path": "docs/../../src/a.rs"})), ["src/a.rs"]);
        assert_eq!(of(json!({"path": "../../../etc/x"})), ["/etc/x"]);
        let patch = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: /p/b.rs\n*** End Patch";
        assert_eq!(of(json!({"input": patch})), ["sub/a.rs", "b.rs"]);
        assert_eq!(of(json!({"command": "sed -i s/a/b/ x"})), [""; 0]);
    }
}
