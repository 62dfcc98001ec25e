//! What becomes of one exchange after another.

use std::collections::BTreeMap;
use std::sync::Arc;

use bindery_cache::{Exchange, Format, WireRequest};
use bindery_core::log::{ExchangeEnded, ExchangeOutcome, ExchangeStarted, UsageOrigin};
use bindery_wire::Failure;

use super::conversations::Conversations;
use super::explain::{self, Explaining};
use super::logs::{Logs, Ticket, session_id};
use super::reply::{self, Answer};
use super::secrets::Secrets;
use super::{Tables, coding};
use crate::copy::NoCopy;
use crate::observer::{Kept, Observer, Outcome, Problem, Summary};
use crate::operation::Operation;
use crate::watch::{Asked, Head, Over, Sent};

/// Statuses from here on are failures.
const FAILURES: u16 = 400;

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
        if let Some(operation) = over.asked.operation {
            if !over.sent {
                open.lost
                    .get_or_insert_with(|| "the request never came whole".to_owned());
            }
            let (answer, outcome) = self.answer(over, operation, &secrets, &mut summary);
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

    /// What the answer says, and how the exchange went.
    fn answer(
        &self,
        over: &Over,
        operation: Operation,
        secrets: &Secrets,
        summary: &mut Summary,
    ) -> (Answer, ExchangeOutcome) {
        let outcome = match &summary.outcome {
            Outcome::Answered => ExchangeOutcome::Answered,
            Outcome::ClientGone => ExchangeOutcome::ClientGone,
            Outcome::Stopped => ExchangeOutcome::Interrupted,
            Outcome::Failed(message) => ExchangeOutcome::Failed {
                code: summary.outcome.code().into(),
                message: message.clone(),
            },
        };
        let Some(head) = &over.head else {
            return (Answer::default(), outcome);
        };
        if over.reply.passed() == 0 && matches!(outcome, ExchangeOutcome::Failed { .. }) {
            return (Answer::default(), outcome);
        }
        let raw = match over.reply.bytes() {
            Ok(raw) => raw,
            Err(why) => {
                summary
                    .notes
                    .push(format!("the answer: {}", no_copy(why, over.reply.passed())));
                return (Answer::default(), outcome);
            }
        };
        let (body, error) = coding::decode(&head.headers, raw);
        // One that was not read to its end breaks off, whatever it was encoded as.
        if let Some(error) = error.filter(|_| outcome == ExchangeOutcome::Answered) {
            summary
                .notes
                .push(format!("the answer could not be read: {error}"));
        }
        if head.status.as_u16() >= FAILURES {
            let failure = refused(head, &body);
            return (Answer::default(), failed(&failure, secrets));
        }
        if operation == Operation::CountTokens {
            summary.counted = reply::counted(&body);
            return (Answer::default(), outcome);
        }
        let answer = reply::read(operation.format(), &head.headers, &body);
        let outcome = match &answer.failure {
            Some(failure) if outcome == ExchangeOutcome::Answered => failed(failure, secrets),
            _ => outcome,
        };
        if let ExchangeOutcome::Failed { message, .. } = &outcome {
            summary.notes.push(message.clone());
        }
        summary.usage = answer.usage;
        summary.origin = answer.usage.map(|_| match over.asked.simulated {
            true => UsageOrigin::Simulated,
            false => UsageOrigin::Provider,
        });
        (answer, outcome)
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

fn ended(
    over: &Over,
    answer: Answer,
    outcome: ExchangeOutcome,
    summary: &Summary,
) -> impl FnOnce(bindery_core::log::Seq) -> ExchangeEnded {
    let since = |at_ms: u64| at_ms.saturating_sub(over.asked.at_ms);
    let (began_ms, elapsed_ms) = (
        over.head.as_ref().map(|head| since(head.at_ms)),
        since(over.at_ms),
    );
    let request_id = over.head.as_ref().and_then(request_id);
    let (status, origin) = (summary.status, summary.origin);
    move |exchange| ExchangeEnded {
        exchange,
        outcome,
        status,
        began_ms,
        elapsed_ms: Some(elapsed_ms),
        response_id: answer.id.map(Into::into),
        request_id,
        usage: answer.usage,
        origin,
        reported: answer.reported,
        diagnosis: answer.diagnosis,
        response: None,
    }
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

fn no_copy(why: NoCopy, passed: u64) -> String {
    match why {
        NoCopy::TooLong => format!("its {passed} bytes are more than is kept"),
        NoCopy::NoRoom => "no room was left for a copy: too much was under way".to_owned(),
    }
}

fn refused(head: &Head, body: &[u8]) -> Failure {
    let headers: Vec<(&str, &str)> = head
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
        .collect();
    Failure::from_response(head.status.as_u16(), &headers, body)
}

fn failed(failure: &Failure, secrets: &Secrets) -> ExchangeOutcome {
    let code = serde_json::to_value(failure.kind).ok();
    ExchangeOutcome::Failed {
        code: code
            .as_ref()
            .and_then(|code| code.as_str())
            .unwrap_or("unknown")
            .into(),
        message: secrets.scrub(&failure.to_string()),
    }
}

fn request_id(head: &Head) -> Option<Arc<str>> {
    let named = ["request-id", "x-request-id"]
        .into_iter()
        .filter_map(|name| head.headers.get(name));
    named
        .filter_map(|value| value.to_str().ok())
        .next()
        .map(Into::into)
}
