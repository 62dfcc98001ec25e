//! The person at the terminal, if there is one.

use std::collections::VecDeque;
use std::io::{self, BufRead, IsTerminal, Read};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bindery_agent::Mail;
use tokio::sync::oneshot;

/// Standard input, read by one thread for everybody who waits for a line.
#[derive(Clone)]
pub(super) struct People {
    terminal: bool,
    desk: Arc<Desk>,
}

/// Who gets the next line: whoever asked for one, else the turn that runs, else whoever asks next.
///
/// A line that is typed while nobody asks is never the answer to a question that comes later.
#[derive(Default)]
struct Desk {
    open: OnceLock<()>,
    lines: Mutex<Lines>,
}

#[derive(Default)]
struct Lines {
    asker: Option<oneshot::Sender<String>>,
    turn: Option<Mail>,
    waiting: VecDeque<String>,
    closed: bool,
}

impl People {
    /// Whoever sits here.
    pub(super) fn here() -> Self {
        Self {
            terminal: io::stdin().is_terminal() && io::stderr().is_terminal(),
            desk: Arc::default(),
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
        let waiting = self.desk.lock().waiting.pop_front();
        match waiting {
            Some(line) => Some(line),
            None => self.answer().await,
        }
    }

    /// The answer to a question that stands on the screen; nothing that was typed before it. `None` when
    /// there will be none.
    pub(super) async fn answer(&self) -> Option<String> {
        self.open();
        let answer = self.desk.lock().ask()?;
        answer.await.ok()
    }

    /// Lines go to this turn from here on, unless somebody asks for one.
    pub(super) fn steer(&self, mail: Mail) {
        if self.terminal {
            self.open();
            self.desk.lock().turn = Some(mail);
        }
    }

    /// The turn is over.
    pub(super) fn rest(&self) {
        self.desk.lock().turn = None;
    }

    fn open(&self) {
        let desk = self.desk.clone();
        self.desk.open.get_or_init(|| {
            std::thread::spawn(move || {
                for line in io::stdin().lock().lines() {
                    let Ok(line) = line else { break };
                    desk.lock().deliver(line);
                }
                let mut lines = desk.lock();
                lines.closed = true;
                lines.asker = None;
            });
        });
    }
}

impl Desk {
    /// The queue stays whole whatever a panic interrupted: each change is one assignment.
    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    fn ask(&mut self) -> Option<oneshot::Receiver<String>> {
        let (to, answer) = oneshot::channel();
        self.asker = (!self.closed).then_some(to);
        self.asker.is_some().then_some(answer)
    }

    fn deliver(&mut self, line: String) {
        // Who asked may have gone away since: a cancelled turn withdraws its question.
        let line = match self.asker.take().map(|asker| asker.send(line.clone())) {
            Some(Ok(())) => return,
            Some(Err(line)) => line,
            None => line,
        };
        if line.trim().is_empty() && self.turn.is_some() {
            return;
        }
        if !self.turn.as_ref().is_some_and(|mail| mail.steer(line.as_str())) {
            self.waiting.push_back(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_to_whoever_asked_then_waits_for_the_next() {
        let mut lines = Lines::default();
        let (to, mut answer) = oneshot::channel();
        lines.asker = Some(to);
        lines.deliver("yes".to_owned());
        assert_eq!(answer.try_recv().unwrap(), "yes");
        let (to, gone) = oneshot::channel();
        lines.asker = Some(to);
        drop(gone);
        lines.deliver("too late".to_owned());
        assert_eq!(lines.waiting, ["too late"]);
    }
}
