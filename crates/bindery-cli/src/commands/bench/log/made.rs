//! Made-up sessions, always the same.

use std::sync::Arc;

use bindery::log::{
    Adapter, AssistantMessage, AttemptEnded, AttemptOutcome, AttemptStarted, Draft, Header, HeaderReason,
    HeaderSet, Json, Payload, Seq, SessionState, StepEnded, StepOutcome, StepStarted, StopReason, TurnEnded,
    TurnOutcome, TurnStarted, UsageOrigin, UsageReported, UserMessage,
};
use bindery::{
    AssembleOptions, ContentHash, Message, Provider, Scope, Session, SystemPrompt, Usage, fixture,
};
use bindery_agent::Bodies;
use serde_json::json;

/// Some hundred bytes, as a prompt or an answer has.
fn words(number: u64) -> String {
    // No white space at the end: an answer that ends so is mended, and its body written anew.
    let lines = "The quick brown fox \"jumps\" over it.\n".repeat(12);
    format!("{number} {}", lines.trim_end())
}

/// Prompts, one after another.
pub(super) fn prompts(count: u64) -> Vec<Draft> {
    let prompt = |number| Draft::new(number, said(number));
    (1..=count).map(prompt).collect()
}

fn said(number: u64) -> UserMessage {
    UserMessage {
        message: Message::user(format!("message:{number}.0"), words(number)),
        inbox: None,
    }
}

fn answered(number: u64, attempt: Option<Seq>) -> AssistantMessage {
    AssistantMessage {
        message: Message::assistant(format!("message:{number}.0"), words(number)),
        attempt,
        stop: StopReason::EndTurn,
    }
}

/// The events of one turn whose first stands at `first`.
pub(super) fn turn(number: u64, first: u64) -> Vec<Draft> {
    let turn = number + 1;
    let mut payloads: Vec<Payload> = vec![
        TurnStarted { turn }.into(),
        StepStarted { turn, step: 1 }.into(),
        said(first + 2).into(),
    ];
    if number == 0 {
        payloads.push(header_set(Provider::Anthropic).into());
    }
    let attempt = Seq::new(first + payloads.len() as u64);
    payloads.push(attempt_started(&header(Provider::Anthropic), (ContentHash::of(b""), 0)).into());
    payloads.extend(after(turn, attempt));
    let draft = |payload| Draft::new(first, payload);
    payloads.into_iter().map(draft).collect()
}

fn after(turn: u64, attempt: Seq) -> Vec<Payload> {
    let (outcome, request_id) = (AttemptOutcome::Answered, None);
    let usage = Usage {
        uncached: 100,
        read: 10_000,
        output: 50,
        ..Usage::default()
    };
    let origin = UsageOrigin::Simulated;
    let ended = AttemptEnded {
        attempt,
        outcome,
        request_id,
    };
    vec![
        ended.into(),
        UsageReported {
            attempt,
            usage,
            origin,
        }
        .into(),
        answered(attempt.get() + 3, Some(attempt)).into(),
        StepEnded {
            turn,
            step: 1,
            outcome: StepOutcome::Completed,
        }
        .into(),
        TurnEnded {
            turn,
            outcome: TurnOutcome::Completed,
            reason: None,
        }
        .into(),
    ]
}

fn header(provider: Provider) -> Header {
    let params = json!({"max_tokens": 1024, "stream": true, "cache_marks": 4, "one_hour": false});
    Header {
        provider: provider.name().into(),
        model: "model-1".into(),
        params: Json::new(&params),
        adapter_defaults: Json::default(),
        system: SystemPrompt::default(),
        tools: Vec::new(),
    }
}

fn header_set(provider: Provider) -> HeaderSet {
    HeaderSet {
        reason: HeaderReason::Initial,
        header: Arc::new(header(provider)),
    }
}

fn attempt_started(header: &Header, (body_hash, body_bytes): (ContentHash, u64)) -> AttemptStarted {
    AttemptStarted {
        attempt: 1,
        adapter: Adapter {
            name: header.provider.clone(),
            version: "bench".into(),
        },
        provider: header.provider.clone(),
        model: header.model.clone(),
        body_hash,
        body_bytes,
        reminders: Vec::new(),
    }
}

/// A session in memory that goes on and on.
pub(super) struct Talk {
    state: SessionState,
    header: Header,
    bodies: Bodies,
    said: u64,
}

impl Talk {
    /// Nothing is said yet. Requests begin with the system prompt and tools that `bench assemble` uses.
    pub(super) fn new(provider: Provider) -> anyhow::Result<Self> {
        let scope = Scope::global();
        let _kept = fixture::register(&scope)?;
        let mut session = Session::new(scope);
        let rendered = pollster::block_on(session.render(&AssembleOptions::default()))?;
        Ok(Self {
            state: SessionState::default(),
            header: Header {
                system: rendered.system,
                tools: rendered.assembly.tools,
                ..header(provider)
            },
            bodies: Bodies::default(),
            said: 0,
        })
    }

    fn follow(&mut self, payload: Payload) -> anyhow::Result<Draft> {
        let draft = Draft::new(self.said, payload);
        self.state.apply(&draft.clone().at(self.state.next_seq()))?;
        Ok(draft)
    }

    /// A whole turn with its request, as the loop writes it.
    pub(super) fn turn(&mut self, number: usize) -> anyhow::Result<Vec<Draft>> {
        let turn = number as u64 + 1;
        let mut drafts = Vec::new();
        let said = said(self.state.next_seq().get() + 2);
        let mut before: Vec<Payload> = vec![
            TurnStarted { turn }.into(),
            StepStarted { turn, step: 1 }.into(),
            said.into(),
        ];
        if number == 0 {
            let header = Arc::new(self.header.clone());
            let reason = HeaderReason::Initial;
            before.push(HeaderSet { reason, header }.into());
        }
        for payload in before {
            drafts.push(self.follow(payload)?);
        }
        let mut bodies = std::mem::take(&mut self.bodies);
        let fingerprint = self.rebuild(&mut bodies)?;
        self.bodies = bodies;
        let attempt = self.state.next_seq();
        drafts.push(self.follow(attempt_started(&self.header, fingerprint).into())?);
        for payload in after(turn, attempt) {
            drafts.push(self.follow(payload)?);
        }
        Ok(drafts)
    }

    /// Says so many messages, one side after the other.
    pub(super) fn grow(&mut self, messages: usize) -> anyhow::Result<()> {
        (0..messages).try_for_each(|_| self.say_one_more())
    }

    pub(super) fn say_one_more(&mut self) -> anyhow::Result<()> {
        let number = self.said;
        let payload = if number.is_multiple_of(2) {
            said(number).into()
        } else {
            answered(number, None).into()
        };
        self.said += 1;
        self.follow(payload).map(|_| ())
    }

    /// The next request's body, known by its hash and length.
    pub(super) fn rebuild(&self, bodies: &mut Bodies) -> anyhow::Result<(ContentHash, u64)> {
        bodies.write(&self.header, self.state.messages(), self.state.surface().extent())?;
        Ok(bodies.fingerprint())
    }
}
