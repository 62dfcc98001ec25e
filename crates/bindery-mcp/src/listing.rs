//! What a server says of itself.

use rmcp::RoleClient;
use rmcp::model::{PaginatedRequestParams, Tool};
use rmcp::service::{Peer, ServiceError};
use serde_json::Value;

use crate::MOST_TOOLS;

/// A server's own words: all of them from outside, none of them scanned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Its name and version, as it gives them.
    pub server: String,
    /// How it wants to be used.
    pub instructions: Option<String>,
    /// Its tools, by name; of several with one name the first.
    pub tools: Vec<Listed>,
    /// How many tools bear a name that another one has.
    pub repeated: usize,
    /// Whether the list went on beyond what is read of one.
    pub cut: bool,
}

/// A tool, as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The schema of its input.
    pub schema: Value,
}

impl From<Tool> for Listed {
    fn from(tool: Tool) -> Self {
        let said = tool.description.map(String::from);
        Self {
            name: tool.name.into_owned(),
            description: said.or(tool.title).unwrap_or_default(),
            schema: Value::Object((*tool.input_schema).clone()),
        }
    }
}

/// The most pages of a list: a server that always names a next one is not followed for ever.
const MOST_PAGES: usize = 1_000;

/// Reads a server's list of tools.
pub(crate) async fn read(peer: &Peer<RoleClient>) -> Result<Listing, ServiceError> {
    let mut out = Listing::default();
    if let Some(info) = peer.peer_info() {
        let named = info.server_info.as_ref();
        out.server = named.map_or_else(String::new, |it| format!("{} {}", it.name, it.version));
        out.instructions = info.instructions.clone().filter(|text| !text.trim().is_empty());
        if info.capabilities.tools.is_none() {
            return Ok(out);
        }
    }
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let mut params = PaginatedRequestParams::default();
        params.cursor = cursor;
        let page = peer.list_tools(Some(params)).await?;
        let room = MOST_TOOLS.saturating_sub(out.tools.len());
        out.cut |= page.tools.len() > room;
        out.tools
            .extend(page.tools.into_iter().take(room).map(Listed::from));
        cursor = page.next_cursor;
        if cursor.is_none() || out.cut {
            break;
        }
    }
    out.cut |= cursor.is_some();
    let all = out.tools.len();
    // Stable: the first of a name stays.
    out.tools.sort_by(|a, b| a.name.cmp(&b.name));
    out.tools.dedup_by(|later, first| later.name == first.name);
    out.repeated = all - out.tools.len();
    Ok(out)
}
