//! Where the tokens of a session are: by file, section, tool, hook, and what was said.
//!
//! Every fragment of every request that went out is counted, once for each request that carried it. Text
//! alone is counted: what a provider's format adds around it is in no row, so the sum is below what
//! providers report.

use std::collections::BTreeMap;
use std::sync::Arc;

use bindery_core::log::{AttemptStarted, Event, FoldError, Header, Payload, Seq, SessionState};
use bindery_core::{ContentHash, CountTokens, Fragment, Kind, Message, Part, Source, Text, TokenCount, Tool};
use bindery_store::{LogReader, events};

use crate::replay::ReplayError;

/// The tokens of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterRow {
    /// The source: `instructions:AGENTS.md`, `section:identity`, `tool:read`, `result:read`, `prompts`, …
    pub name: Arc<str>,
    /// What it is.
    pub kind: Kind,
    /// Its tokens in the newest request.
    pub newest: TokenCount,
    /// Its tokens in all requests together.
    pub sent: TokenCount,
    /// How many requests carried it.
    pub requests: u64,
}

/// A session, metered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metered {
    /// How many requests went out.
    pub requests: u64,
    /// A row for each source, in the order in which they first went out.
    pub rows: Vec<MeterRow>,
}

impl Metered {
    /// The text of the newest request.
    pub fn newest(&self) -> TokenCount {
        self.rows.iter().map(|row| row.newest).sum()
    }

    /// The text of all requests together.
    pub fn sent(&self) -> TokenCount {
        self.rows.iter().map(|row| row.sent).sum()
    }
}

/// Meters every request of a log.
pub fn meter(log: &dyn LogReader, counter: &dyn CountTokens) -> Result<Metered, ReplayError> {
    let mut meter = Meter::new(counter);
    for event in events(log, Seq::FIRST) {
        meter.follow(&event?)?;
    }
    Ok(meter.metered)
}

/// Tokens by the index of a row.
type Counts = BTreeMap<usize, TokenCount>;

/// Follows a log; what a request costs here is its rows, whatever the length of its history.
struct Meter<'c> {
    counter: &'c dyn CountTokens,
    known: BTreeMap<ContentHash, TokenCount>,
    state: SessionState,
    header: Counts,
    surface: Counts,
    places: BTreeMap<Arc<str>, usize>,
    metered: Metered,
}

impl<'c> Meter<'c> {
    fn new(counter: &'c dyn CountTokens) -> Self {
        Self {
            counter,
            known: BTreeMap::new(),
            state: SessionState::default(),
            header: Counts::new(),
            surface: Counts::new(),
            places: BTreeMap::new(),
            metered: Metered::default(),
        }
    }

    fn follow(&mut self, event: &Event) -> Result<(), FoldError> {
        self.state.apply(event)?;
        let mut counts = std::mem::take(&mut self.surface);
        match &event.payload {
            Payload::HeaderSet(set) => self.header = self.of_header(&set.header),
            Payload::AttemptStarted(started) => self.charge(started, &counts),
            Payload::UserMessage(said) => self.add_message(&mut counts, &said.message),
            Payload::AssistantMessage(said) => self.add_message(&mut counts, &said.message),
            Payload::SnapshotEntered(entered) => {
                for fragment in &entered.fragments {
                    self.add_fragment(&mut counts, fragment);
                }
            }
            Payload::ToolReturned(returned) => self.add_fragment(&mut counts, &returned.content),
            Payload::SurfaceReplaced(_) => {
                counts = Counts::new();
                for message in self.state.messages().to_vec() {
                    self.add_message(&mut counts, &message);
                }
            }
            _ => {}
        }
        self.surface = counts;
        Ok(())
    }

    fn charge(&mut self, started: &AttemptStarted, surface: &Counts) {
        let mut carried = self.header.clone();
        for (row, tokens) in surface {
            *carried.entry(*row).or_default() += *tokens;
        }
        for message in &started.reminders {
            self.add_message(&mut carried, message);
        }
        self.metered.requests += 1;
        for (at, row) in self.metered.rows.iter_mut().enumerate() {
            row.newest = carried.get(&at).copied().unwrap_or_default();
            if carried.contains_key(&at) {
                row.sent += row.newest;
                row.requests += 1;
            }
        }
    }

    fn of_header(&mut self, header: &Header) -> Counts {
        let mut counts = Counts::new();
        for tool in &header.tools {
            let tokens = self.tokens(&schema(tool));
            self.add(
                &mut counts,
                &format!("tool:{}", tool.name()),
                Kind::ToolSchema,
                tokens,
            );
        }
        for fragment in header.system.fragments().iter().chain(header.system.tail()) {
            self.add_fragment(&mut counts, fragment);
        }
        counts
    }

    fn add_message(&mut self, counts: &mut Counts, message: &Message) {
        for part in &message.parts {
            match part {
                Part::ToolCall { name, input, .. } => {
                    let tokens = self.tokens(&input.text);
                    self.add(counts, &format!("call:{name}"), input.kind, tokens);
                }
                Part::Text(fragments) => {
                    for fragment in fragments {
                        self.add_fragment(counts, fragment);
                    }
                }
                Part::Reasoning { fragment, .. } => self.add_fragment(counts, fragment),
                Part::ToolResult { content, .. } => self.add_fragment(counts, content),
                Part::Media { fragment, media } => {
                    self.add(counts, &name(fragment), fragment.kind, media.tokens());
                }
            }
        }
    }

    fn add_fragment(&mut self, counts: &mut Counts, fragment: &Fragment) {
        let tokens = self.tokens(&fragment.text);
        self.add(counts, &name(fragment), fragment.kind, tokens);
    }

    fn add(&mut self, counts: &mut Counts, name: &str, kind: Kind, tokens: TokenCount) {
        let row = self.row(name, kind);
        *counts.entry(row).or_default() += tokens;
    }

    /// The row of this name, which may be new.
    fn row(&mut self, name: &str, kind: Kind) -> usize {
        if let Some(row) = self.places.get(name) {
            return *row;
        }
        let (row, name) = (self.metered.rows.len(), Arc::<str>::from(name));
        self.places.insert(name.clone(), row);
        self.metered.rows.push(MeterRow {
            name,
            kind,
            newest: TokenCount::ZERO,
            sent: TokenCount::ZERO,
            requests: 0,
        });
        row
    }

    fn tokens(&mut self, text: &Text) -> TokenCount {
        let count = || self.counter.count(text);
        *self.known.entry(text.hash()).or_insert_with(count)
    }
}

/// What a fragment's row is called.
fn name(fragment: &Fragment) -> String {
    let source = match &fragment.source {
        Source::File { path, .. } => path.to_string(),
        Source::Builtin { name } | Source::Setting { name } | Source::Plugin { name } => name.to_string(),
    };
    match fragment.kind {
        Kind::UserPrompt => "prompts".to_owned(),
        Kind::AssistantText => "answers".to_owned(),
        Kind::Reasoning => "reasoning".to_owned(),
        Kind::ToolResult => format!("result:{source}"),
        Kind::Instructions | Kind::InstructionsWithdrawn => format!("instructions:{source}"),
        Kind::HookContext => format!("hook:{source}"),
        Kind::Section => format!("section:{}", fragment.key),
        // Opening and closing line of the snapshot are one source.
        _ => fragment.key.trim_end_matches(".end").to_owned(),
    }
}

/// What the model reads of a tool.
fn schema(tool: &Tool) -> Text {
    format!(
        "{}\n{}\n{}",
        tool.name(),
        tool.description(),
        tool.parameters().get()
    )
    .into()
}

#[cfg(test)]
mod tests {
    use bindery_core::log::examples;
    use bindery_store::{Journal, MemoryStore};

    use super::*;

    struct Words;

    impl CountTokens for Words {
        fn count(&self, text: &str) -> TokenCount {
            TokenCount::exact(text.split_whitespace().count() as u64)
        }

        fn name(&self) -> &'static str {
            "words"
        }
    }

    /// The example session with a second request, before which its tool result had become a reference.
    #[test]
    fn each_source_is_counted_once_a_request() {
        let store = MemoryStore::default();
        let mut journal = Journal::create(&store, &"s".parse().unwrap(), 0, "a test").unwrap();
        let drafts = examples();
        let again =
            |wanted: fn(&Payload) -> bool| drafts.iter().find(|draft| wanted(&draft.payload)).cloned();
        let second = AttemptStarted {
            attempt: 2,
            ..match again(|payload| matches!(payload, Payload::AttemptStarted(_)))
                .unwrap()
                .payload
            {
                Payload::AttemptStarted(started) => started,
                _ => unreachable!(),
            }
        };
        let ended = drafts
            .iter()
            .position(|draft| matches!(draft.payload, Payload::StepEnded(_)))
            .unwrap();
        journal.commit(drafts[..ended].to_vec()).unwrap();
        journal
            .commit(vec![bindery_core::log::Draft::new(0, second)])
            .unwrap();
        let metered = meter(journal.log(), &Words).unwrap();
        let lines = metered.rows.iter().map(|row| {
            format!(
                "{}: {} now, {} in {}",
                row.name, row.newest, row.sent, row.requests
            )
        });
        insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
        assert_eq!((metered.requests, metered.newest().exact), (2, true));
    }
}
