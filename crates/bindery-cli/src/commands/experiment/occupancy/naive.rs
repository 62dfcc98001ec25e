//! What harnesses do that know nothing of kinds.

use bindery::compaction::{Cut, extract};
use bindery::history::normalise;
use bindery::log::Seq;
use bindery::{Kind, Message, Part, Role};

use super::Policy;
use super::scene::Act;

/// Drops the oldest messages until half of the room is free.
pub(super) struct TruncateOldest {
    messages: Vec<Message>,
    target: u64,
}

impl TruncateOldest {
    pub(super) fn new(target: u64) -> Self {
        Self {
            messages: Vec::new(),
            target,
        }
    }
}

impl Policy for TruncateOldest {
    fn name(&self) -> &'static str {
        "truncate oldest"
    }

    fn follow(&mut self, act: &Act) -> anyhow::Result<()> {
        self.messages.push(act.message(self.messages.len()));
        Ok(())
    }

    fn make_room(&mut self) -> anyhow::Result<Option<u64>> {
        let mut tokens: u64 = self.messages.iter().map(tokens).sum();
        let mut first = 0;
        for message in &self.messages {
            if tokens <= self.target {
                break;
            }
            tokens -= super::naive::tokens(message);
            first += 1;
        }
        // The cut may not begin with the results of calls that are gone.
        let starts = |message: &Message| {
            !message
                .parts
                .iter()
                .any(|part| matches!(part, Part::ToolResult { .. }))
        };
        let rest = self.messages.split_off(first.min(self.messages.len()));
        self.messages = rest.into_iter().skip_while(|message| !starts(message)).collect();
        Ok(None)
    }

    fn messages(&self) -> Vec<Message> {
        normalise(&self.messages).messages.into_owned()
    }

    fn read(&self, _: &str) -> Option<String> {
        None
    }
}

/// The most bytes of a prompt that a summary keeps.
const ASKED: usize = 600;

/// The bytes of a summary of everything.
const SUMMARY: usize = 8_000;

/// Replaces everything by a summary, as long as summaries are.
#[derive(Default)]
pub(super) struct SummariseAll {
    messages: Vec<Message>,
}

impl Policy for SummariseAll {
    fn name(&self) -> &'static str {
        "summarise all"
    }

    fn follow(&mut self, act: &Act) -> anyhow::Result<()> {
        self.messages.push(act.message(self.messages.len()));
        Ok(())
    }

    /// The scripted summary keeps what the user said, which every summariser is told to, and the newest work in
    /// detail; it forgets where it put the rest.
    fn make_room(&mut self) -> anyhow::Result<Option<u64>> {
        let messages = std::mem::take(&mut self.messages);
        let prompts = messages.iter().flat_map(Message::fragments);
        let prompts = prompts.filter(|one| one.kind == Kind::UserPrompt);
        let mut text = String::new();
        for one in prompts {
            let said = one.text.get(..one.text.floor_char_boundary(ASKED));
            text += "- user: ";
            text += said.unwrap_or_default();
            text.push('\n');
        }
        let cut = Cut {
            shadowed: Vec::new(),
            messages: messages
                .into_iter()
                .map(|message| (Seq::FIRST, message))
                .collect(),
            carried: Vec::new(),
            stays: 0,
        };
        let record = extract(&cut, SUMMARY.saturating_sub(text.len())).record;
        let lines = record.lines().map(|line| match line.split_once(" [") {
            Some((told, rest)) if rest.contains("blob:") => told.to_owned(),
            _ => line.to_owned(),
        });
        let rest: Vec<String> = lines.filter(|line| !line.contains("blob:")).collect();
        text.push_str(&rest.join("\n"));
        let tokens = text.len() as u64 / 4;
        let message = Message::user(
            "message:summary",
            format!("Summary of the conversation so far:\n{text}"),
        );
        self.messages = vec![Message {
            role: Role::User,
            ..message
        }];
        Ok(Some(tokens))
    }

    fn messages(&self) -> Vec<Message> {
        normalise(&self.messages).messages.into_owned()
    }

    fn read(&self, _: &str) -> Option<String> {
        None
    }
}

fn tokens(message: &Message) -> u64 {
    message.fragments().map(|one| one.text.len() as u64 / 4).sum()
}
