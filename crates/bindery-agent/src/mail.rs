//! What is said to a session while its turn runs.
//!
//! Whoever wants to say something need not hold the agent: a [`Mail`] is sent from any thread. The loop
//! takes letters in wherever it waits, and each is an item of the durable inbox before anything follows
//! from it.

use bindery_core::log::Intake;
use bindery_store::StoreError;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::agent::Agent;

/// Something to say.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Letter {
    text: String,
    intake: Intake,
}

/// The way to an agent that is busy. Clones lead to the same one.
#[derive(Debug, Clone)]
pub struct Mail {
    to: UnboundedSender<Letter>,
}

impl Mail {
    /// Says something with the next step. `false` if the agent is gone; then nobody will hear it.
    pub fn steer(&self, text: impl Into<String>) -> bool {
        let text = text.into();
        let intake = Intake::Steer;
        self.to.send(Letter { text, intake }).is_ok()
    }
}

/// Where letters arrive.
pub(crate) struct Mailbox {
    from: UnboundedReceiver<Letter>,
    mail: Mail,
    /// A letter that was taken and is not in the log yet.
    taken: Option<Letter>,
}

impl Default for Mailbox {
    fn default() -> Self {
        let (to, from) = unbounded_channel();
        Self {
            from,
            mail: Mail { to },
            taken: None,
        }
    }
}

impl Mailbox {
    /// Waits for a letter, and keeps it until it is collected. Dropping the future loses none.
    pub(crate) async fn arrival(&mut self) {
        // The box holds a sender itself, so that the channel never closes.
        if self.taken.is_none() {
            self.taken = self.from.recv().await;
        }
    }

    fn next(&mut self) -> Option<Letter> {
        self.taken.take().or_else(|| self.from.try_recv().ok())
    }
}

impl Agent {
    /// The way to this agent while a turn runs.
    pub fn mail(&self) -> Mail {
        self.mailbox.mail.clone()
    }

    /// Puts every letter that arrived into the inbox, durably. A turn does so by itself; what arrives
    /// after its end waits for the next one, or for this.
    pub fn collect(&mut self) -> Result<(), StoreError> {
        while let Some(Letter { text, intake }) = self.mailbox.next() {
            let id = format!("steer-{}", self.state().next_seq());
            self.say(&id, &text, intake)?;
        }
        Ok(())
    }
}
