//! The person at the terminal, if there is one.

use std::io::{self, BufRead, IsTerminal, Read};
use std::sync::{Arc, OnceLock};

use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Standard input, read by one thread for everybody who waits for a line.
#[derive(Clone)]
pub(super) struct People {
    terminal: bool,
    lines: Arc<OnceLock<Mutex<UnboundedReceiver<String>>>>,
}

impl People {
    /// Whoever sits here.
    pub(super) fn here() -> Self {
        Self {
            terminal: io::stdin().is_terminal() && io::stderr().is_terminal(),
            lines: Arc::default(),
        }
    }

    /// Whether somebody sees a question and can answer.
    pub(super) fn can_be_asked(&self) -> bool {
        self.terminal
    }

    /// All of standard input, where that is no terminal.
    pub(super) fn everything() -> io::Result<String> {
        let mut text = String::new();
        if !io::stdin().is_terminal() {
            io::stdin().read_to_string(&mut text)?;
        }
        Ok(text)
    }

    /// The next line; `None` when there are no more.
    pub(super) async fn line(&self) -> Option<String> {
        let lines = self.lines.get_or_init(|| {
            let (to, from) = unbounded_channel();
            std::thread::spawn(move || {
                for line in io::stdin().lock().lines() {
                    let Ok(line) = line else { return };
                    if to.send(line).is_err() {
                        return;
                    }
                }
            });
            Mutex::new(from)
        });
        lines.lock().await.recv().await
    }
}
