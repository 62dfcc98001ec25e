//! What becomes of one exchange after another.

use std::collections::BTreeMap;
use std::sync::Arc;

use bindery_cache::{Exchange, Format, WireRequest};
use bindery_core::log::{ExchangeOutcome, ExchangeStarted};

use super::conversations::Conversations;
use super::ending::{answer, ended, no_copy};
use super::explain::{self, Explaining};
use super::logs::{Logs, Ticket, session_id};
use super::reply::Answer;
use super::secrets::Secrets;
use super::{Tables, coding};
use crate::observer::{Kept, Observer, Outcome, Problem, Summary};
use crate::operation::Operation;
use crate::watch::{Asked, Over, Sent};

pub(super) struct Desk<'t> {
    tables: &'t Tables,
    logs: Option<Logs>,
    explaining: Explaining<'t>,
    conversations: Conversations,
    run: String,
    open: BTreeMap<u64, Open>,
    done: Vec<(Summary, Option<Ticket>)>,
    failing: bool,
    lost: u64,
    problems: Vec<String>,
}

/// An exchange whose request is known.
#[derive(Default)]
struct Open {
    request: Option<Arc<WireRequest>>,
    session: Option<Arc<str>>,
    conversation: Option<u64>,
    /// A key of the request stood in its body, and was taken out.
    has_secret: bool,
    ticket: Option<Ticket>,
    /// Why it is not in the log.
    lost: Option<String>,
    notes: Vec<String>,
}

impl<'t> Desk<'t> {
    pub(super) fn new(tables: &'t Tables, logs: Option<Logs>, run: String) -> Self {
        Self {
            tables,
            logs,
            explaining: Explaining::new(tables),
            conversations: Conversations::default(),
            run,
            open: BTreeMap::new(),
            done: Vec::new(),
            failing: false,
            lost: 0,
            problems: Vec::new(),
        }
    }

    /// A request went out whole.
    pub(super) fn sent(&mut self, sent: &Sent) {
        let Some(operation) = sent.asked.operation else {
            return;
        };
        let open = match sent.body.bytes() {
            Ok(body) => self.read(&sent.asked, operation, body),
            Err(why) => Open {
                lost: Some(no_copy(why, sent.body.passed())),
                ..Open::default()
            },
        };
        self.open.insert(sent.asked.number, open);
    }

    fn read(&mut self, asked: &Asked, operation: Operation, body: &[u8]) -> Open {
        let secrets = Secrets::of(&asked.headers, &asked.path);
        let mut open = Open::default();
        let (plain, error) = coding::decode(&asked.headers, body);
        if let Some(error) = error {
            open.lost = Some(format!("the request could not be read: {error}"));
            return open;
        }
        let clean = secrets.without(&plain);
        open.has_secret = clean.is_some();
        let body = clean.unwrap_or(plain);
        match self.tables.reader.read(operation.format(), &body) {
            Ok(request) => open.request = Some(Arc::new(request)),
            Err(error) => open.notes.push(error.to_string()),
        }
        let belongs = self.belongs(asked, open.request.as_ref());
        open.session.clone_from(&belongs.session);
        open.conversation = belongs.conversation;
        self.log(asked, operation, &body, &belongs, &mut open);
        open
    }

    /// The session or, where nothing names one, the conversation.
    fn belongs(&mut self, asked: &Asked, request: Option<&Arc<WireRequest>>) -> Belongs {
        let client: Option<Arc<str>> = self.tables.agents.client(&asked.headers).map(Into::into);
        let named = self.tables.agents.session(&asked.headers);
        let session: Option<Arc<str>> = named
            .or_else(|| request.and_then(|request| request.session()))
            .map(Into::into);
        let conversation = match (&session, request) {
            (None, Some(request)) => Some(self.conversations.number(client.as_ref(), request)),
            _ => None,
        };
        Belongs {
            client,
            session,
            conversation,
        }
    }

    fn log(&mut self, asked: &Asked, operation: Operation, body: &[u8], belongs: &Belongs, open: &mut Open) {
        let Some(logs) = &mut self.logs else { return };
        let client = belongs.client.as_deref().unwrap_or("unknown");
        let session = belongs.session.as_deref().unwrap_or(&self.run);
        let Some(id) = session_id(client, session) else {
            open.lost = Some("its session has a name that no log can have".to_owned());
            return;
        };
        let request = open.request.as_ref();
        let started = |content| ExchangeStarted {
            client: belongs.client.clone(),
            agent: belongs.conversation.map(|number| number.to_string().into()),
            format: format(operation, asked, request).name().into(),
            route: asked.route.clone(),
            path: Secrets::of(&asked.headers, &asked.path).path(&asked.path).into(),
            model: request.and_then(|request| model(request)),
            headers: self
                .tables
                .agents
                .kept(&asked.headers)
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            body: content,
            unknown: open
                .has_secret
                .then(|| "a key that stood in it".into())
                .into_iter()
                .collect(),
        };
        match logs.start(&id, asked.at_ms, body, started) {
            Ok(ticket) => open.ticket = Some(ticket),
            Err(error) => {
                open.lost = Some(error.to_string());
                self.problems.push(error.to_string());
            }
        }
    }

    /// An exchange is over.
    pub(super) fn over(&mut self, over: &Over) {
        let mut open = self.open.remove(&over.asked.number).unwrap_or_default();
        let secrets = Secrets::of(&over.asked.headers, &over.asked.path);
        let mut summary = self.summary(over, &secrets, &open);
        let refused = matches!(over.outcome, Outcome::Refused(_));
        if let Some(operation) = over.asked.operation.filter(|_| !refused) {
            if !over.sent {
                open.lost
                    .get_or_insert_with(|| "the request never came whole".to_owned());
            }
            let (answer, outcome) = answer(over, operation, &secrets, &mut summary);
            if let (Some(request), Operation::Generate(_)) = (open.request.take(), operation)
                && !matches!(outcome, ExchangeOutcome::Failed { .. })
            {
                self.explain(over, &request, &answer, &open, &mut summary);
            }
            if let (Some(ticket), Some(logs)) = (&open.ticket, &mut self.logs) {
                let ended = ended(over, answer, outcome, &summary);
                if let Err(error) = logs.end(ticket, over.at_ms, ended) {
                    open.lost = Some(error.to_string());
                    self.problems.push(error.to_string());
                }
            }
        }
        summary.notes.append(&mut open.notes);
        summary.kept = match (over.asked.operation, open.lost) {
            _ if refused => Kept::NotAsked,
            (None, _) => Kept::PassedThrough,
            (_, Some(why)) => Kept::Lost(why),
            _ => Kept::NotAsked,
        };
        self.done.push((summary, open.ticket));
    }

    fn summary(&self, over: &Over, secrets: &Secrets, open: &Open) -> Summary {
        let asked = &*over.asked;
        Summary {
            number: asked.number,
            at_ms: asked.at_ms,
            elapsed_ms: over.at_ms.saturating_sub(asked.at_ms),
            client: self.tables.agents.client(&asked.headers).map(Into::into),
            session: open.session.clone(),
            conversation: open.conversation,
            method: asked.method.clone(),
            path: secrets.path(&asked.path),
            model: open.request.as_deref().and_then(model),
            status: over.head.as_ref().map(|head| head.status.as_u16()),
            outcome: match &over.outcome {
                Outcome::Failed(message) => Outcome::Failed(secrets.scrub(message)),
                other => other.clone(),
            },
            usage: None,
            origin: None,
            counted: None,
            why: None,
            kept: Kept::NotAsked,
            notes: Vec::new(),
        }
    }

    fn explain(
        &mut self,
        over: &Over,
        request: &Arc<WireRequest>,
        answer: &Answer,
        open: &Open,
        summary: &mut Summary,
    ) {
        if request.body().len() > explain::LONGEST {
            summary.notes.push("too long to be explained".to_owned());
            return;
        }
        let began_ms = over.head.as_ref().map(|head| head.at_ms);
        let exchange = Exchange {
            request: self.explaining.measure(request),
            at_ms: over.asked.at_ms,
            began_ms,
            route: over.asked.route.clone(),
            session: open.session.clone(),
            usage: answer.usage,
            response_id: answer.id.as_deref().map(Into::into),
            diagnosis: answer.explained(),
        };
        match self.explaining.why(exchange) {
            Ok(why) => summary.why = Some(why),
            Err(error) => summary.notes.push(error.to_string()),
        }
    }

    /// Writes what waits, and tells what happened.
    pub(super) fn settle(&mut self, observer: &mut dyn Observer) {
        if let Some(logs) = &mut self.logs {
            let errors = logs.settle();
            self.problems.extend(errors.iter().map(ToString::to_string));
        }
        let mut written = false;
        for (mut summary, ticket) in self.done.drain(..) {
            if let Some(ticket) = ticket.filter(|_| summary.kept == Kept::NotAsked) {
                summary.kept = if ticket.is_written() {
                    written = true;
                    Kept::Logged(ticket.id)
                } else {
                    Kept::Lost("the log could not be written".to_owned())
                };
            }
            self.lost += u64::from(self.logs.is_some() && matches!(summary.kept, Kept::Lost(_)));
            observer.seen(&summary);
        }
        self.tell(written, observer);
    }

    /// A broken log is told once, and its end.
    fn tell(&mut self, written: bool, observer: &mut dyn Observer) {
        let problem = self.problems.drain(..).next_back();
        match problem {
            Some(cause) if !self.failing => {
                self.failing = true;
                observer.problem(&Problem::Log { cause });
            }
            None if self.failing && written => {
                self.failing = false;
                observer.problem(&Problem::LogAgain {
                    lost: std::mem::take(&mut self.lost),
                });
            }
            _ => {}
        }
    }
}

/// Whose exchange it is.
struct Belongs {
    client: Option<Arc<str>>,
    session: Option<Arc<str>>,
    conversation: Option<u64>,
}

fn model(request: &WireRequest) -> Option<Arc<str>> {
    Some(request.settings().model())
        .filter(|model| !model.is_empty())
        .map(Into::into)
}

/// DeepSeek speaks the Chat protocol and bills in its own way: the route or the model tells.
fn format(operation: Operation, asked: &Asked, request: Option<&Arc<WireRequest>>) -> Format {
    let format = operation.format();
    let is_deepseek = || {
        asked.route.contains("deepseek")
            || request.is_some_and(|request| request.settings().model().contains("deepseek"))
    };
    if format == Format::OpenaiChat && is_deepseek() {
        Format::Deepseek
    } else {
        format
    }
}
