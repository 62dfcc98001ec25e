//! One attempt: fresh header and history, the same assembly.

use std::sync::Arc;

use bindery_core::ContentHash;
use bindery_core::budget::BudgetReport;
use bindery_core::log::{AttemptStarted, Header, HeaderSet, Json, Opening, Payload, Seq};
use bindery_providers::{Exchange, Outgoing};
use bindery_store::StoreError;
use bindery_wire::{Failure, FailureKind, Interrupted, Reply, Request};

use crate::agent::Agent;
use crate::cancel::{Cancel, unless};
use crate::params;
use crate::step::StepParts;
use crate::turn::Ended;

/// What came of an attempt.
pub(crate) enum Sent {
    /// A whole answer.
    Answered(Reply),
    /// Somebody cancelled; what had come by then.
    Cancelled(Option<Interrupted>),
    /// A failure, and what had come before it.
    Broken(Interrupted),
}

/// An attempt that was written down.
pub(crate) struct Started {
    pub(crate) seq: Seq,
    pub(crate) body: ContentHash,
}

impl Agent {
    /// Writes the attempt down and sends it. The inner error is a request that cannot be made.
    pub(crate) async fn attempt(
        &mut self,
        number: u64,
        parts: &StepParts,
        cancel: &Cancel,
    ) -> Result<Result<(Sent, Started), Ended>, StoreError> {
        let header = self.header(parts);
        let state = self.journal.state();
        let (messages, extent) = (state.messages_with(&parts.reminders), state.surface().extent());
        if let Err(error) = self.bodies.write(&header, &messages, extent) {
            return self.fail("encode", "encode", &error.to_string()).map(Err);
        }
        self.measure(&header, &parts.reminders);
        let started = self.attempt_started(number, &header, parts)?;
        let messages = self.journal.state().messages_with(&parts.reminders);
        let request = Request {
            system: &header.system,
            tools: &header.tools,
            messages: &messages,
            params: &self.params,
        };
        let Some(encoded) = self.bodies.last() else {
            return self.fail("encode", "encode", "nothing was written").map(Err);
        };
        let outgoing = Outgoing { encoded, request };
        let sent = match unless(cancel, self.model.send(outgoing)).await {
            None => Sent::Cancelled(None),
            Some(Err(failure)) => Sent::Broken(nothing_came(failure)),
            Some(Ok(exchange)) => self.receive(exchange, cancel).await?,
        };
        Ok(Ok((sent, started)))
    }

    /// Reads a reply to its end, or until somebody cancels. What is said meanwhile goes into the inbox at
    /// once.
    async fn receive(&mut self, mut exchange: Exchange, cancel: &Cancel) -> Result<Sent, StoreError> {
        loop {
            let heard = tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(Sent::Cancelled(Some(so_far(exchange)))),
                () = self.mailbox.arrival() => None,
                event = exchange.next() => Some(event),
            };
            match heard {
                None => self.collect()?,
                Some(Some(event)) => self.watch.replying(&event),
                Some(None) => break,
            }
        }
        Ok(match exchange.finish() {
            Ok(reply) => Sent::Answered(reply),
            Err(interrupted) => Sent::Broken(interrupted),
        })
    }

    /// Counts a request that is about to be sent, so that its usage corrects the counter.
    fn measure(&mut self, header: &Header, reminders: &[bindery_core::Message]) {
        let messages = self.journal.state().messages_with(reminders);
        let now = self.clock.now_ms();
        if let Some(capacity) = &mut self.capacity {
            let (budget, counter) = (capacity.budget, capacity.counter.clone());
            let report = BudgetReport::of(budget, &header.system, &header.tools, &messages, &*counter);
            capacity.sent(report.used.value, now);
        }
    }

    /// What requests begin with now.
    fn header(&self, parts: &StepParts) -> Header {
        Header {
            provider: self.model.provider().name().into(),
            model: self.params.model.as_str().into(),
            params: params::to_json(&self.params),
            adapter_defaults: Json::default(),
            system: parts.system.clone(),
            tools: parts.tools.clone(),
        }
    }

    /// Writes down that this is about to be sent, with the header if that has to be written.
    fn attempt_started(
        &mut self,
        attempt: u64,
        header: &Header,
        parts: &StepParts,
    ) -> Result<Started, StoreError> {
        let reason = self.state().header_reason(header, self.opening);
        let set = |reason| {
            Payload::from(HeaderSet {
                reason,
                header: Arc::new(header.clone()),
            })
        };
        let mut payloads: Vec<Payload> = reason.map(set).into_iter().collect();
        let (body_hash, body_bytes) = self.bodies.fingerprint();
        let started = AttemptStarted {
            attempt,
            adapter: params::adapter(self.model.provider()),
            provider: header.provider.clone(),
            model: header.model.clone(),
            body_hash,
            body_bytes,
            reminders: parts.reminders.clone(),
        };
        let ahead = payloads.len();
        payloads.push(started.into());
        let first = self.commit(payloads)?;
        self.opening = Opening::Running;
        Ok(Started {
            seq: Seq::new(first.get().saturating_add(ahead as u64)),
            body: body_hash,
        })
    }
}

/// What had come when somebody cancelled, the last word included if it was there already.
fn so_far(exchange: Exchange) -> Interrupted {
    exchange.finish().map_or_else(
        |interrupted| interrupted,
        |reply| Interrupted {
            failure: Failure::new(FailureKind::Disconnected, "cancelled"),
            parts: reply.parts,
            usage: reply.usage,
        },
    )
}

fn nothing_came(failure: Failure) -> Interrupted {
    Interrupted {
        failure,
        parts: Vec::new(),
        usage: None,
    }
}
