//! A session that is being driven: its log, what assembles its requests, who answers them.

use std::sync::Arc;

use bindery_core::log::{Draft, Event, InboxEnqueued, Intake, Opening, Payload, Seq, SessionState};
use bindery_core::{AssembleOptions, Authority, Kind, Message, ProviderError, Role, Session, Trust, said};
use bindery_providers::Model;
use bindery_sources::Notice;
use bindery_sources::gate::Gate;
use bindery_store::{Journal, StoreError};
use bindery_wire::Params;

use crate::backoff::Backoff;
use crate::clock::{Clock, SystemClock};
use crate::hooks::{Control, Seams};
use crate::mail::Mailbox;
use crate::params::Bodies;
use crate::pre_step::PreStepListener;
use crate::subagent::SubRole;
use crate::tool::{Permit, ReadOnly, Toolbox};
use crate::watch::{Nobody, Watch};

/// The most steps of a turn, where nobody says otherwise: a model that calls tools for ever is stopped.
const MOST_STEPS: u64 = 200;

/// Reads the world again before a step, where that takes more than a provider's text: files may have
/// come, gone, or been touched.
pub trait Refresh: Send {
    /// Called before every assembly, with what tools touched in the session. It registers and removes as it
    /// needs, and gives back what there is to tell of it.
    fn refresh(&mut self, at: Moment<'_>) -> Result<Vec<Notice>, ProviderError>;

    /// Called after every assembly, with what the log folds to: what came up while providers ran.
    fn assembled(&mut self, session: &SessionState) -> Assembled {
        let _ = session;
        Assembled::default()
    }
}

/// What came up during an assembly.
#[derive(Debug, Clone, Default)]
pub struct Assembled {
    /// What there is to tell.
    pub notices: Vec<Notice>,
    /// What is to be written down.
    pub events: Vec<Payload>,
}

/// The moment of a refresh.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// The turn's number in the session.
    pub turn: u64,
    /// The step that would follow, from 1.
    pub step: u64,
    /// What was said since the last step; empty where only tools went on.
    pub said: &'a str,
    /// Everything that tools touched in the session, in order, without repetition: absolute paths.
    pub touched: &'a [Arc<str>],
}

/// Everything that drives a session. The fields are what a caller may change between turns.
pub struct Agent {
    pub(crate) journal: Journal,
    pub(crate) opening: Opening,
    pub(crate) mailbox: Mailbox,
    pub(crate) bodies: Bodies,
    pub(crate) seams: Seams,
    /// What assembles requests.
    pub session: Session,
    /// What every assembly is asked with.
    pub options: AssembleOptions,
    /// How requests are to be answered.
    pub params: Params,
    /// Who answers.
    pub model: Arc<dyn Model>,
    /// What the model may call.
    pub toolbox: Toolbox,
    /// Who decides on calls that act.
    pub permit: Arc<dyn Permit>,
    /// Who has a say before a step, outermost first.
    pub listeners: Vec<Arc<dyn PreStepListener>>,
    /// What is read again before a step, in this order.
    pub refreshers: Vec<Box<dyn Refresh>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// When failed requests are sent again.
    pub backoff: Backoff,
    /// The most steps of a turn.
    pub most_steps: u64,
    /// What results of tools pass on their way into the log. Without it they enter unscanned, and the log
    /// says so.
    pub gate: Option<Arc<Gate>>,
    /// What there is to tell after an assembly and after the result of a tool; whoever asks takes it.
    pub notices: Box<dyn Fn() -> Vec<Notice> + Send>,
    /// The hooks and gates of the session, if it has any.
    pub control: Option<Arc<Control>>,
    /// How it lives within a window; without it nothing is shortened.
    pub capacity: Option<crate::capacity::Capacity>,
    /// Who looks on.
    pub watch: Box<dyn Watch>,
    /// What it is to hooks, where another session sent it.
    pub role: Option<SubRole>,
}

impl Agent {
    /// An agent over an open log. A log that a crash left open is closed properly first. Everything that
    /// is not asked for here has a default: no tools beyond those of the scope, nothing that acts is
    /// allowed, nobody looks on.
    pub fn open(
        journal: Journal,
        session: Session,
        options: AssembleOptions,
        params: Params,
        model: Arc<dyn Model>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StoreError> {
        let mut agent = Self {
            journal,
            opening: Opening::JustResumed,
            mailbox: Mailbox::default(),
            bodies: Bodies::default(),
            seams: Seams::default(),
            session,
            options,
            params,
            model,
            toolbox: Toolbox::default(),
            permit: Arc::new(ReadOnly),
            listeners: Vec::new(),
            refreshers: Vec::new(),
            clock,
            backoff: Backoff::default(),
            most_steps: MOST_STEPS,
            gate: None,
            notices: Box::new(Vec::new),
            control: None,
            capacity: None,
            watch: Box::new(Nobody),
            role: None,
        };
        agent.settle()?;
        Ok(agent)
    }

    /// As [`Agent::open`], by this machine's clock.
    pub fn open_now(
        journal: Journal,
        session: Session,
        options: AssembleOptions,
        params: Params,
        model: Arc<dyn Model>,
    ) -> Result<Self, StoreError> {
        Self::open(journal, session, options, params, model, Arc::new(SystemClock))
    }

    /// Reads the world as the first step would, and registers what it finds. Nothing is written.
    pub fn look_around(&mut self) -> Result<Vec<Notice>, ProviderError> {
        let moment = Moment {
            turn: self.journal.state().turns().saturating_add(1),
            step: 1,
            said: "",
            touched: self.journal.state().touched(),
        };
        let mut notices = Vec::new();
        for refresher in &mut self.refreshers {
            notices.extend(refresher.refresh(moment)?);
        }
        Ok(notices)
    }

    /// What the log folds to.
    pub fn state(&self) -> &SessionState {
        self.journal.state()
    }

    /// The log.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Puts what a user says into the inbox, durably. An id that was delivered before is dropped, and
    /// `false` says so.
    pub fn say(&mut self, id: &str, text: &str, intake: Intake) -> Result<bool, StoreError> {
        let key = format!("message:{}.0", self.state().next_seq());
        let prompt = said(key, Kind::UserPrompt, Authority::User, Trust::User, text);
        self.enqueue(id, Message::text(Role::User, vec![prompt]), intake)
    }

    /// Puts a message into the inbox, durably. An id that was delivered before is dropped, and `false`
    /// says so.
    pub fn enqueue(&mut self, id: &str, message: Message, intake: Intake) -> Result<bool, StoreError> {
        if self.state().inbox().has_seen(id) {
            return Ok(false);
        }
        let id = id.into();
        let enqueued = InboxEnqueued { id, intake, message };
        self.commit(vec![enqueued.into()]).map(|_| true)
    }

    /// Writes events and shows them to whoever looks on. The place of the first.
    pub fn commit(&mut self, payloads: Vec<Payload>) -> Result<Seq, StoreError> {
        let at_ms = self.clock.now_ms();
        let first = self.state().next_seq();
        let places = std::iter::successors(Some(first), |seq| Some(seq.next()));
        let pairs = payloads.into_iter().zip(places);
        let events: Vec<Event> = pairs
            .map(|(payload, seq)| Event { seq, at_ms, payload })
            .collect();
        let draft = |event: &Event| Draft::new(at_ms, event.payload.clone());
        self.journal.commit(events.iter().map(draft).collect())?;
        self.watch.committed(&events);
        Ok(first)
    }
}
