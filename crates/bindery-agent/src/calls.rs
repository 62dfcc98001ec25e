//! The calls of an answer, carried out at the same time, answered in their order.

use std::collections::BTreeSet;
use std::sync::Arc;

use bindery_core::log::{Decision, GateDecided, Payload, ToolCalled, ToolReturned};
use bindery_core::{Authority, Fragment, Kind, Message, Part, Role, Source, Trust, said};
use bindery_hooks::{Permission as Decided, Rule, permission};
use bindery_store::StoreError;
use bindery_wire::{Reply, ReplyPart};
use tokio::task::{Id, JoinError, JoinSet};

use crate::agent::Agent;
use crate::cancel::{Cancel, unless};
use crate::hooks::Call;
use crate::settle::{result, synthetic};
use crate::tool::{Effect, Input, Outcome, Permission, Request, Runner};

/// The name under which permissions stand in the log.
const GATE: &str = "permission";

/// A call that may run.
struct Ready {
    call: Arc<str>,
    tool: Arc<str>,
    runner: Arc<dyn Runner>,
    input: Input,
}

/// A call that runs.
struct Running {
    task: Id,
    call: Arc<str>,
    tool: Arc<str>,
    input: Input,
    /// What it does, in one line.
    what: String,
}

/// What a call is, before anything runs.
enum Sorted {
    Ready(Ready),
    /// It cannot run, and the model is told why.
    Refused {
        call: Arc<str>,
        tool: Arc<str>,
        why: String,
    },
}

impl Agent {
    /// Runs every call of an answer and gives each a result. `None` if somebody cancelled: then the calls
    /// that had no result yet have one that says so.
    pub(crate) async fn run_calls(
        &mut self,
        reply: &Reply,
        cancel: &Cancel,
    ) -> Result<Option<()>, StoreError> {
        let mut ready = Vec::new();
        for part in reply.tool_calls() {
            let Some(sorted) = self.sort(part) else { continue };
            match Box::pin(self.permitted(sorted, cancel)).await? {
                None => return self.cancel_calls().map(|()| None),
                Some(Sorted::Ready(call)) => ready.push(call),
                Some(Sorted::Refused { call, tool, why }) => {
                    let returned = synthetic(&call, &tool, self.state().next_seq(), 0, &why);
                    self.commit(vec![returned.into()])?;
                }
            }
        }
        let called = |call: &Ready| {
            let (call, tool) = (call.call.clone(), call.tool.clone());
            Payload::from(ToolCalled { call, tool })
        };
        self.commit(ready.iter().map(called).collect())?;
        self.run_all(ready, cancel).await
    }

    /// Runs calls at the same time, and writes each result down as it comes: a crash loses the least.
    async fn run_all(&mut self, ready: Vec<Ready>, cancel: &Cancel) -> Result<Option<()>, StoreError> {
        let mut running = JoinSet::new();
        let mut known: Vec<Running> = Vec::new();
        let began = self.clock.now_ms();
        for Ready {
            call,
            tool,
            runner,
            input,
        } in ready
        {
            let what = runner.describe(&input);
            let work = if runner.sends() {
                runner.send(input.clone(), self.as_parent(&call))
            } else {
                runner.run(input.clone())
            };
            let task = running.spawn(work).id();
            known.push(Running {
                task,
                call,
                tool,
                input,
                what,
            });
        }
        loop {
            let joined = tokio::select! {
                biased;
                // Dropping the set ends what still runs.
                () = cancel.cancelled() => return self.cancel_calls().map(|()| None),
                () = self.mailbox.arrival() => None,
                joined = running.join_next_with_id() => Some(joined),
            };
            match joined {
                None => self.collect()?,
                Some(None) => return Ok(Some(())),
                Some(Some(joined)) => Box::pin(self.returned(joined, &known, began, cancel)).await?,
            }
        }
    }

    /// Writes down what a call gave.
    async fn returned(
        &mut self,
        joined: Result<(Id, Outcome), JoinError>,
        known: &[Running],
        began: u64,
        cancel: &Cancel,
    ) -> Result<(), StoreError> {
        let (task, outcome) = outcome(joined);
        let Some(running) = known.iter().find(|running| running.task == task) else {
            return Ok(());
        };
        let Running {
            call,
            tool,
            input,
            what,
            ..
        } = running;
        let place = self.state().next_seq().get();
        let text = self.take_in(outcome.text.clone())?;
        let (mut text, scan) = self.admit(place, what, text);
        if let Some(footer) = &outcome.footer {
            text = format!("{text}\n\n{footer}");
        }
        let ended = outcome.children.iter().cloned().map(Payload::from);
        let mut payloads: Vec<Payload> = ended.collect();
        let returned = ToolReturned {
            call: call.clone(),
            content: result(place, tool, &text),
            is_error: outcome.is_error,
            synthetic: None,
            elapsed_ms: Some(self.clock.now_ms().saturating_sub(began)),
            touched: outcome
                .touched
                .iter()
                .map(|path| path.to_string_lossy().into())
                .collect(),
            scan,
        };
        payloads.push(returned.into());
        self.commit(payloads)?;
        self.shown(&outcome)?;
        self.change_states(&outcome.states)?;
        let call = Call {
            id: call,
            tool,
            input,
        };
        self.called(call, &outcome, cancel).await
    }

    /// What a tool shows waits in the inbox: it enters behind the results of all calls. What the provider would
    /// refuse does not enter, and the model is told why.
    fn shown(&mut self, outcome: &Outcome) -> Result<(), StoreError> {
        for media in &outcome.shows {
            let place = self.state().next_seq().get();
            let key = format!("message:{place}.0");
            let source = Source::Plugin {
                name: "tool:retrieve".into(),
            };
            let part = match self
                .model
                .provider()
                .refuses_media(media, self.state().messages())
            {
                None => Part::media(key, source, media.clone()),
                Some(why) => {
                    let text = format!("{media} cannot be shown: {why}.");
                    let fragment = said(key, Kind::Document, Authority::User, Trust::External, text);
                    Part::Text(vec![Fragment { source, ..fragment }])
                }
            };
            let message = Message {
                role: Role::User,
                parts: vec![part],
                is_meta: true,
            };
            self.inject(message)?;
        }
        Ok(())
    }

    /// A result as it may stand in the conversation: a large one as its digest, once all of it is kept.
    /// Where it cannot be kept it stands as it is, and the log says why.
    fn take_in(&mut self, text: String) -> Result<String, StoreError> {
        let Some(capacity) = &self.capacity else {
            return Ok(text);
        };
        match capacity.intake.text(&text) {
            Ok(None) => Ok(text),
            Ok(Some(digest)) => Ok(digest),
            Err(error) => {
                let _: crate::turn::Ended = self.fail("intake", "blobs", &error.to_string())?;
                Ok(text)
            }
        }
    }

    fn sort(&self, part: &ReplyPart) -> Option<Sorted> {
        let ReplyPart::ToolCall {
            id,
            name,
            input,
            problem,
        } = part
        else {
            return None;
        };
        let (call, tool): (Arc<str>, Arc<str>) = (id.as_str().into(), name.as_str().into());
        let refused = |why: String| {
            Some(Sorted::Refused {
                call: call.clone(),
                tool: tool.clone(),
                why,
            })
        };
        if let Some(problem) = problem {
            return refused(format!("the input {problem}; call again with a JSON object"));
        }
        let Some(runner) = self.toolbox.get(name) else {
            let known = self.toolbox.names().join(", ");
            return refused(format!("there is no tool `{name}`; there are: {known}"));
        };
        match serde_json::from_str(input) {
            Ok(input) => Some(Sorted::Ready(Ready {
                call,
                tool,
                runner,
                input,
            })),
            Err(error) => refused(format!("the input is no JSON object: {error}")),
        }
    }

    /// Asks gates and hooks about a call, then whoever gives permission, and writes the answers down. `None`
    /// if somebody cancelled.
    async fn permitted(&mut self, sorted: Sorted, cancel: &Cancel) -> Result<Option<Sorted>, StoreError> {
        let Sorted::Ready(mut ready) = sorted else {
            return Ok(Some(sorted));
        };
        let call = Call {
            id: &ready.call,
            tool: &ready.tool,
            input: &ready.input,
        };
        let checked = self.check_call(call, cancel).await?;
        if cancel.is_cancelled() {
            return Ok(None);
        }
        if let Some(rewrite) = checked.rewrite {
            ready.input = rewrite;
        }
        let acts = ready.runner.effect() == Effect::Acts;
        let mut request = Request {
            tool: ready.tool.clone(),
            what: ready.runner.describe(&ready.input),
            why: None,
        };
        let rule = if acts {
            self.permit.rule(&request)
        } else {
            Rule::None
        };
        let (id, tool) = (ready.call.clone(), ready.tool.clone());
        let refused = |why: String| Sorted::Refused { call: id, tool, why };
        let asks = match permission(rule, checked.rule) {
            Decided::Deny if checked.rule == Rule::Deny => return Ok(Some(refused(checked.why))),
            Decided::Deny | Decided::Default => acts,
            Decided::Allow => acts && rule == Rule::Allow,
            Decided::Ask => {
                request.why = Some(checked.why);
                true
            }
        };
        if !asks {
            return Ok(Some(Sorted::Ready(ready)));
        }
        if rule != Rule::Allow {
            Box::pin(self.notify("permission", &request.what, cancel)).await?;
        }
        let permit = self.permit.clone();
        let Some(permission) = unless(cancel, permit.decide(&request)).await else {
            return Ok(None);
        };
        let decision = match &permission {
            Permission::Granted => Decision::Allow,
            Permission::Refused(_) => Decision::Deny,
        };
        let decided = GateDecided {
            gate: GATE.into(),
            action: ready.tool.clone(),
            call: Some(ready.call.clone()),
            decision,
            missing: Vec::new(),
        };
        self.commit(vec![decided.into()])?;
        Ok(Some(match permission {
            Permission::Granted => Sorted::Ready(ready),
            Permission::Refused(why) => refused(why),
        }))
    }

    /// Gives every open call a result: the session goes on with a history that every provider accepts.
    fn cancel_calls(&mut self) -> Result<(), StoreError> {
        let next = self.state().next_seq();
        let open = self.state().pending_calls().iter().enumerate();
        let payloads = open.map(|(ahead, call)| {
            let why = if call.started {
                "it was cancelled while it ran: its effects may have happened"
            } else {
                "it was cancelled before it ran"
            };
            Payload::from(synthetic(&call.id, &call.tool, next, ahead, why))
        });
        let payloads = payloads.collect();
        self.commit(payloads).map(|_| ())
    }
}

/// What a task gave. A tool that panics has failed; the session has not.
fn outcome(joined: Result<(Id, Outcome), JoinError>) -> (Id, Outcome) {
    match joined {
        Ok(done) => done,
        Err(error) => {
            let text = "The tool failed in itself; this is a mistake in it. Try another way.";
            (error.id(), Outcome::failed(text))
        }
    }
}

/// The reply with call ids that differ from one another: some servers repeat or omit them, and results
/// could not be told apart.
pub(crate) fn with_distinct_ids(reply: &Reply) -> Reply {
    let mut reply = reply.clone();
    let mut seen = BTreeSet::new();
    for part in &mut reply.parts {
        let ReplyPart::ToolCall { id, .. } = part else {
            continue;
        };
        if id.is_empty() {
            "call".clone_into(id);
        }
        let first = id.clone();
        let mut number = 2_u64;
        while !seen.insert(id.clone()) {
            *id = format!("{first}-{number}");
            number += 1;
        }
    }
    reply
}
