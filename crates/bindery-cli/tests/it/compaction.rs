//! The suites in `scenarios/compaction`: sessions, and the next request that is right.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use bindery::budget::{Budget, BudgetReport, Measured};
use bindery::compaction::{Limits, Summary, check, cut, extract, references, replacement, wishes};
use bindery::digest::reference;
use bindery::history::normalise;
use bindery::log::{
    AssistantMessage, Event, Payload, ReplaceReason, Replacement, SessionState, StopReason, SurfaceReplaced,
    ToolReturned, UserMessage,
};
use bindery::marker::escape_reserved;
use bindery::{
    Authority, CountTokens, Fragment, Kind, Lane, Media, Message, Params, Part, Provider, Request, Role,
    Source, SystemPrompt, TokenCount, Trust, said,
};
use bindery_wire::shape_problems;

const SUITES: [&str; 3] = ["kept.md", "pairs.md", "numbers.md"];

struct Quarters;

impl CountTokens for Quarters {
    fn count(&self, text: &str) -> TokenCount {
        TokenCount::estimate(text.len().div_ceil(4) as u64)
    }

    fn name(&self) -> &'static str {
        "quarters"
    }
}

/// A session that is written line by line.
#[derive(Default)]
struct Play {
    state: SessionState,
    /// Messages that stand in the history as they are.
    given: Vec<Message>,
    /// The answer that is being written.
    answer: Vec<Part>,
    kept: BTreeMap<String, Arc<str>>,
    hook: Option<String>,
    told: Vec<String>,
}

impl Play {
    fn line(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if !matches!(word, "thinking" | "call") {
            self.answered();
        }
        match word {
            "rules" => {
                let (file, text) = rest.split_once(' ').unwrap();
                let key = format!("context:{file}");
                let rules = said(
                    key,
                    Kind::Instructions,
                    Authority::User,
                    Trust::Project,
                    spelled(text),
                );
                let path = file.into();
                let source = Source::File { path, lines: None };
                let fragment = Fragment {
                    lane: Lane::Context,
                    source,
                    ..rules
                };
                self.enters(Message::text(Role::User, vec![fragment]).meta());
            }
            "user" => self.enters(Message::user("message", spelled(rest))),
            "image" => {
                let media = Media::of_bytes("image/png", rest, rest.as_bytes(), Some((750, 400)));
                let source = Source::Setting {
                    name: "--attach".into(),
                };
                let parts = vec![Part::media("image", source, media)];
                self.enters(Message {
                    role: Role::User,
                    parts,
                    is_meta: true,
                });
            }
            "assistant" => self.answer.push(text(&spelled(rest))),
            "thinking" => {
                let fragment = by_model(Kind::Reasoning, rest);
                let source = bindery_wire::ReasoningForm::Thinking.source();
                let fragment = Fragment { source, ..fragment };
                self.answer.insert(
                    0,
                    Part::Reasoning {
                        fragment,
                        signature: "signed".into(),
                    },
                );
            }
            "call" => {
                let mut words = rest.splitn(3, ' ');
                let (id, name) = (words.next().unwrap(), words.next().unwrap());
                let input = by_model(Kind::ToolCall, words.next().unwrap_or("{}"));
                self.answer.push(Part::ToolCall {
                    id: id.into(),
                    name: name.into(),
                    input,
                });
            }
            "result" | "failed" => {
                let (id, text) = rest.split_once(' ').unwrap();
                self.returns(id, &spelled(text), word == "failed");
            }
            "given" => self.given.push(given(rest)),
            "hook" => self.hook = Some(rest.to_owned()),
            "compact" => {
                let told = self
                    .compacts(rest.parse().unwrap())
                    .unwrap_or_else(|why| format!("unchanged: {why}"));
                self.told.push(told);
            }
            other => panic!("no such line: {other}"),
        }
    }

    fn add(&mut self, payload: impl Into<Payload>) {
        let event = Event {
            seq: self.state.next_seq(),
            at_ms: 0,
            payload: payload.into(),
        };
        self.state.apply(&event).unwrap();
    }

    fn enters(&mut self, message: Message) {
        self.add(UserMessage { message, inbox: None });
    }

    fn answered(&mut self) {
        if self.answer.is_empty() {
            return;
        }
        let parts = std::mem::take(&mut self.answer);
        let calls = parts.iter().any(|part| matches!(part, Part::ToolCall { .. }));
        let stop = if calls {
            StopReason::ToolUse
        } else {
            StopReason::EndTurn
        };
        let message = Message {
            role: Role::Assistant,
            parts,
            is_meta: false,
        };
        self.add(AssistantMessage {
            message,
            attempt: None,
            stop,
        });
    }

    fn returns(&mut self, call: &str, text: &str, is_error: bool) {
        let content = said("result", Kind::ToolResult, Authority::Tool, Trust::External, text);
        self.add(ToolReturned {
            call: call.into(),
            content,
            is_error,
            synthetic: None,
            elapsed_ms: None,
            touched: Vec::new(),
            scan: None,
        });
    }

    /// As a session does it; the error is what the log would say.
    fn compacts(&mut self, recent: u64) -> Result<String, String> {
        let count = |message: &Message| message.tokens(&Quarters).value;
        let cut = cut(&self.state, recent, &count).map_err(|why| why.to_string())?;
        let extract = extract(&cut, Limits::of_room(100_000).record);
        let summary = match self.hook.take() {
            Some(text) if escape_reserved(&text) != text => {
                return Err("the hook's record holds a marker".to_owned());
            }
            Some(text) => {
                let lines = extract.record.lines().filter(|line| line.contains("blob:"));
                let text = [text.as_str()]
                    .into_iter()
                    .chain(lines)
                    .collect::<Vec<_>>()
                    .join("\n");
                Summary {
                    text,
                    by: "hook".to_owned(),
                }
            }
            None => Summary {
                text: extract.record,
                by: "extract".to_owned(),
            },
        };
        let messages = replacement(&cut, self.state.ledger(), &summary);
        check(&cut, self.state.ledger(), &messages, &extract.keep).map_err(|lost| {
            lost.iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("; ")
        })?;
        for text in &extract.keep {
            self.kept.insert(reference(&text.hash()), text.as_str().into());
        }
        let before = Measured::of_messages(cut.messages.iter().map(|(_, message)| message), &Quarters);
        let after = Measured::of_messages(&messages, &Quarters);
        let saved = before.saved_by(&after).unwrap();
        self.add(SurfaceReplaced {
            shadowed: cut.shadowed,
            replacement: Replacement::Messages(messages),
            reason: ReplaceReason::Compaction,
        });
        Ok(format!(
            "{} became {} by {}, {saved} saved, by {}",
            before.tokens, after.tokens, after.by, summary.by
        ))
    }

    fn messages(&self) -> Vec<Message> {
        let all: Vec<Message> = self.given.iter().chain(self.state.messages()).cloned().collect();
        normalise(&all).messages.into_owned()
    }

    fn texts(&self) -> String {
        let messages = self.messages();
        let texts = messages
            .iter()
            .flat_map(Message::fragments)
            .map(|one| one.text.as_str());
        texts.collect::<Vec<_>>().join("\n")
    }

    fn reached(&self) -> String {
        let mut open: Vec<String> = references(&self.texts()).into_iter().collect();
        let (mut seen, mut out) = (Vec::new(), String::new());
        while let Some(next) = open.pop() {
            if let Some(text) = self.kept.get(&next).filter(|_| !seen.contains(&next)) {
                open.extend(references(text));
                out.push_str(text);
            }
            seen.push(next);
        }
        out
    }
}

/// A message that stands in the history as it is.
fn given(line: &str) -> Message {
    let mut words = line.split(' ');
    let role = if words.next() == Some("user") {
        Role::User
    } else {
        Role::Assistant
    };
    let part = |word: &str| {
        let (kind, rest) = word.split_once(':').unwrap();
        match kind {
            "text" if role == Role::User => {
                Part::Text(Message::user("m", rest).fragments().cloned().collect())
            }
            "text" => text(rest),
            "call" => Part::ToolCall {
                id: rest.into(),
                name: "read".into(),
                input: by_model(Kind::ToolCall, "{}"),
            },
            _ => Part::ToolResult {
                id: rest.into(),
                content: said(
                    "result",
                    Kind::ToolResult,
                    Authority::Tool,
                    Trust::External,
                    format!("result of {rest}"),
                ),
                is_error: false,
            },
        }
    };
    Message {
        role,
        parts: words.map(part).collect(),
        is_meta: false,
    }
}

fn by_model(kind: Kind, text: &str) -> Fragment {
    said("answer", kind, Authority::Assistant, Trust::External, text)
}

fn text(text: &str) -> Part {
    Part::Text(vec![by_model(Kind::AssistantText, text)])
}

/// `⟨3⟩` is three words, `\n` a new line.
fn spelled(text: &str) -> String {
    let mut out = String::new();
    let mut pieces = text.split('⟨');
    out.push_str(pieces.next().unwrap());
    for piece in pieces {
        let (count, rest) = piece.split_once('⟩').unwrap();
        out.push_str("word ".repeat(count.parse().unwrap()).trim_end());
        out.push_str(rest);
    }
    out.replace("\\n", "\n")
}

/// A line a part; long texts cut, what stands between our markers named by kind.
fn shown(messages: &[Message]) -> String {
    let mut out = String::new();
    for message in messages {
        let who = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        for part in &message.parts {
            let told = match part {
                Part::Text(fragments) => fragments
                    .iter()
                    .map(|one| brief(&one.text))
                    .collect::<Vec<_>>()
                    .join(" + "),
                Part::Reasoning { fragment, signature } => {
                    format!("thinking {} ({signature})", brief(&fragment.text))
                }
                Part::ToolCall { id, name, input } => format!("call {id} {name} {}", brief(&input.text)),
                Part::ToolResult {
                    id,
                    content,
                    is_error,
                } => {
                    format!(
                        "{} {id} {}",
                        if *is_error { "failed" } else { "result" },
                        brief(&content.text)
                    )
                }
                Part::Media { media, .. } => format!("shows {media}"),
            };
            writeln!(out, "{who}: {told}").unwrap();
        }
    }
    out
}

fn brief(text: &str) -> String {
    let line = text.replace('\n', " ¶ ");
    let line = line
        .replace("word word word word word word word word", "…")
        .replace("… … …", "…");
    let mut cut: String = line.chars().take(700).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    cut
}

/// Each ends with a line break.
fn lines(texts: impl Iterator<Item = String>) -> String {
    texts.fold(String::new(), |all, text| all + &text + "\n")
}

/// What an expectation is to say.
fn found(kind: &str, play: &Play) -> String {
    match kind {
        "next" => shown(&play.messages()),
        "told" => play.told.join("\n") + "\n",
        "wishes" => lines(
            wishes(&play.messages())
                .iter()
                .map(|(source, wish)| format!("{source}: {wish}")),
        ),
        "budget" => {
            let (system, budget) = (SystemPrompt::default(), Budget::new(200_000, 0));
            let report = BudgetReport::of(budget, &system, &[], &play.messages(), &Quarters);
            let rows = report.by_kind();
            lines(rows.iter().map(|(kind, tokens)| format!("{kind:?} {tokens}")))
        }
        other => panic!("no such expectation: {other}"),
    }
}

/// Nobody would refuse the next request.
fn is_taken(title: &str, play: &Play) {
    let messages = play.messages();
    let (system, params) = (SystemPrompt::default(), Params::new("m", 64));
    for provider in Provider::ALL {
        let request = Request {
            system: &system,
            tools: &[],
            messages: &messages,
            params: &params,
        };
        let body = serde_json::from_slice(&provider.encode(&request).unwrap().body).unwrap();
        assert_eq!(
            shape_problems(provider, &body),
            [],
            "{title}: {provider}: {body:#}"
        );
    }
}

/// Plays a suite; gives it as it should be.
fn play_suite(suite: &str) -> String {
    let mut out = String::new();
    let (mut title, mut play) = (String::new(), Play::default());
    let mut lines = suite.lines();
    while let Some(line) = lines.next() {
        out += line;
        out.push('\n');
        if let Some(next) = line.strip_prefix("## ") {
            next.clone_into(&mut title);
            play = Play::default();
        }
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match info.split_once(' ') {
            None => {
                for line in &block {
                    play.line(line);
                }
                play.answered();
                is_taken(&title, &play);
                out += &block.join("\n");
                out.push('\n');
            }
            Some((_, kind @ ("holds" | "reached"))) => {
                let text = if kind == "holds" {
                    play.texts()
                } else {
                    play.reached()
                };
                for line in &block {
                    match line.strip_prefix("- ") {
                        Some(gone) => assert!(!text.contains(gone), "{title}: {gone} is there: {text}"),
                        None => assert!(text.contains(line), "{title}: {line} is not there: {text}"),
                    }
                }
                out += &block.join("\n");
                out.push('\n');
            }
            Some((_, kind)) => out += &found(kind, &play),
        }
        out += "```\n";
    }
    out
}

#[test]
fn every_suite_gives_what_it_says() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/compaction");
    let writes = std::env::var_os("UPDATE_SCENARIOS").is_some();
    for name in SUITES {
        let path = folder.join(name);
        let suite = std::fs::read_to_string(&path).unwrap();
        let played = play_suite(&suite);
        if writes {
            std::fs::write(&path, played).unwrap();
        } else {
            assert!(
                played == suite,
                "{name}: {}",
                similar::TextDiff::from_lines(&suite, &played).unified_diff()
            );
        }
    }
    let known = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(known, SUITES.len() + 1, "a suite is not played");
}
