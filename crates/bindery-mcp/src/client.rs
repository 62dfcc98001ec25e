//! What a server may ask of us: nothing but to look at its tools again.

use std::sync::Arc;

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::Notify;

/// Our side of a connection. It offers no capability: no sampling, no roots, no questions to people.
pub(crate) struct Client {
    pub(crate) tools_changed: Arc<Notify>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let program = Implementation::new("bindery", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), program)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}
