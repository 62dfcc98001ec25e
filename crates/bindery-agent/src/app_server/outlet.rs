//! What goes out: whole lines, in order, to one client.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use bindery_core::log::{Event, Payload};
use bindery_sources::Notice;
use bindery_wire::ReplyEvent;
use serde::Serialize;
use serde_json::{Value, json};

use super::protocol::{
    DeltaNotification, Item, ItemNotification, Usage, UsageNotification, WarningNotification,
};
use crate::watch::Watch;

/// Where lines go. Writing waits until the client took them: there is no queue that could grow. Clones are one.
#[derive(Clone)]
pub struct Outlet {
    to: Arc<Mutex<Box<dyn Write + Send>>>,
}

impl Outlet {
    /// Lines go there.
    pub fn new(to: impl Write + Send + 'static) -> Self {
        Self {
            to: Arc::new(Mutex::new(Box::new(to))),
        }
    }

    /// Lines go there from here on.
    pub fn redirect(&self, to: impl Write + Send + 'static) {
        *self.lock() = Box::new(to);
    }

    pub(super) fn send(&self, line: &Value) -> io::Result<()> {
        let mut to = self.lock();
        writeln!(to, "{line}")?;
        to.flush()
    }

    /// Tells the client something. One that is gone hears nothing, and the session goes on.
    pub(super) fn notify(&self, method: &str, params: &impl Serialize) {
        let params = serde_json::to_value(params).unwrap_or_default();
        let _gone = self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Box<dyn Write + Send>> {
        self.to.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the client what happens in one session.
pub(super) struct Told {
    pub(super) thread: String,
    pub(super) outlet: Outlet,
    pub(super) total: bindery_core::Usage,
}

/// Events that are not items: the bookkeeping of requests.
const BOOKKEEPING: [&str; 12] = [
    "session_started",
    "inbox_enqueued",
    "inbox_claimed",
    "turn_started",
    "turn_ended",
    "step_started",
    "step_ended",
    "header_set",
    "attempt_started",
    "attempt_ended",
    "usage_reported",
    "setting_changed",
];

impl Watch for Told {
    fn committed(&mut self, events: &[Event]) {
        for event in events {
            if let Payload::UsageReported(reported) = &event.payload {
                self.total += reported.usage;
                let told = UsageNotification {
                    thread_id: self.thread.clone(),
                    last: usage(&reported.usage),
                    total: usage(&self.total),
                };
                self.outlet.notify("thread/tokenUsage/updated", &told);
            } else if !BOOKKEEPING.contains(&event.payload.kind()) {
                let told = ItemNotification {
                    thread_id: self.thread.clone(),
                    item: item(event),
                };
                self.outlet.notify("item/completed", &told);
            }
        }
    }

    fn replying(&mut self, event: &ReplyEvent) {
        if let ReplyEvent::TextDelta { text, .. } = event {
            let told = DeltaNotification {
                thread_id: self.thread.clone(),
                delta: text.clone(),
            };
            self.outlet.notify("item/agentMessage/delta", &told);
        }
    }

    fn told(&mut self, notices: &[Notice]) {
        for notice in notices {
            let told = WarningNotification {
                thread_id: self.thread.clone(),
                message: notice.to_string(),
            };
            self.outlet.notify("warning", &told);
        }
    }
}

/// An event as the client sees it.
pub(super) fn item(event: &Event) -> Item {
    let data = event
        .encode()
        .ok()
        .and_then(|record| serde_json::from_str(&record.data).ok());
    Item {
        seq: event.seq.get(),
        r#type: event.payload.kind().to_owned(),
        data: data.unwrap_or_default(),
    }
}

fn usage(usage: &bindery_core::Usage) -> Usage {
    Usage {
        input_tokens: usage.uncached,
        cached_input_tokens: usage.read,
        cache_write_tokens: usage.written(),
        output_tokens: usage.generated(),
    }
}
