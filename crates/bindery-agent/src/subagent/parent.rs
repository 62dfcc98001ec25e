//! What a call that sends a sub-agent may know of the session that sends it.

use std::sync::Arc;

use bindery_core::log::Seq;
use bindery_core::{AssembleOptions, RenderCache, Scope, Session};
use bindery_providers::Model;
use bindery_sources::gate::Gate;
use bindery_wire::Params;

use crate::agent::Agent;
use crate::backoff::Backoff;
use crate::clock::Clock;
use crate::hooks::Control;
use crate::tool::{Permit, Toolbox};

/// The session that sends.
#[derive(Clone)]
pub struct Parent {
    /// The call.
    pub call: Arc<str>,
    /// What is registered for it.
    pub scope: Scope,
    /// What its assemblies are asked with.
    pub options: AssembleOptions,
    /// How its requests are to be answered.
    pub params: Params,
    /// Who answers.
    pub model: Arc<dyn Model>,
    /// Its tools.
    pub toolbox: Toolbox,
    /// Who decides on calls that act.
    pub permit: Arc<dyn Permit>,
    /// Its hooks and gates.
    pub control: Option<Arc<Control>>,
    /// What texts pass on their way in.
    pub gate: Option<Arc<Gate>>,
    /// The states of gates that hold and are of the world, not of its conversation.
    pub states: Vec<Arc<str>>,
    /// The last event before the answer that calls: a fork goes on from there.
    pub before_the_call: Option<Seq>,
    pub(crate) renders: Arc<RenderCache>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) backoff: Backoff,
    pub(crate) most_steps: u64,
}

impl Parent {
    pub(crate) fn session(&self, scope: Scope) -> Session {
        Session::sharing(scope, self.renders.clone())
    }
}

impl Agent {
    /// This session, for a sub-agent that `call` sends.
    pub(crate) fn as_parent(&self, call: &Arc<str>) -> Parent {
        let asked = self
            .state()
            .pending_calls()
            .iter()
            .find(|pending| pending.id == *call);
        Parent {
            call: call.clone(),
            scope: self.session.scope().clone(),
            options: self.options.clone(),
            params: self.params.clone(),
            model: self.model.clone(),
            toolbox: self.toolbox.clone(),
            permit: self.permit.clone(),
            control: self.control.clone(),
            gate: self.gate.clone(),
            states: self.worldly_states(),
            before_the_call: asked.map(|pending| Seq::new(pending.asked.get().saturating_sub(1))),
            renders: self.session.renders().clone(),
            clock: self.clock.clone(),
            backoff: self.backoff,
            most_steps: self.most_steps,
        }
    }

    /// The states that hold and say something of the world: tests passed, a plan was approved. What was shown
    /// in this conversation was shown in no other.
    pub(crate) fn worldly_states(&self) -> Vec<Arc<str>> {
        let Some(control) = &self.control else {
            return Vec::new();
        };
        let is_shown = |set: &bindery_hooks::Setter| matches!(set, bindery_hooks::Setter::Retrieve { .. });
        let states = control.gates.states.iter();
        let holding = states.filter(|state| !is_shown(&state.set) && self.state().holds(&state.name));
        holding.map(|state| state.name.as_str().into()).collect()
    }
}
