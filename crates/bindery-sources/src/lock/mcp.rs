//! MCP servers of a repository, and the texts of tools that servers offered when they were last asked.

use bindery_core::ContentHash;
use serde_json::Value;

use super::{Content, Entry, Item, Key, Kind};
use crate::dialect::Scope;
use crate::mcp::{self, McpServer, Owner, SeenTools, ToolText};
use crate::notice::Notice;
use crate::places::Places;

/// The servers that the project declares, one item for each; and files that cannot be read.
pub fn mcp_servers(places: &Places) -> (Vec<Item>, Vec<Notice>) {
    let (files, notices) = mcp::of_project(places);
    let entries = files.iter().flat_map(|file| {
        let servers = file.servers.iter();
        servers.map(|(name, value)| server_item(&file.shown, name, value))
    });
    (entries.collect(), notices)
}

/// The entry of one server.
pub(crate) fn server_item(shown: &str, name: &str, value: &Value) -> Item {
    // Pretty, so that a later change shows as lines; the order of keys is the file's.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    text.push('\n');
    Item {
        key: Key {
            kind: Kind::McpServer,
            scope: Scope::Project,
            path: shown.to_owned(),
            within: Some(crate::visible::escaped(name)),
        },
        hash: ContentHash::of(text.as_bytes()),
        content: Content::Text(text),
        entry: Entry::Runs,
    }
}

/// The tools of these servers as they were last seen.
pub fn mcp_tools(servers: &[McpServer], seen: &SeenTools) -> Vec<Item> {
    let of = |server: &McpServer| -> Vec<Item> {
        let tools = seen.read(&server.name).unwrap_or_default();
        tools.iter().map(|tool| tool_item(server, tool)).collect()
    };
    servers.iter().flat_map(of).collect()
}

/// What a server says of one tool.
pub fn tool_item(server: &McpServer, tool: &ToolText) -> Item {
    let text = tool.text();
    Item {
        key: Key {
            kind: Kind::McpTool,
            scope: match server.owner {
                Owner::Project => Scope::Project,
                Owner::User | Owner::Given => Scope::User,
            },
            path: format!("mcp:{}", crate::visible::escaped(&server.name)),
            within: Some(crate::visible::escaped(&tool.name)),
        },
        hash: ContentHash::of(text.as_bytes()),
        content: Content::Text(text),
        entry: Entry::Enters,
    }
}
