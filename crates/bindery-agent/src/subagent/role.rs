//! What a session is to its hooks.

use std::sync::Arc;

use serde_json::{Map, Value};

/// A session that another one sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubRole {
    /// The agent, by the name of its definition.
    pub agent: Arc<str>,
    /// Its session.
    pub session: Arc<str>,
}

impl SubRole {
    /// What hooks are told of it with every event: the names of Claude Code's protocol.
    pub(crate) fn tell(&self, fields: &mut Map<String, Value>) {
        fields.insert("agent_id".to_owned(), Value::from(&*self.session));
        fields.insert("agent_type".to_owned(), Value::from(&*self.agent));
    }
}
