//! The direction of arrows: a crate may depend only on crates of a lower level.

use anyhow::Result;
use serde_json::Value;

use crate::workspace;

/// Every crate by level, lowest first. Crates on one level do not know each other.
const LEVELS: [&[&str]; 7] = [
    &["bindery-core", "bindery-loopback"],
    &[
        "bindery-guard",
        "bindery-hooks",
        "bindery-wire",
        "bindery-cache",
        "bindery-tokens",
    ],
    &[
        "bindery-sources",
        "bindery-store",
        "bindery-providers",
        "bindery-mcp",
    ],
    &["bindery-agent", "bindery-gateway"],
    &["bindery"],
    &["bindery-cli"],
    &["xtask"],
];

/// Crates that know nothing of the outside. Each has a `clippy.toml` that bans disk, clock,
/// environment and network; this checks that the ban is there.
const PURE: [&str; 5] = [
    "bindery-core",
    "bindery-guard",
    "bindery-hooks",
    "bindery-wire",
    "bindery-cache",
];

/// What breaks the layering.
pub(crate) fn problems() -> Result<Vec<String>> {
    let root = workspace::root()?;
    let mut problems = Vec::new();
    for package in workspace::packages()? {
        let name = text(&package, "name");
        let Some(level) = level(name) else {
            problems.push(format!(
                "crate `{name}` has no level; give it one in xtask/src/layers.rs"
            ));
            continue;
        };
        if text(&package, "description").is_empty() {
            problems.push(format!("crate `{name}` has no description"));
        }
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let other = text(dependency, "name");
            if super::layers::level(other).is_some_and(|other| other >= level) {
                problems.push(format!(
                    "`{name}` depends on `{other}`, which is not on a lower level"
                ));
            }
        }
        let bans = std::fs::read_to_string(root.join("crates").join(name).join("clippy.toml"));
        if PURE.contains(&name) && !bans.is_ok_and(|bans| bans.contains("std::time::SystemTime::now")) {
            problems.push(format!("pure crate `{name}` has no clippy.toml that bans IO"));
        }
    }
    Ok(problems)
}

fn level(name: &str) -> Option<usize> {
    LEVELS.iter().position(|level| level.contains(&name))
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn arrows_point_one_way() {
        assert_eq!(super::problems().unwrap(), Vec::<String>::new());
    }
}
